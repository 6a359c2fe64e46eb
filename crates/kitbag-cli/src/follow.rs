//! Files that change while Kitbag serves: every handle reads its own again, for as long as it is served.

use kitbag::{CancellationToken, Fault, Kitbag, Severity};
use tokio_util::task::TaskTracker;

use crate::context::Context;
use crate::{json, report};

/// The files of all handles, followed until the end.
#[derive(Clone)]
pub(crate) struct Followers {
    told: Told,
    tasks: TaskTracker,
    stop: CancellationToken,
}

/// How what is wrong is told: as at the start of the command.
#[derive(Clone, Copy)]
struct Told {
    least: Severity,
    is_json: bool,
}

impl Followers {
    pub(crate) fn new(context: &Context) -> Self {
        let least = if context.global.quiet { Severity::Error } else { Severity::Warning };
        let told = Told { least, is_json: context.global.json };
        Self { told, tasks: TaskTracker::new(), stop: CancellationToken::new() }
    }

    /// Follows the files of one more handle.
    pub(crate) fn add(&self, kit: &Kitbag) {
        let (kit, told, stop) = (kit.clone(), self.told, self.stop.clone());
        self.tasks.spawn(async move {
            let following = kit.follow_files(|faults| faults.iter().for_each(|fault| told.tell(fault)));
            stop.run_until_cancelled(following).await;
        });
    }

    /// Follows nothing any more.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Told {
    fn tell(self, fault: &Fault) {
        if fault.severity < self.least {
            return;
        }
        if self.is_json {
            anstream::eprintln!("{}", json::line(&json::fault(fault)));
        } else {
            anstream::eprint!("{}", report::fault(fault));
        }
    }
}
