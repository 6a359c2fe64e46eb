//! Times as people and programs write them.

use std::time::{Duration, UNIX_EPOCH};

/// The last second of the year 9999: no later time can be written.
const LAST: u64 = 253_402_300_799;

/// A time as RFC 3339 in UTC with milliseconds, given as the time since 1970.
pub fn rfc3339_millis(since: Duration) -> String {
    humantime::format_rfc3339_millis(UNIX_EPOCH + since.min(Duration::from_secs(LAST))).to_string()
}

/// A time as RFC 3339 in UTC, given in seconds since 1970.
pub fn rfc3339(seconds: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds.min(LAST))).to_string()
}
