//! Waits that differ a little each time: many that fell together must not rise together.

use std::time::Duration;

use kitbag_core::Limits;

/// How much a wait may differ.
const SPREAD: f64 = 0.25;

/// A wait before a server is tried again, after so many failures.
pub(super) fn backoff(failures: u32, limits: &Limits) -> Duration {
    doubled(limits.restart_first, failures, limits.restart_most)
}

/// A wait that is twice as long each time, within its bound.
pub(super) fn doubled(first: Duration, times: u32, most: Duration) -> Duration {
    let doubled = first.saturating_mul(1 << times.saturating_sub(1).min(16));
    // At the bound all waits are alike; those who came there by different ways do not meet again.
    late(doubled.min(most)).min(most)
}

/// A wait that may not be shorter, a little longer.
pub(super) fn late(wait: Duration) -> Duration {
    wait + wait.mul_f64(SPREAD * fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f80_a_growing_wait_never_passes_its_bound() {
        let limits = Limits::default();
        for failures in 0..100 {
            let waits: Vec<Duration> = (0..200).map(|_| backoff(failures, &limits)).collect();
            let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
            assert!(*most <= limits.restart_most && limits.restart_first <= *least, "{waits:?}");
            let is_spread = *least < most.mul_f64(0.9);
            assert_eq!(is_spread, failures <= 5, "{failures}: {least:?} to {most:?}");
        }
    }
}
