//! What a client is told without asking: that one of its lists changed, or a resource it follows.
//!
//! Lists are compared as they are written. A server that is gone for a while keeps its tools listed, so one that comes and
//! goes is no news; neither is what others see, or what nobody may see.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kitbag::connect::raw::quoted;
use kitbag_core::catalog::Snapshot;
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};

use crate::client::Client;
use crate::rpc;

#[cfg(test)]
mod tests;

/// One thing a client is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Another list of tools.
    Tools,
    /// Another list of prompts.
    #[expect(dead_code, reason = "until prompts are served")]
    Prompts,
    /// Another list of resources.
    Resources,
    /// Another content of one resource, as the client names it.
    #[cfg_attr(not(test), expect(dead_code, reason = "until resources are served"))]
    Updated(Arc<str>),
}

/// A list that a client is told of.
pub(crate) struct ListRow {
    pub(crate) news: News,
    /// By which a subscription of the newer era asks for it.
    pub(crate) filter: &'static str,
    /// As the client would get it now.
    read: fn(&Client) -> Option<Arc<str>>,
}

/// All lists there are.
pub(crate) const LISTS: &[ListRow] =
    &[ListRow { news: News::Tools, filter: "toolsListChanged", read: Client::listed }];

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
    mailbox: Arc<Mailbox>,
    /// What the client could have read last.
    lists: Vec<Option<Arc<str>>>,
    found: VecDeque<News>,
}

impl NewsSource {
    /// What is new from now on.
    pub(crate) fn new(client: &Arc<Client>) -> Self {
        let mut snapshots = client.kit.watch();
        // Before the lists are read, so that no change is missed.
        snapshots.mark_unchanged();
        let lists = LISTS.iter().map(|row| (row.read)(client)).collect();
        let mailbox = client.listeners.open(client.kit.limits().queue);
        Self { client: client.clone(), snapshots, mailbox, lists, found: VecDeque::new() }
    }

    /// What is new next; none when there will be nothing more. Cancel-safe: what was found is kept.
    pub(crate) async fn next(&mut self) -> Option<News> {
        loop {
            if let Some(news) = self.found.pop_front().or_else(|| self.mailbox.take()) {
                return Some(news);
            }
            tokio::select! {
                () = self.mailbox.arrived.notified() => {}
                changed = self.snapshots.changed() => {
                    changed.ok()?;
                    self.compare();
                }
            }
        }
    }

    fn compare(&mut self) {
        for (row, last) in LISTS.iter().zip(&mut self.lists) {
            // A list that cannot be made now is no other list.
            let Some(now) = (row.read)(&self.client) else { continue };
            if last.as_ref() != Some(&now) {
                *last = Some(now);
                self.found.push_back(row.news.clone());
            }
        }
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
    #[cfg_attr(not(test), expect(dead_code, reason = "until resources are served"))]
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
