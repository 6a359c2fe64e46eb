//! When the audit log loses its oldest rows: now and then, by whichever process writes to it, and never while a call waits.

use std::time::SystemTime;

use kitbag_core::Limits;

use super::{CacheEntry, CacheKey, CacheKind, Retention, RowOwner, Store, StoreError};

/// Removes what the limits do not let the log keep, unless that was done less than [`Limits::audit_rotate`] ago, by this
/// process or another. How many rows went.
pub(super) async fn rotate_if_due(
    store: &dyn Store,
    limits: &Limits,
    now: SystemTime,
) -> Result<u64, StoreError> {
    let key = CacheKey {
        kind: CacheKind::Rotation,
        owner: RowOwner::Shared,
        key: "audit".to_owned(),
        identity: String::new(),
    };
    let last = store.cached(&key, 1).await?.map(|entry| entry.at);
    // A clock that was set back must not put it off for ever.
    let is_due = |last: SystemTime| {
        now.duration_since(last).map_or(last > now + limits.audit_rotate, |age| limits.audit_rotate <= age)
    };
    if last.is_some_and(|last| !is_due(last)) {
        return Ok(0);
    }
    store.put_cached(&key, &CacheEntry { blob: Vec::new(), at: now }).await?;
    // A log that was just begun has nothing to lose.
    if last.is_none() {
        return Ok(0);
    }
    let keep = Retention {
        older_than: now.checked_sub(limits.audit_keep).unwrap_or(SystemTime::UNIX_EPOCH),
        most_rows: limits.audit_rows as u64,
        most_bytes: limits.audit_most as u64,
    };
    store.rotate(&keep).await
}
