//! When a server that is away is tried again: soon when it fell, slowly when it cannot be used as things are, and never
//! when only another configuration can help.

use std::time::Duration;

use kitbag_core::Limits;

use super::super::reason::Reason;

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

/// How long until one that fell is started again, after so many failures.
pub(super) fn backoff(failures: u32, limits: &Limits) -> Duration {
    doubled(limits.restart_first, failures, limits.restart_most)
}

/// Twice as long each time, up to a bound. Late by up to a quarter, so that many that fell together do not rise together.
fn doubled(first: Duration, times: u32, most: Duration) -> Duration {
    let doubled = first.saturating_mul(1 << times.saturating_sub(1).min(16)).min(most);
    doubled + doubled.mul_f64(0.25 * fastrand::f64())
}
