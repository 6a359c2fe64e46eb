//! The name of one call: in the log, in the audit log and in what its caller is told, so that one finds the other.

use std::fmt;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names one call. No two calls have the same, also of different processes; it says nothing about the call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId {
    process: u64,
    number: u64,
}

impl CallId {
    /// The next one.
    #[expect(clippy::new_without_default, reason = "no two are the same")]
    pub fn new() -> Self {
        /// Enough that two processes that write one log do not meet.
        static PROCESS: LazyLock<u64> = LazyLock::new(|| fastrand::u64(..));
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { process: *PROCESS, number: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}-{:x}", self.process, self.number)
    }
}

impl fmt::Debug for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallId({self})")
    }
}
