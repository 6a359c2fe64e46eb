//! Resources that a client wants to hear of: each is asked for once, and told until the client no longer wants it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kitbag::{CallError, CancellationToken, Kitbag, View};
use serde_json::value::RawValue;
use tokio_util::sync::DropGuard;
use tokio_util::task::TaskTracker;

use crate::answer::{Incoming, Speech};
use crate::client::Client;
use crate::news::{Listeners, News};
use crate::offered::failed;
use crate::rpc::{RpcError, code, raw};

/// What is followed, and who is told; dropping it ends that.
#[derive(Default)]
pub(crate) struct Follows {
    listeners: Arc<Listeners>,
    followed: Mutex<HashMap<String, DropGuard>>,
    tasks: TaskTracker,
}

impl Follows {
    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Follows one more resource. Once is enough: of one that is followed already nothing happens.
    pub(crate) async fn follow(&self, kit: &Kitbag, view: &Arc<View>, uri: &str) -> Result<(), CallError> {
        if self.lock().contains_key(uri) {
            return Ok(());
        }
        let mut updates = kit.subscribe(view, uri).await?;
        let over = CancellationToken::new();
        self.lock().insert(uri.to_owned(), over.clone().drop_guard());
        let listeners = self.listeners.clone();
        self.tasks.spawn(over.run_until_cancelled_owned(async move {
            while let Some(updated) = updates.next().await {
                listeners.tell(&News::Updated(updated.into()));
            }
        }));
        Ok(())
    }

    fn count(&self) -> usize {
        self.lock().len()
    }

    fn end(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, DropGuard>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `resources/subscribe` of the older era.
pub(crate) async fn subscribe(client: &Client, request: &Incoming) -> Result<Box<RawValue>, RpcError> {
    let uri = request.text("uri", "the resource")?;
    let _place = client.place()?;
    let most = client.kit.limits().subscriptions;
    if most <= client.follows.count() {
        let message =
            format!("{most} resources are subscribed to already (`subscriptions` in `kitbag limits`)");
        return Err(RpcError::new(code::INVALID_REQUEST, message));
    }
    let (view, _) = client.view()?;
    let done = client.follows.follow(&client.kit, &view, &uri).await;
    done.map_err(|error| failed(&error, Speech::Legacy, code::NO_RESOURCE))?;
    raw("{}".to_owned())
}

/// `resources/unsubscribe` of the older era. What was not subscribed to needs no end.
pub(crate) fn unsubscribe(client: &Client, request: &Incoming) -> Result<Box<RawValue>, RpcError> {
    client.follows.end(&request.text("uri", "the resource")?);
    raw("{}".to_owned())
}
