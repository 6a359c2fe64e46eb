//! What changes on demand, and who hears of it: peers of the older era by notification, those of the newer one by what
//! they subscribed to.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::{LoggingLevel, ResourceUpdatedNotificationParam};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use tokio::sync::watch;

/// How often each thing changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) tools: u64,
    pub(crate) prompts: u64,
    pub(crate) watched: u64,
}

/// What a peer of the older era asked for.
#[derive(Debug)]
pub(crate) struct Wishes {
    pub(crate) level: LoggingLevel,
    pub(crate) uris: HashSet<String>,
}

impl Default for Wishes {
    fn default() -> Self {
        Self { level: LoggingLevel::Debug, uris: HashSet::new() }
    }
}

/// Everything that changes.
#[derive(Debug)]
pub(crate) struct Changes(watch::Sender<Counts>);

impl Changes {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }

    pub(crate) fn now(&self) -> Counts {
        self.0.borrow().clone()
    }

    pub(crate) fn make(&self, change: impl FnOnce(&mut Counts)) {
        self.0.send_modify(change);
    }

    /// Tells a peer of the older era, until it is gone.
    pub(crate) async fn tell(&self, peer: Peer<RoleServer>, wishes: &Mutex<Wishes>) {
        let mut news = self.0.subscribe();
        let mut before = news.borrow_and_update().clone();
        loop {
            if news.changed().await.is_err() {
                return;
            }
            let now = news.borrow_and_update().clone();
            let is_watched = lock(wishes).uris.contains(crate::resources::WATCHED);
            let told = async {
                if before.tools != now.tools {
                    peer.notify_tool_list_changed().await?;
                }
                if before.prompts != now.prompts {
                    peer.notify_prompt_list_changed().await?;
                }
                if before.watched != now.watched && is_watched {
                    let update = ResourceUpdatedNotificationParam::new(crate::resources::WATCHED);
                    peer.notify_resource_updated(update).await?;
                }
                Ok::<(), rmcp::ServiceError>(())
            };
            if told.await.is_err() {
                return;
            }
            before = now;
        }
    }

    /// Tells a subscription of the newer era what it asked for, until it ends.
    pub(crate) async fn feed(&self, subscription: &SubscriptionContext) {
        let (sink, mut news) = (subscription.sink(), self.0.subscribe());
        let mut before = news.borrow_and_update().clone();
        loop {
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return },
                () = subscription.cancelled() => return,
            }
            let now = news.borrow_and_update().clone();
            // What was not asked for is refused, which is as it should be.
            if before.tools != now.tools {
                let _ = sink.notify_tool_list_changed().await;
            }
            if before.prompts != now.prompts {
                let _ = sink.notify_prompt_list_changed().await;
            }
            if before.watched != now.watched {
                let _ = sink.notify_resource_updated(crate::resources::WATCHED).await;
            }
            before = now;
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
