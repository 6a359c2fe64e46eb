//! Writing down the names that were given: once they stay, and again when others were given since, so that a program
//! that is killed does not give them anew.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kitbag_core::ServerName;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::held::{Kept, NamesFiles};
use crate::roster::{Now, Roster};

/// Keeps the names of one handle.
pub(super) struct NamesKeeper {
    roster: Arc<Roster>,
    tasks: TaskTracker,
    /// Servers that are or once were the user's own. What they have is not for everybody to read, also when they are
    /// gone or another stands under their name.
    own: Mutex<BTreeSet<ServerName>>,
}

impl NamesKeeper {
    /// Writes names down whenever that is needed, until told to stop.
    pub(super) fn start(
        roster: &Arc<Roster>,
        own: BTreeSet<ServerName>,
        tasks: &TaskTracker,
        stop: CancellationToken,
    ) -> Arc<Self> {
        let (roster, tasks, own) = (roster.clone(), tasks.clone(), Mutex::new(own));
        let keeper = Arc::new(Self { roster, tasks, own });
        let own = keeper.clone();
        keeper.tasks.spawn(async move {
            loop {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = own.roster.names_given() => {}
                }
                if let Some(saving) = own.save() {
                    let _ = saving.await;
                }
            }
        });
        keeper
    }

    /// These are the user's own from now on.
    pub(super) fn add_own(&self, servers: impl Iterator<Item = ServerName>) {
        self.own().extend(servers);
    }

    /// Writes the names of this moment down, if they stay. Disks may be slow and another process may hold the lock,
    /// so nobody has to wait for it.
    pub(super) fn save(self: &Arc<Self>) -> Option<JoinHandle<()>> {
        let now = self.roster.settled()?;
        let keeper = self.clone();
        Some(self.tasks.spawn_blocking(move || keeper.write(&now)))
    }

    fn write(&self, now: &Now) {
        let world = &now.world;
        let Some(files) = NamesFiles::of(&world.setup) else { return };
        let own = self.own().clone();
        files.save(now.snapshot.names(), &world.limits, |server| {
            if !world.servers.contains_key(server) {
                Kept::Nowhere
            } else if own.contains(server) {
                Kept::Own
            } else {
                Kept::Shared
            }
        });
    }

    fn own(&self) -> MutexGuard<'_, BTreeSet<ServerName>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
