//! When tools are listed again. A server that tells of changes is not asked; one that says how long its list holds is
//! asked then, but ever more rarely while nothing changes; any other one is asked slowly.

use std::time::Duration;

use kitbag_core::Limits;
use tokio::time::Instant;

use super::super::news::Telling;
use super::super::open::Session;
use super::super::waits::late;
use super::Inner;

#[cfg(test)]
mod tests;

/// How a list compares with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Same,
    Other,
}

/// How soon a list is asked for again, however short its server says that it holds.
pub(super) struct Pace {
    floor: Duration,
}

impl Pace {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { floor: limits.refresh }
    }

    /// A list came: the wait grows while it is the same, and begins anew when it is not.
    pub(super) fn listed(&mut self, compared: Compared, limits: &Limits) {
        self.floor = match compared {
            Compared::Same => (self.floor * 2).min(limits.poll).max(limits.refresh),
            Compared::Other => limits.refresh,
        };
    }

    /// How long to wait before a list that holds this long is asked for again.
    fn wait(&self, ttl: Option<Duration>, limits: &Limits) -> Duration {
        late(ttl.map_or(limits.poll, |ttl| ttl.max(self.floor)))
    }
}

/// Waits until the list is to be asked for again without a word of the server.
pub(super) async fn too_old(inner: &Inner, session: &Session, pace: &Pace) {
    if !session.greeting.has_tools {
        return std::future::pending().await;
    }
    let ttl = inner.tools.borrow().as_ref().and_then(|list| list.ttl);
    let due = Instant::now() + pace.wait(ttl, &inner.plan.limits);
    loop {
        session.news.until(Telling::Nothing).await;
        tokio::select! {
            () = tokio::time::sleep_until(due) => return,
            () = session.news.until(Telling::Changes) => {}
        }
    }
}
