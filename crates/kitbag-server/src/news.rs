//! What a client is told without asking: that one of its lists changed, or a resource it follows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use kitbag::connect::raw::quoted;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::offered::Listed;
use crate::rpc;

mod lists_read;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use lists_read::ListsRead;
pub(crate) use source::NewsSource;

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
