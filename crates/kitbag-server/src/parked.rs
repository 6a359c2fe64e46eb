//! Calls of clients of the newer era whose older servers asked something in the middle: the client was answered with the
//! question, and the call waits here until the client comes back with what its server wants to know.
//!
//! What names such a call cannot be guessed, belongs to one user, one address and one request, holds once, and only for a
//! while. A call that is dropped here is cancelled, also for its server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use data_encoding::HEXLOWER;
use kitbag::{Limits, UserId};
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use crate::endpoint::Scope;
use crate::flight::Flight;

/// What a call was made with. It goes on only with the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) user: UserId,
    pub(crate) scope: Scope,
    /// SHA-256 of method and parameters.
    pub(crate) request: [u8; 32],
}

/// A waiting call.
struct Entry {
    claim: Claim,
    flight: Flight,
    until: Instant,
}

#[derive(Default)]
struct State {
    calls: HashMap<String, Entry>,
    /// Whether a task looks for those whose time is up.
    is_swept: bool,
}

/// The waiting calls of an endpoint, or of the one client of a process.
#[derive(Default)]
pub(crate) struct Parked {
    state: Mutex<State>,
    tasks: TaskTracker,
}

impl Parked {
    /// Keeps a call; what names it from now on. Given back where there are too many.
    pub(crate) fn park(
        self: &Arc<Self>,
        claim: &Claim,
        flight: Flight,
        limits: &Limits,
    ) -> Result<String, Flight> {
        let mut bytes = [0; 32];
        if getrandom::fill(&mut bytes).is_err() {
            return Err(flight);
        }
        let name = HEXLOWER.encode(&bytes);
        let until = Instant::now() + limits.serve_parked_time;
        let mut state = self.state();
        let own = state.calls.values().filter(|entry| entry.claim.user == claim.user).count();
        if limits.serve_parked <= own || limits.serve_parked_all <= state.calls.len() {
            return Err(flight);
        }
        state.calls.insert(name.clone(), Entry { claim: claim.clone(), flight, until });
        if !std::mem::replace(&mut state.is_swept, true) {
            self.tasks.spawn(sweep(Arc::downgrade(self)));
        }
        Ok(name)
    }

    /// Takes a call out, for whoever may go on with it. It has no name any more.
    pub(crate) fn take(&self, name: &str, claim: &Claim) -> Option<Flight> {
        let mut state = self.state();
        state.calls.get(name).filter(|entry| entry.claim == *claim)?;
        state.calls.remove(name).map(|entry| entry.flight)
    }

    /// Whether a name means a waiting call, whoever's it is.
    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.state().calls.contains_key(name)
    }

    /// Cancels all of them.
    pub(crate) fn clear(&self) {
        let ended = std::mem::take(&mut self.state().calls);
        drop(ended);
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.state().calls.len()
    }

    /// Ends those whose time is up; when to look again, as long as there are any.
    fn end_overdue(&self) -> Option<Instant> {
        let now = Instant::now();
        let mut state = self.state();
        let late: Vec<String> = state
            .calls
            .iter()
            .filter(|(_, entry)| entry.until <= now)
            .map(|(name, _)| name.clone())
            .collect();
        let ended: Vec<Entry> = late.iter().filter_map(|name| state.calls.remove(name)).collect();
        let next = state.calls.values().map(|entry| entry.until).min();
        state.is_swept = next.is_some();
        drop(state);
        // What a call leaves behind when it is dropped is not our lock's business.
        drop(ended);
        next
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends calls as their time is up, and itself with the last.
async fn sweep(parked: Weak<Parked>) {
    while let Some(next) = parked.upgrade().and_then(|parked| parked.end_overdue()) {
        tokio::time::sleep_until(next).await;
    }
}
