//! What a client is told without asking: that one of its lists changed, or a resource it follows.
//!
//! Lists are compared as they are written. A server that is gone for a while keeps its tools listed, so one that comes and
//! goes is no news; neither is what others see, or what nobody may see.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kitbag::BoxFuture;
use kitbag::connect::raw::quoted;
use kitbag_core::catalog::Snapshot;
use serde_json::Value;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, watch};

use crate::client::Client;
use crate::offered::{self, Listed};
use crate::rpc;

#[cfg(test)]
mod tests;

/// One thing a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Another list of tools.
    Tools,
    /// Another list of prompts.
    Prompts,
    /// Another list of resources or of their templates.
    Resources,
    /// Another content of one resource, as the client names it.
    Updated(Arc<str>),
}

/// A list that a client is told of.
pub(crate) struct ListRow {
    pub(crate) news: News,
    /// By which a subscription of the newer era asks for it.
    pub(crate) filter: &'static str,
    /// What of it is asked of servers; nothing of tools, which are known.
    pub(crate) offered: &'static [Listed],
}

/// All lists there are.
pub(crate) const LISTS: &[ListRow] = &[
    ListRow { news: News::Tools, filter: "toolsListChanged", offered: &[] },
    ListRow { news: News::Prompts, filter: "promptsListChanged", offered: &[Listed::Prompts] },
    ListRow {
        news: News::Resources,
        filter: "resourcesListChanged",
        offered: &[Listed::Resources, Listed::Templates],
    },
];

