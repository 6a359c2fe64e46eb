//! Clocks for servers at an address.

use std::time::Duration;

/// Clocks fifty times as fast, for what must end by them.
pub(crate) fn hasty() -> kitbag::Limits {
    let mut limits = super::calm();
    limits.wait_http = Duration::from_millis(1500);
    limits.wait_list = Duration::from_millis(1500);
    limits.wait_idle = Duration::from_millis(700);
    limits.wait_total = Duration::from_millis(1500);
    limits.resume = Duration::from_millis(20);
    limits
}
