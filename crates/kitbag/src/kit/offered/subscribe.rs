//! Subscriptions: who wants to hear when a resource changes. They outlive conversations and links.

use std::sync::{Arc, Weak};

use kitbag_core::ServerName;
use kitbag_core::shape::View;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::super::call::link_in;
use super::super::{Inner, Kitbag};
use crate::connect::Subscribed;
use crate::execute::CallError;

/// Tells when a resource changes; who drops it hears no more. See [`Kitbag::subscribe`].
pub struct ResourceUpdates {
    kit: Weak<Inner>,
    view: Arc<View>,
    server: ServerName,
    own: String,
    /// What stands before the URIs of its server, as it was subscribed to.
    prefix: String,
    subscribed: Option<Subscribed>,
    changes: watch::Receiver<u64>,
}

impl Kitbag {
    /// Has the server of a resource tell when it changes. Servers that do not tell of changes refuse. A server that is
    /// started anew is asked again.
    pub async fn subscribe(&self, view: &Arc<View>, uri: &str) -> Result<ResourceUpdates, CallError> {
        let (servers, own) = self.0.whose(view, uri).await?.in_order(uri);
        let mut first = None;
        for server in servers {
            let done = match self.0.resource_now(view, &server, &own) {
                Ok(meant) => match link_in(&meant.now, &server) {
                    Ok(link) => link.subscribe(&own).await.map_err(CallError::from),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            match done {
                Ok(subscribed) => {
                    let prefix = uri.strip_suffix(own.as_str()).unwrap_or_default().to_owned();
                    let (subscribed, changes) = (Some(subscribed), self.watch_offered());
                    let (kit, view) = (Arc::downgrade(&self.0), view.clone());
                    return Ok(ResourceUpdates { kit, view, server, own, prefix, subscribed, changes });
                }
                Err(error) => drop(first.get_or_insert(error)),
            }
        }
        Err(first.unwrap_or_else(|| super::resources::no_resource(uri)))
    }
}

impl ResourceUpdates {
    /// Waits for the next change: the URI of what changed, which may be a part of what was subscribed to. None once the
    /// handle is closed. Cancel-safe.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            let Some(subscribed) = &mut self.subscribed else {
                self.changes.changed().await.ok()?;
                self.renew().await;
                continue;
            };
            // A link that was replaced says nothing more.
            let heard = tokio::select! {
                heard = subscribed.updates.recv() => heard,
                changed = self.changes.changed() => {
                    changed.ok()?;
                    if !self.is_current() {
                        self.subscribed = None;
                        self.renew().await;
                    }
                    continue;
                }
            };
            let updated = match heard {
                Ok(uri) if self.is_meant(&uri) => uri.to_string(),
                Ok(_) => continue,
                // Some were missed, and this may have been among them.
                Err(RecvError::Lagged(_)) => self.own.clone(),
                Err(RecvError::Closed) => {
                    self.subscribed = None;
                    continue;
                }
            };
            // What is denied by now is not spoken of.
            let kit = self.kit.upgrade()?;
            if kit.resource_now(&self.view, &self.server, &self.own).is_ok() {
                return Some(format!("{}{updated}", self.prefix));
            }
        }
    }

    fn is_meant(&self, uri: &str) -> bool {
        uri.strip_prefix(self.own.as_str()).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(['/', '?', '#']) || self.own.ends_with('/')
        })
    }

    fn is_current(&self) -> bool {
        let link = self.kit.upgrade().and_then(|kit| link_in(&kit.now(), &self.server).ok());
        link.is_some_and(|link| self.subscribed.as_ref().is_some_and(|subscribed| subscribed.is_of(&link)))
    }

    async fn renew(&mut self) {
        let link = self.kit.upgrade().and_then(|kit| link_in(&kit.now(), &self.server).ok());
        let Some(link) = link else { return };
        self.subscribed = link.subscribe(&self.own).await.ok();
    }
}
