//! First starts that download: a clock of their own, and one process that is waited for instead of two.

use std::time::Duration;

use kitbag_core::model::{ResolvedSpec, ResolvedTarget, Timeout, may_download};
use kitbag_core::{Limits, Secret};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::super::era::{self, Handshake, OpeningError};
use super::{Opener, Started, until};
use crate::guard;

/// Between two looks at whether an earlier command's download is done.
const PAUSE: Duration = Duration::from_millis(50);

/// Whether a start may have to fetch its program first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Download {
    /// It is no launcher that does so.
    No,
    /// It was connected before, so it has what it needs; if not, it says so on stderr.
    Unlikely,
    /// Its first start with these values.
    Likely,
}

impl Download {
    /// How long it may take until it is connected. A time in its own file binds whatever it does.
    pub(super) fn clock(self, own: Timeout, limits: &Limits) -> Timeout {
        let is_own = own.set_by == "connect_timeout";
        if self == Self::No || is_own || limits.wait_download <= own.time {
            return own;
        }
        Timeout { time: limits.wait_download, set_by: "wait_download" }
    }
}

impl Opener<'_> {
    /// Whether this start may have to fetch its program first.
    pub(super) fn download(&self, resolved: &ResolvedSpec) -> Download {
        let ResolvedTarget::Stdio { command, args, .. } = &resolved.link else { return Download::No };
        if !may_download(command, args.iter().map(Secret::expose)) {
            return Download::No;
        }
        let is_known = self.context.memory.get(&self.memory_key()).is_some();
        if is_known { Download::Unlikely } else { Download::Likely }
    }

    /// Waits until a program that was connected before has said nothing on stderr for as long as a start may take.
    pub(super) async fn silence(&self, most: Duration) {
        let began = Instant::now();
        loop {
            let heard = self.tries.tail().and_then(|tail| tail.heard()).unwrap_or(began).max(began);
            let end = heard + most;
            if end <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }

    /// Waits for a download of the same that an earlier command left behind: two at once would do the work twice.
    pub(super) async fn after_earlier_download(&self) {
        let (name, key) = (self.plan.spec.name.as_str(), self.memory_key());
        let goes_on = || guard::lingering().iter().any(|download| download.is_of(name, &key));
        while goes_on() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Asks the modern way, and the other way too once that takes long, of one and the same process: what is asked
    /// waits in its input until it has been fetched.
    pub(super) async fn patient_probe(
        &self,
        started: &Started,
        deadline: Instant,
    ) -> Result<Handshake, OpeningError> {
        let (greeting, go_on) = (self.greeting(), Notify::new());
        let mut modern = std::pin::pin!(era::discover(&started.peer, &greeting, until(deadline)));
        let mut older = std::pin::pin!(async {
            tokio::select! {
                () = tokio::time::sleep(self.probe_budget()) => {}
                () = go_on.notified() => {}
            }
            era::initialize(&started.peer, &greeting, until(deadline)).await
        });
        tokio::select! {
            biased;
            found = &mut modern => match found {
                Err(OpeningError::OtherEra | OpeningError::Unwell) => {
                    go_on.notify_one();
                    older.await.map_err(neither)
                }
                found => found,
            },
            found = &mut older => match found {
                Ok(greeting) => Ok(greeting),
                Err(_) => modern.await,
            },
        }
    }

    /// How long a probe may take before it is taken for unanswered.
    pub(super) fn probe_budget(&self) -> Duration {
        self.plan.limits.probe.min(self.plan.clocks.connect.time / 2)
    }

    /// How long a download may go on once the command that began it has ended.
    pub(super) fn linger(&self, resolved: &ResolvedSpec) -> Duration {
        match self.download(resolved) {
            Download::Likely => self.plan.limits.start_linger,
            Download::No | Download::Unlikely => Duration::ZERO,
        }
    }
}

/// Both ways were tried: nobody need try again.
fn neither(error: OpeningError) -> OpeningError {
    match error {
        OpeningError::OtherEra | OpeningError::Unwell => OpeningError::Refused(era::speaks_neither()),
        error => error,
    }
}
