//! The database of pins, approvals and the audit log that the settings name; a file in the state folder otherwise.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use kitbag::Setup;
use kitbag::store::{RowOwner, Store, StoreError};

use crate::exit::{Exit, Failure};

/// The store of a setup. Nothing is created before something is written; a server that is away is told at once.
pub(crate) fn open(setup: &Setup) -> Result<Arc<dyn Store>, Failure> {
    let url = setup.settings.iter().rev().find_map(|(_, settings)| settings.store.as_ref());
    let Some(url) = url else { return opened(setup, "sqlite:").map_err(|error| refused(&error)) };
    let failed =
        |error: &StoreError| refused(error).hint(format!("change \"url\" in [store] ({})", url.place));
    if url.value.starts_with("postgres") {
        let store = opened(setup, &url.value).map_err(|error| failed(&error))?;
        is_there(&store).map_err(|error| failed(&error))?;
    }
    opened(setup, &url.value).map_err(|error| failed(&error))
}

/// Asks a database something, on a thread of its own: the runtime of this one may be at work.
fn is_there(store: &Arc<dyn Store>) -> Result<(), StoreError> {
    let asked = || -> Result<(), StoreError> {
        let other = |why: String| StoreError::Other { what: "store".to_owned(), why };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| other(error.to_string()))?;
        runtime.block_on(store.pins(&RowOwner::Shared)).map(drop)
    };
    std::thread::scope(|scope| scope.spawn(asked).join().unwrap_or(Ok(())))
}

fn opened(setup: &Setup, url: &str) -> Result<Arc<dyn Store>, StoreError> {
    kitbag_store::open(url, &setup.folders.state, &setup.limits)
}

/// How a command ends that a store refused.
pub(crate) fn refused(error: &StoreError) -> Failure {
    let exit = match error {
        StoreError::Unavailable { .. } | StoreError::Busy { .. } => Exit::Unavailable,
        _ => Exit::Config,
    };
    Failure::new(exit, error.to_string())
}

/// A moment as RFC 3339 has it, in UTC.
pub(crate) fn rfc3339_of(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    kitbag_core::text::rfc3339(since.as_secs())
}
