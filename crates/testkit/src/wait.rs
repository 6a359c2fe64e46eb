//! The one place where tests wait by asking again and again: for what others do (a process, a file, a link) there is
//! no event to wait for. A test never sleeps itself, and never judges by how long something took.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for what must happen: many times what a busy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(3);

/// Asks every few milliseconds until `done` says yes or the time is over; whether it said yes.
pub fn wait_until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + within;
    loop {
        if done() {
            return true;
        }
        if end <= Instant::now() {
            return false;
        }
        thread::sleep(PAUSE);
    }
}

/// The same in a tokio runtime, whose other tasks go on meanwhile.
pub async fn until(within: Duration, mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + within;
    loop {
        if done() {
            return true;
        }
        if end <= Instant::now() {
            return false;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// A moment, for bounds that hold however slow the machine is: what has to take a while took at least that, and what
/// may happen every so often happened no more often. There is no "at most" on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Since(Instant);

impl Since {
    /// This moment.
    pub fn now() -> Self {
        Self(Instant::now())
    }

    /// So much time is over.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    pub fn at_least(self, least: Duration) {
        assert!(least <= self.0.elapsed(), "after {:?}, not {least:?}", self.0.elapsed());
    }

    /// How many times so much time is over.
    pub fn periods(self, period: Duration) -> usize {
        usize::try_from(self.0.elapsed().as_nanos() / period.as_nanos().max(1)).unwrap_or(usize::MAX)
    }
}

/// Awaits what must end by itself.
///
/// # Panics
/// If it has not within [`PATIENCE`].
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(done) => done,
        Err(_) => panic!("it did not end within {PATIENCE:?}"),
    }
}
