//! Code of others that panics or hangs: it costs the call it was run for, and nothing else.

use std::panic::{AssertUnwindSafe, catch_unwind};

use kitbag_core::ErrorKind;

use super::CallError;
use crate::code::Trouble;

/// Runs somebody's code; none if it panicked.
pub(crate) fn guarded_now<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Why a call ended because of somebody's code.
pub(crate) fn troubled(whose: &str, trouble: &Trouble) -> CallError {
    CallError::new(ErrorKind::Internal, format!("{whose} {trouble}"))
}
