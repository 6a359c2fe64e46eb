//! When a server that is away is tried again: soon when it fell, slowly when it cannot be used as things are, and never
//! when only another configuration can help.

use std::time::Duration;

use kitbag_core::Limits;

use super::super::reason::Reason;
use super::super::waits::doubled;

#[cfg(test)]
mod tests;

/// Waits before the next try; for ever when there is to be none.
pub(super) async fn pause(delay: Option<Duration>) {
    match delay {
        Some(delay) => tokio::time::sleep(delay).await,
        None => std::future::pending().await,
    }
}

/// How long until one that failed is tried again, the so many-th time in a row; never where only another configuration
/// helps. A program may be installed, a token become valid, without anybody telling us.
pub(super) fn retry_after(reason: &Reason, in_vain: u32, limits: &Limits) -> Option<Duration> {
    let delay = doubled(limits.retry_failed, in_vain, limits.retry_failed_most);
    (!reason.class.needs_other_config()).then_some(delay)
}
