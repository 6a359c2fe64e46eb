//! Everything one stream of a client is told.
//!
//! Lists are compared as they are written. A server that is gone for a while keeps its tools listed, so one that comes and
//! goes is no news; neither is what others see, or what nobody may see. Each other list is told once.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use kitbag::BoxFuture;
use kitbag_core::catalog::Snapshot;
use tokio::sync::watch;

use super::lists_read::{Fingerprint, fingerprint};
use super::{LISTS, ListRow, Listeners, Mailbox, News};
use crate::client::Client;
use crate::offered::{self, Listed};

/// Of which lists a stream tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToldOf {
    /// Of those that its client has read, as the older era has no way to ask.
    WhatWasRead,
    /// Of those that were asked for, as the rows of [`LISTS`] name them.
    Lists(Vec<&'static str>),
}

impl ToldOf {
    fn tells(&self, row: &ListRow, client: &Client) -> bool {
        match self {
            Self::Lists(asked) => asked.contains(&row.filter),
            Self::WhatWasRead if row.news == News::Tools => client.read.tools().is_some(),
            Self::WhatWasRead => row.offered.iter().any(|what| client.read.of(*what).is_some()),
        }
    }
}

/// What some lists say now.
type Found = Vec<(Listed, Fingerprint)>;

/// Everything a client is told, on one of its streams.
pub(crate) struct NewsSource {
    client: Arc<Client>,
    told_of: ToldOf,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    offered: watch::Receiver<u64>,
    read: watch::Receiver<u64>,
    mailbox: Arc<Mailbox>,
    /// The list of tools as it was seen last.
    tools: Option<Arc<str>>,
    /// The other lists in the same way.
    seen: HashMap<Listed, Fingerprint>,
    /// Servers are asked what they offer now.
    looking: Option<BoxFuture<'static, Found>>,
    found: VecDeque<News>,
}

impl NewsSource {
    /// For a stream of the older era: what is new since its client read it.
    pub(crate) fn since_read(client: &Arc<Client>) -> Self {
        let mut source = Self::new(client, client.follows.listeners(), ToldOf::WhatWasRead);
        source.compare_tools();
        source.look();
        source
    }

    /// For a subscription: what is new from now on, of these lists and with what these listeners are told.
    pub(crate) async fn from_now(
        client: &Arc<Client>,
        listeners: &Listeners,
        lists: Vec<&'static str>,
    ) -> Self {
        let mut source = Self::new(client, listeners, ToldOf::Lists(lists));
        source.compare_tools();
        source.look();
        if let Some(looking) = source.looking.take() {
            let now = looking.await;
            source.compare(now);
        }
        source
    }

    fn new(client: &Arc<Client>, listeners: &Listeners, told_of: ToldOf) -> Self {
        let (mut snapshots, mut offered) = (client.kit.watch(), client.kit.watch_offered());
        // Before the lists are read, so that no change is missed.
        snapshots.mark_unchanged();
        offered.mark_unchanged();
        let limits = client.kit.limits();
        Self {
            client: client.clone(),
            told_of,
            snapshots,
            offered,
            read: client.read.watch(),
            mailbox: listeners.open(limits.queue.max(limits.subscriptions)),
            tools: None,
            seen: HashMap::new(),
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
                    self.compare_tools();
                }
                // Changes that come meanwhile are looked at together, afterwards.
                changed = self.offered.changed(), if !is_looking => {
                    changed.ok()?;
                    self.look();
                }
                // What it was given may have become another while it was written.
                changed = self.read.changed(), if !is_looking && self.told_of == ToldOf::WhatWasRead => {
                    changed.ok()?;
                    self.compare_tools();
                    self.look();
                }
                now = looked(&mut self.looking), if is_looking => {
                    self.looking = None;
                    self.compare(now);
                }
            }
        }
    }

    fn compare_tools(&mut self) {
        let row = LISTS.iter().find(|row| row.news == News::Tools);
        if !row.is_some_and(|row| self.told_of.tells(row, &self.client)) {
            return;
        }
        // A list that cannot be made now is no other list.
        let Some(now) = self.client.listed() else { return };
        let before = self.tools.replace(now.clone()).or_else(|| self.client.read.tools());
        if before.is_some_and(|before| before != now) {
            self.find(News::Tools);
        }
    }

    /// Looks at the other lists of which this tells.
    fn look(&mut self) {
        let told = LISTS.iter().filter(|row| self.told_of.tells(row, &self.client));
        let told: Vec<Listed> = told.flat_map(|row| row.offered).copied().collect();
        if !told.is_empty() {
            self.looking = Some(Box::pin(look(self.client.clone(), told)));
        }
    }

    /// Only what the client has, or was told of before, can have become another.
    fn compare(&mut self, now: Found) {
        for (what, now) in now {
            let before = self.seen.insert(what, now).or_else(|| self.client.read.of(what));
            if before.is_none_or(|before| before == now) {
                continue;
            }
            if let Some(row) = LISTS.iter().find(|row| row.offered.contains(&what)) {
                self.find(row.news.clone());
            }
        }
    }

    fn find(&mut self, news: News) {
        if !self.found.contains(&news) {
            self.found.push_back(news);
        }
    }
}

/// Asks servers for what they offer beside tools.
async fn look(client: Arc<Client>, lists: Vec<Listed>) -> Found {
    let mut found = Found::new();
    // A view that cannot be made now shows no other list.
    let Ok((view, _)) = client.view() else { return found };
    for what in lists {
        found.push((what, fingerprint(&offered::items(&client, &view, what).await)));
    }
    found
}

async fn looked<T>(looking: &mut Option<BoxFuture<'static, T>>) -> T {
    match looking {
        Some(looking) => looking.await,
        None => std::future::pending().await,
    }
}
