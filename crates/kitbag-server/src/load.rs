//! How much one user may ask for: requests in a second, and calls at once. Who is at the limit is refused and told when to
//! come again; nobody else notices.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use kitbag::{Limits, UserId};

/// When to come again who had too many calls open: they end when they end.
const LATER: Duration = Duration::from_secs(1);

/// What a user is refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Overload {
    /// Requests came too fast.
    Requests,
    /// Too many calls of the user are open.
    Calls,
    /// Too many calls of one session are.
    SessionCalls,
}

/// Why a request or call is refused for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; try again in {} s ({} in `kitbag limits`)", what.words(), self.seconds(), what.limit())]
pub(crate) struct TooMuch {
    pub(crate) what: Overload,
    /// When to come again.
    pub(crate) after: Duration,
}

impl Overload {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Requests, Self::Calls, Self::SessionCalls];

    /// The word used in metrics.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Calls => "calls",
            Self::SessionCalls => "session_calls",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Requests => "too many requests of this user",
            Self::Calls => "too many calls of this user at once",
            Self::SessionCalls => "too many calls of this session at once",
        }
    }

    fn limit(self) -> &'static str {
        match self {
            Self::Requests => "serve_rate, serve_burst",
            Self::Calls => "serve_calls",
            Self::SessionCalls => "serve_session_calls",
        }
    }
}

impl TooMuch {
    /// Whole seconds, as `Retry-After` has them.
    pub(crate) fn seconds(&self) -> u64 {
        self.after.as_secs() + u64::from(0 < self.after.subsec_nanos())
    }
}

/// How fast requests of each user may come.
pub(crate) struct Rates<C: Clock = DefaultClock> {
    limiter: RateLimiter<UserId, HashMapStateStore<UserId>, C, NoOpMiddleware<C::Instant>>,
    clock: C,
}

impl Rates {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self::with_clock(limits, DefaultClock::default())
    }
}

impl<C: Clock + Clone> Rates<C> {
    fn with_clock(limits: &Limits, clock: C) -> Self {
        let quota = Quota::per_second(count(limits.serve_rate)).allow_burst(count(limits.serve_burst));
        Self { limiter: RateLimiter::new(quota, HashMapStateStore::default(), clock.clone()), clock }
    }

    /// Lets one more request of a user through.
    pub(crate) fn request(&self, user: &UserId) -> Result<(), TooMuch> {
        let refused = |until: governor::NotUntil<C::Instant>| TooMuch {
            what: Overload::Requests,
            after: until.wait_time_from(self.clock.now()),
        };
        self.limiter.check_key(user).map_err(refused)
    }

    /// Forgets whoever has not come for a while: they may do again what they may do at first.
    pub(crate) fn sweep(&self) {
        self.limiter.retain_recent();
    }
}

fn count(limit: usize) -> NonZeroU32 {
    u32::try_from(limit).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

/// The calls that each user has open.
#[derive(Clone, Default)]
pub(crate) struct Places(Arc<Mutex<HashMap<UserId, usize>>>);

/// One open call.
pub(crate) struct Place {
    places: Places,
    user: UserId,
}

impl Places {
    /// Opens a call of a user whose session has so many others open.
    pub(crate) fn call(&self, user: &UserId, session: usize, limits: &Limits) -> Result<Place, TooMuch> {
        if limits.serve_session_calls <= session {
            return Err(TooMuch { what: Overload::SessionCalls, after: LATER });
        }
        let mut open = self.lock();
        let calls = open.get(user).copied().unwrap_or_default();
        if limits.serve_calls <= calls {
            return Err(TooMuch { what: Overload::Calls, after: LATER });
        }
        open.insert(user.clone(), calls + 1);
        Ok(Place { places: self.clone(), user: user.clone() })
    }

    /// How many calls of all users are open.
    pub(crate) fn open(&self) -> usize {
        self.lock().values().sum()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.places.lock();
        let Some(calls) = open.get_mut(&self.user) else { return };
        *calls -= 1;
        if *calls == 0 {
            open.remove(&self.user);
        }
    }
}

#[cfg(test)]
mod tests;
