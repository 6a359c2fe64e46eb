//! The circuit breaker of one server: after calls in a row that it never answered, calls fail at once for a while instead of
//! waiting for their timeouts; then one is let through to see whether it answers again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kitbag_core::{ErrorKind, Limits};
use tokio::time::Instant;

#[cfg(test)]
mod tests;

/// Counts the calls that a server left unanswered.
#[derive(Debug, Default)]
pub(super) struct Breaker {
    /// Whether there is anything to look at: as long as a server answers, a call takes no lock.
    is_troubled: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Calls in a row without an answer.
    failures: usize,
    /// When the first of them ended.
    first: Option<Instant>,
    /// When the last of them ended.
    last: Option<Instant>,
    /// Until when calls fail at once.
    open_until: Option<Instant>,
    is_probing: bool,
}

/// Calls fail at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) failures: usize,
    /// Until one is let through again; none left while one is on its way.
    pub(super) left: Duration,
}

/// A call that was let through; dropped without a word, it says nothing about its server.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    breaker: &'a Breaker,
    since: Instant,
    is_probe: bool,
}

impl Breaker {
    /// Lets a call through, or not.
    pub(super) fn enter(&self, now: Instant) -> Result<Turn<'_>, Open> {
        let mut turn = Turn { breaker: self, since: now, is_probe: false };
        if !self.is_troubled.load(Ordering::Acquire) {
            return Ok(turn);
        }
        let mut state = self.state();
        let Some(until) = state.open_until else { return Ok(turn) };
        if now < until || state.is_probing {
            return Err(Open { failures: state.failures, left: until.saturating_duration_since(now) });
        }
        state.is_probing = true;
        turn.is_probe = true;
        Ok(turn)
    }

    /// How long calls fail at once, while they do.
    pub(super) fn open(&self, now: Instant) -> Option<Duration> {
        if !self.is_troubled.load(Ordering::Acquire) {
            return None;
        }
        self.state().open_until.map(|until| until.saturating_duration_since(now))
    }

    /// Forgets everything: somebody wants the server tried anew.
    pub(super) fn close(&self) {
        if self.is_troubled.load(Ordering::Acquire) {
            let mut state = self.state();
            *state = State { is_probing: state.is_probing, ..State::default() };
            self.is_troubled.store(false, Ordering::Release);
        }
    }

    fn failed(&self, since: Instant, now: Instant, limits: &Limits) {
        let mut state = self.state();
        // Calls that were under way together are lost together: one crash is one failure.
        if state.last.is_some_and(|last| since < last) {
            return;
        }
        let is_old = state.first.is_some_and(|first| first + limits.breaker_window < now);
        if is_old && state.open_until.is_none() {
            *state = State::default();
        }
        state.first.get_or_insert(now);
        state.last = Some(now);
        state.failures += 1;
        if limits.breaker_failures <= state.failures {
            state.open_until = Some(now + limits.breaker_open);
        }
        self.is_troubled.store(true, Ordering::Release);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// The call ended, with this kind of error if it has no result. Whatever a server answers, it answers; a call that never
    /// left, because the server is being started or stopped, says nothing.
    pub(super) fn ended(self, kind: Option<ErrorKind>, now: Instant, limits: &Limits) {
        match kind {
            Some(ErrorKind::OutcomeUnknown | ErrorKind::Timeout) => {
                self.breaker.failed(self.since, now, limits)
            }
            Some(ErrorKind::Unavailable | ErrorKind::Cancelled | ErrorKind::InvalidArguments) => {}
            _ => self.breaker.close(),
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.breaker.state().is_probing = false;
        }
    }
}
