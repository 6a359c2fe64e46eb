//! What may be lost at any time and saves work. Lists of tools and eras are in files, see `docs/decisions.md`.

use std::time::SystemTime;

use super::{RowOwner, StoreFuture};

/// What is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheKind {
    /// When the audit log last lost its oldest rows.
    Rotation,
}

impl CacheKind {
    /// The word used in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rotation => "rotation",
        }
    }
}

/// Names one entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CacheKey {
    /// What it is.
    pub kind: CacheKind,
    /// Who may see it.
    pub owner: RowOwner,
    /// The server.
    pub key: String,
    /// A hash of the values the server ran with: with other values it may list other tools.
    pub identity: String,
}

/// What is remembered, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// The content.
    pub blob: Vec<u8>,
    /// When it was written.
    pub at: SystemTime,
}

impl CacheKey {
    /// How many identities of one kind, owner and key are remembered: enough for a server that two programs run with
    /// different values, few enough that a value that changes each time leaves little behind.
    pub const IDENTITIES: usize = 4;
}

/// Keeps a cache.
pub trait CacheStore {
    /// Remembers; of more than [`CacheKey::IDENTITIES`] with the same kind, owner and key the oldest go. Nothing larger
    /// than [`Limits::cached`](kitbag_core::Limits::cached) is taken.
    fn put_cached<'a>(&'a self, key: &'a CacheKey, entry: &'a CacheEntry) -> StoreFuture<'a, ()>;

    /// What is remembered, unless it is larger than `most` bytes.
    fn cached<'a>(&'a self, key: &'a CacheKey, most: usize) -> StoreFuture<'a, Option<CacheEntry>>;

    /// Forgets; whether there was something.
    fn remove_cached<'a>(&'a self, key: &'a CacheKey) -> StoreFuture<'a, bool>;

    /// Forgets what was written before this time, of all; how many.
    fn sweep_cache(&self, before: SystemTime) -> StoreFuture<'_, usize>;
}
