//! Other people's code: hooks, permits, approvers, the program's own tools. What goes wrong in it costs the call it was
//! run for, and nothing else.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures_util::FutureExt as _;
use kitbag_core::ErrorKind;

use super::Failure;

/// The most of a panic's words that is told.
const WORDS: usize = 300;

/// Runs somebody's asynchronous code.
pub(crate) async fn guarded<F: Future>(whose: &str, work: impl FnOnce() -> F) -> Result<F::Output, Failure> {
    let run = AssertUnwindSafe(async { work().await }).catch_unwind();
    run.await.map_err(|payload| panicked(whose, &*payload))
}

/// Runs somebody's code; none if it panicked.
pub(crate) fn guarded_now<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// Why a call ended because somebody's code panicked.
pub(crate) fn panicked(whose: &str, payload: &(dyn Any + Send)) -> Failure {
    let words = payload.downcast_ref::<&str>().copied();
    let words = words.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let words: String = kitbag_core::text::visible(words.unwrap_or("no words")).chars().take(WORDS).collect();
    Failure::new(ErrorKind::Internal, format!("{whose} panicked: {words}"))
}
