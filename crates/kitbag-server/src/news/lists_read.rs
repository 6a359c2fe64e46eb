//! The lists as a client was given them last: of what it never read, no change is news to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::lock;
use crate::offered::Listed;

/// What a list said.
pub(super) type Fingerprint = [u8; 32];

/// What one client was given.
#[derive(Default)]
pub(crate) struct ListsRead {
    tools: Mutex<Option<Arc<str>>>,
    offered: Mutex<HashMap<Listed, Fingerprint>>,
    /// Counts lists that it did not have before.
    read: watch::Sender<u64>,
}

impl ListsRead {
    /// It is given this list of tools.
    pub(crate) fn note_tools(&self, list: &Arc<str>) {
        let before = lock(&self.tools).replace(list.clone());
        self.tell(before.as_ref() != Some(list));
    }

    /// It is given a list of something else.
    pub(crate) fn note(&self, what: Listed, items: &[Value]) {
        let now = fingerprint(items);
        let before = lock(&self.offered).insert(what, now);
        self.tell(before != Some(now));
    }

    fn tell(&self, is_other: bool) {
        self.read.send_if_modified(|count| {
            *count += u64::from(is_other);
            is_other
        });
    }

    /// Tells whenever it is given a list that it did not have before.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.read.subscribe()
    }

    pub(super) fn tools(&self) -> Option<Arc<str>> {
        lock(&self.tools).clone()
    }

    pub(super) fn of(&self, what: Listed) -> Option<Fingerprint> {
        lock(&self.offered).get(&what).copied()
    }
}

pub(super) fn fingerprint(items: &[Value]) -> Fingerprint {
    let mut hash = Sha256::new();
    for item in items {
        hash.update(item.to_string());
        hash.update([0]);
    }
    hash.finalize().into()
}