impl News {
    fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Updated(_) => "notifications/resources/updated",
        }
    }

    /// As the older era hears it.
    pub(crate) fn plain(&self) -> String {
        let params = match self {
            Self::Updated(uri) => format!(r#"{{"uri":{}}}"#, quoted(uri)),
            _ => "{}".to_owned(),
        };
        rpc::notification(self.method(), &params)
    }

    /// As a subscription of the newer era hears it: with its id.
    pub(crate) fn tagged(&self, subscription: &RawValue) -> String {
        let uri = match self {
            Self::Updated(uri) => format!(r#","uri":{}"#, quoted(uri)),
            _ => String::new(),
        };
        rpc::notification(self.method(), &format!(r#"{{"_meta":{}{uri}}}"#, tag(subscription)))
    }
}

/// The `_meta` of everything that is said on a subscription.
pub(crate) fn tag(subscription: &RawValue) -> String {
    format!(r#"{{"io.modelcontextprotocol/subscriptionId":{subscription}}}"#)
}

/// Everything a client is told, on one of its streams.
pub(crate) struct NewsSource {
    client: Arc<Client>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    offered: watch::Receiver<u64>,
    mailbox: Arc<Mailbox>,
    /// The list of tools as the client could have read it last.
    tools: Option<Arc<str>>,
    /// The other lists in the same way; none of which is known what the client has of it.
    read: [Option<Fingerprint>; LISTS.len()],
    /// Servers are asked what they offer now.
    looking: Option<BoxFuture<'static, [Option<Fingerprint>; LISTS.len()]>>,
    found: VecDeque<News>,
}

impl NewsSource {
    /// What is new from now on, with what these listeners are told.
    pub(crate) fn new(client: &Arc<Client>, listeners: &Listeners) -> Self {
        let (mut snapshots, mut offered) = (client.kit.watch(), client.kit.watch_offered());
        // Before the lists are read, so that no change is missed.
        snapshots.mark_unchanged();
        offered.mark_unchanged();
        let limits = client.kit.limits();
        let mailbox = listeners.open(limits.queue.max(limits.subscriptions));
        Self {
            client: client.clone(),
            snapshots,
            offered,
            mailbox,
            tools: client.listed(),
            read: client.offers_read.all(),
            looking: None,
            found: VecDeque::new(),
        }
    }

    /// What is new next; none when there will be nothing more. Cancel-safe: what was found is kept.
    pub(crate) async fn next(&mut self) -> Option<News> {
        loop {
            if let Some(news) = self.found.pop_front().or_else(|| self.mailbox.take()) {
                return Some(news);
            }
            let is_looking = self.looking.is_some();
            tokio::select! {
                () = self.mailbox.arrived.notified() => {}
                changed = self.snapshots.changed() => {
                    changed.ok()?;
                    self.compare();
                }
                // Changes that come meanwhile are looked at together, afterwards.
                changed = self.offered.changed(), if !is_looking => {
                    changed.ok()?;
                    self.looking = Some(Box::pin(look(self.client.clone())));
                }
                now = looked(&mut self.looking), if is_looking => {
                    self.looking = None;
                    self.compare_offered(&now);
                }
            }
        }
    }

    fn compare(&mut self) {
        // A list that cannot be made now is no other list.
        let Some(now) = self.client.listed() else { return };
        if self.tools.as_ref() != Some(&now) {
            self.tools = Some(now);
            self.found.push_back(News::Tools);
        }
    }

    /// A list that the client may know is news when it is another one; of which nobody knows what the client has of it, too.
    fn compare_offered(&mut self, now: &[Option<Fingerprint>; LISTS.len()]) {
        let since = self.client.offers_read.all();
        for (at, row) in LISTS.iter().enumerate() {
            let Some(now) = now[at] else { continue };
            let before = self.read[at].replace(now).or(since[at]);
            if before != Some(now) {
                self.found.push_back(row.news.clone());
            }
        }
    }
}

/// What a list said.
type Fingerprint = [u8; 32];

/// The lists beside tools as a client read them last.
#[derive(Default)]
pub(crate) struct OffersRead(Mutex<HashMap<Listed, Fingerprint>>);

impl OffersRead {
    /// A client is given a list.
    pub(crate) fn note(&self, what: Listed, items: &[Value]) {
        lock(&self.0).insert(what, fingerprint(items));
    }

    /// For each row, if all of it was read.
    fn all(&self) -> [Option<Fingerprint>; LISTS.len()] {
        let read = lock(&self.0);
        std::array::from_fn(|at| {
            together(LISTS[at].offered.iter().map(|what| read.get(what).copied()).collect())
        })
    }
}

fn fingerprint(items: &[Value]) -> Fingerprint {
    let mut hash = Sha256::new();
    for item in items {
        hash.update(item.to_string());
        hash.update([0]);
    }
    hash.finalize().into()
}

/// One for several lists; none where one of them is not known, or there are none.
fn together(lists: Vec<Option<Fingerprint>>) -> Option<Fingerprint> {
    let all: Vec<Fingerprint> = lists.into_iter().collect::<Option<_>>()?;
    (!all.is_empty()).then(|| Sha256::digest(all.concat()).into())
}

/// Asks servers for everything they offer beside tools.
async fn look(client: Arc<Client>) -> [Option<Fingerprint>; LISTS.len()] {
    let mut found = [None; LISTS.len()];
    // A view that cannot be made now shows no other list.
    let Ok((view, _)) = client.view() else { return found };
    for (row, found) in LISTS.iter().zip(&mut found) {
        let mut lists = Vec::new();
        for what in row.offered {
            lists.push(Some(fingerprint(&offered::items(&client, &view, *what).await)));
        }
        *found = together(lists);
    }
    found
}

async fn looked<T>(looking: &mut Option<BoxFuture<'static, T>>) -> T {
    match looking {
        Some(looking) => looking.await,
        None => std::future::pending().await,
    }
}

/// The streams of one client that wait to be told something.
#[derive(Default)]
pub(crate) struct Listeners(Mutex<Vec<Weak<Mailbox>>>);

impl Listeners {
    fn open(&self, most: usize) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox { most, waiting: Mutex::default(), arrived: Notify::new() });
        let mut all = lock(&self.0);
        all.retain(|mailbox| 0 < mailbox.strong_count());
        all.push(Arc::downgrade(&mailbox));
        mailbox
    }

    /// Tells all of them. Nobody is waited for: whoever does not read finds what came, once each.
    pub(crate) fn tell(&self, news: &News) {
        for mailbox in lock(&self.0).iter().filter_map(Weak::upgrade) {
            mailbox.put(news.clone());
        }
    }
}

/// What one stream has not been told yet.
struct Mailbox {
    most: usize,
    waiting: Mutex<VecDeque<News>>,
    arrived: Notify,
}

impl Mailbox {
    fn put(&self, news: News) {
        let mut waiting = lock(&self.waiting);
        if waiting.contains(&news) {
            return;
        }
        if self.most <= waiting.len() {
            // More than anybody remembers: the client has to look at everything again.
            waiting.clear();
            waiting.push_back(News::Resources);
        } else {
            waiting.push_back(news);
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    fn take(&self) -> Option<News> {
        lock(&self.waiting).pop_front()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
