//! The database of pins, approvals and the audit log that the settings name; a file in the state folder otherwise.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use kitbag::files::SecretStore;
use kitbag::store::{RowOwner, Store, StoreError};
use kitbag::{Fault, FaultKind, Secret, ServerSpec, Setup};

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

/// Asks a database something.
fn is_there(store: &Arc<dyn Store>) -> Result<(), StoreError> {
    at_once(async { store.pins(&RowOwner::Shared).await.map(drop) })
}

/// Something a store is asked before anything runs, on a thread of its own: the runtime of this one may be at work.
fn at_once<T: Send>(work: impl Future<Output = Result<T, StoreError>> + Send) -> Result<T, StoreError> {
    let other = |why: String| StoreError::Other { what: "store".to_owned(), why };
    let asked = || -> Result<T, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| other(error.to_string()))?.block_on(work)
    };
    let done = std::thread::scope(|scope| scope.spawn(asked).join());
    done.unwrap_or_else(|_| Err(other("it broke down".to_owned())))
}

/// Reads the answers to inputs that the store keeps, where any are asked for. Servers whose answers cannot be read are
/// without them, and that is said.
pub(crate) fn read_answers(setup: &mut Setup) {
    if !setup.needs_answers() {
        return;
    }
    let read = open(setup)
        .map_err(|failure| failure.message)
        .and_then(|store| at_once(setup.read_answers(&*store)).map_err(|error| error.to_string()));
    if let Err(why) = read {
        let message = format!("answers to inputs cannot be read: {why}");
        setup.merged.faults.push(Fault::error(FaultKind::Store, message));
    }
}

/// Keeps an answer to an input.
pub(crate) fn keep_answer(
    setup: &mut Setup,
    spec: &ServerSpec,
    id: &str,
    answer: &Secret,
) -> Result<(), Failure> {
    let store = open(setup)?;
    let key = SecretStore::key(&setup.user, spec, id);
    let kept = at_once(async {
        SecretStore::keep_in(&*store, &setup.folders, &key, answer).await?;
        setup.read_answers(&*store).await
    });
    kept.map_err(|error| refused(&error))
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
