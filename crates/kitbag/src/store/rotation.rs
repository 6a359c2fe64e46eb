//! When the audit log loses its oldest rows: now and then, by whichever process writes to it, and never while a call waits.

use std::time::SystemTime;

use kitbag_core::Limits;

use super::{Retention, Store, StoreError};

/// Removes what the limits do not let the log keep, unless that was done less than [`Limits::audit_rotate`] ago, by this
/// process or another. How many rows went.
pub(super) async fn rotate_if_due(
    store: &dyn Store,
    limits: &Limits,
    now: SystemTime,
) -> Result<u64, StoreError> {
    if !store.begin_rotation(now, limits.audit_rotate).await? {
        return Ok(0);
    }
    let keep = Retention {
        older_than: now.checked_sub(limits.audit_keep).unwrap_or(SystemTime::UNIX_EPOCH),
        most_rows: limits.audit_rows as u64,
        most_bytes: limits.audit_most as u64,
    };
    store.rotate(&keep).await
}
