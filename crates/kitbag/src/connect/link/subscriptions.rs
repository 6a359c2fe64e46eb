//! Resources that somebody wants to hear of: the server is told once, however many listen, and again when another
//! conversation begins; and how much it is to log.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use kitbag_core::ErrorKind;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};
use tokio::sync::{broadcast, watch};

use super::super::era::Era;
use super::super::log_level::LogLevel;
use super::super::open::Session;
use super::super::peer::{Clocks, RequestContext, RequestError};
use super::super::waits::backoff;
use super::super::wire::Param;
use super::{Link, RawCallError, RawRequest};

/// After which an open subscription is made anew.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where a request of the newer era says how much is to be logged.
const LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// What is subscribed to, by how many.
#[derive(Default)]
pub(super) struct Subscriptions {
    wanted: watch::Sender<BTreeMap<Arc<str>, usize>>,
    is_kept: AtomicBool,
    /// The most that was asked to be logged, and in which conversation.
    level: Mutex<Option<(u64, LogLevel)>>,
}

/// One who listens; who drops it no longer does.
pub(crate) struct Subscribed {
    link: Link,
    uri: Arc<str>,
    pub(crate) updates: broadcast::Receiver<Arc<str>>,
}

impl Link {
    /// Asks the server to tell of changes of a resource, unless it was asked already.
    pub(crate) async fn subscribe(&self, uri: &str) -> Result<Subscribed, RawCallError> {
        let session = self.0.session.borrow().clone();
        let features = session.as_ref().map(|session| session.greeting.features);
        if features.is_some_and(|features| !features.subscribe) {
            let why = "does not tell of changes of resources".to_owned();
            return Err(self.error("resources/subscribe", ErrorKind::ServerError, why));
        }
        let most = self.0.plan.limits.subscriptions;
        let wanted = &self.0.subscriptions.wanted;
        let (is_first, is_full) = {
            let wanted = wanted.borrow();
            (!wanted.contains_key(uri), most <= wanted.len())
        };
        if is_first && is_full {
            let why =
                format!("{most} resources are subscribed to already (`subscriptions` in `kitbag limits`)");
            return Err(self.error("resources/subscribe", ErrorKind::ServerError, why));
        }
        let updates = self.0.news.updates();
        let is_older = session.is_none_or(|session| session.greeting.era == Era::Legacy);
        if is_first && is_older {
            let params = to_raw_value(&json!({ "uri": uri }));
            let params = params
                .map_err(|error| self.error("resources/subscribe", ErrorKind::Internal, error.to_string()))?;
            let request = RawRequest { repeatable: true, ..RawRequest::new("resources/subscribe", &params) };
            self.request(request).await?;
        }
        let uri: Arc<str> = uri.into();
        wanted.send_modify(|wanted| *wanted.entry(uri.clone()).or_default() += 1);
        self.keep_subscribed();
        Ok(Subscribed { link: self.clone(), uri, updates })
    }

    /// Starts the task that renews what is subscribed to.
    fn keep_subscribed(&self) {
        if !self.0.subscriptions.is_kept.swap(true, Ordering::SeqCst) {
            let link = self.clone();
            self.0.tasks.spawn(async move {
                let stop = link.0.stop.clone();
                stop.run_until_cancelled(renew(&link)).await;
            });
        }
    }

    /// Has an older server log at least this much from now on. A newer one is told with each request: what is added to its
    /// `_meta`.
    pub(crate) fn log_at_least(&self, level: LogLevel, meta: &mut Cow<'_, Map<String, Value>>) {
        let Some(session) = self.current() else { return };
        if session.greeting.era == Era::Modern {
            meta.to_mut().insert(LEVEL_KEY.to_owned(), level.as_str().into());
            return;
        }
        if !session.greeting.features.logging {
            return;
        }
        let conversation = self.0.news.conversation();
        let mut told = self.0.subscriptions.level.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_some_and(|(of, told)| of == conversation && told <= level) {
            return;
        }
        *told = Some((conversation, level));
        // Before whatever is sent next on this conversation.
        session.peer.ask("logging/setLevel", &[("level", Param::Text(level.as_str()))], Era::Legacy);
    }
}

impl Subscribed {
    /// Whether it is at this link.
    pub(crate) fn is_of(&self, link: &Link) -> bool {
        self.link.is(link)
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        let is_last = self.link.0.subscriptions.wanted.send_if_modified(|wanted| {
            let Some(count) = wanted.get_mut(&self.uri) else { return false };
            *count -= 1;
            let is_last = *count == 0;
            if is_last {
                wanted.remove(&self.uri);
            }
            is_last
        });
        let Some(session) = self.link.current().filter(|_| is_last) else { return };
        if session.greeting.era == Era::Legacy {
            session.peer.ask("resources/unsubscribe", &[("uri", Param::Text(&self.uri))], Era::Legacy);
        }
    }
}

/// Subscribes anew in every conversation: older servers know of each resource, newer ones answer one long request.
async fn renew(link: &Link) {
    let (mut wanted, mut sessions) = (link.0.subscriptions.wanted.subscribe(), link.0.session.subscribe());
    let mut known = link.current();
    let mut failures = 0;
    loop {
        let session = sessions.borrow_and_update().clone().filter(|session| !session.peer.is_closed());
        let uris: Vec<Arc<str>> = wanted.borrow_and_update().keys().cloned().collect();
        let listening: BoxFuture<'_, Result<_, RequestError>> = match &session {
            Some(session) if session.greeting.era == Era::Modern && !uris.is_empty() => {
                listen(session, &uris)
            }
            _ => Box::pin(std::future::pending()),
        };
        if let Some(session) = session.as_ref().filter(|session| session.greeting.era == Era::Legacy) {
            let is_known = known.as_ref().is_some_and(|known| Arc::ptr_eq(known, session));
            // In a conversation that was known each was subscribed to when it was asked for.
            for uri in uris.iter().filter(|_| !is_known) {
                session.peer.ask("resources/subscribe", &[("uri", Param::Text(uri))], Era::Legacy);
            }
        }
        known.clone_from(&session);
        tokio::select! {
            changed = wanted.changed() => if changed.is_err() { return },
            changed = sessions.changed() => if changed.is_err() { return },
            ended = listening => {
                failures = if ended.is_ok() { 0 } else { failures + 1 };
                tokio::time::sleep(backoff(failures.max(1), &link.0.plan.limits)).await;
            }
        }
    }
}

/// Dropping it ends the subscription.
fn listen<'a>(
    session: &'a Arc<Session>,
    uris: &[Arc<str>],
) -> BoxFuture<'a, Result<Box<serde_json::value::RawValue>, RequestError>> {
    let uris: Vec<&str> = uris.iter().map(AsRef::as_ref).collect();
    let filter = json!({ "resourceSubscriptions": uris }).to_string();
    Box::pin(async move {
        let params = [("notifications", Param::Json(&filter))];
        let clocks = Clocks::of(LONGEST);
        session
            .peer
            .request("subscriptions/listen", &params, Era::Modern, clocks, RequestContext::default())
            .await
    })
}
