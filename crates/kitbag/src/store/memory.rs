//! A store that lasts as long as the program: for libraries and tests, and for who wants nothing on disk.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use futures_util::FutureExt as _;
use kitbag_core::{Limits, Secret, UserId};

use super::{
    Hash256, InputKey, InputStore, Pin, PinKey, PinState, PinStore, RowOwner, StoreFuture, TokenEntry,
    TokenError, TokenStore,
};

mod approvals;
mod audit;

/// Keeps everything in memory.
#[derive(Default)]
pub struct MemoryStore {
    tables: Mutex<Tables>,
    limits: Limits,
}

#[derive(Default)]
struct Tables {
    pins: BTreeMap<PinKey, Pin>,
    approvals: approvals::Table,
    tokens: BTreeMap<Hash256, TokenEntry>,
    inputs: BTreeMap<InputKey, Secret>,
    audit: audit::Table,
}

impl MemoryStore {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..Self::default() }
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the tables when the future is polled, in one step that nobody else sees half of.
    fn with<'a, T, E>(
        &'a self,
        work: impl FnOnce(&mut Tables) -> Result<T, E> + Send + 'a,
    ) -> StoreFuture<'a, T, E>
    where
        T: Send + 'a,
        E: Send + 'a,
    {
        async move { work(&mut self.tables()) }.boxed()
    }
}

impl std::fmt::Debug for MemoryStore {
    /// Without what it holds: answers to inputs are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}

impl PinStore for MemoryStore {
    fn pins<'a>(&'a self, owner: &'a RowOwner) -> StoreFuture<'a, Vec<Pin>> {
        self.with(move |tables| {
            Ok(tables.pins.values().filter(|pin| pin.key.owner == *owner).cloned().collect())
        })
    }

    fn put_pins<'a>(&'a self, pins: &'a [Pin]) -> StoreFuture<'a, ()> {
        self.with(move |tables| {
            for pin in pins {
                put_pin(&mut tables.pins, pin.clone());
            }
            Ok(())
        })
    }

    fn remove_pins<'a>(&'a self, keys: &'a [PinKey]) -> StoreFuture<'a, usize> {
        self.with(move |tables| Ok(keys.iter().filter_map(|key| tables.pins.remove(key)).count()))
    }
}

fn put_pin(pins: &mut BTreeMap<PinKey, Pin>, mut pin: Pin) {
    if let Some(before) = pins.get(&pin.key) {
        let is_same = before.hash == pin.hash;
        if pin.state == PinState::Seen {
            if !is_same {
                return;
            }
            pin.state = before.state.clone();
        }
        if is_same {
            pin.first_seen = before.first_seen;
            pin.last_seen = pin.last_seen.max(before.last_seen);
        }
    }
    pins.insert(pin.key.clone(), pin);
}

impl TokenStore for MemoryStore {
    fn add_token<'a>(&'a self, token: &'a TokenEntry) -> StoreFuture<'a, (), TokenError> {
        self.with(move |tables| {
            let is_taken = |other: &TokenEntry| other.user == token.user && other.name == token.name;
            if tables.tokens.values().any(is_taken) {
                return Err(TokenError::NameTaken);
            }
            if tables.tokens.contains_key(&token.hash) {
                return Err(TokenError::HashTaken);
            }
            tables.tokens.insert(token.hash, token.clone());
            Ok(())
        })
    }

    fn tokens<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<TokenEntry>> {
        self.with(move |tables| {
            let mut found: Vec<_> =
                tables.tokens.values().filter(|token| token.user == *user).cloned().collect();
            found.sort_by(|a, b| a.name.cmp(&b.name));
            Ok(found)
        })
    }

    fn all_tokens(&self) -> StoreFuture<'_, Vec<TokenEntry>> {
        self.with(move |tables| {
            let mut all: Vec<_> = tables.tokens.values().cloned().collect();
            all.sort_by(|a, b| (&a.user, &a.name).cmp(&(&b.user, &b.name)));
            Ok(all)
        })
    }

    fn token_used<'a>(&'a self, hash: &'a Hash256, at: SystemTime) -> StoreFuture<'a, ()> {
        self.with(move |tables| {
            if let Some(token) = tables.tokens.get_mut(hash) {
                token.used = token.used.max(Some(at));
            }
            Ok(())
        })
    }

    fn revoke_token<'a>(&'a self, user: &'a UserId, name: &'a str) -> StoreFuture<'a, bool> {
        self.with(move |tables| {
            let before = tables.tokens.len();
            tables.tokens.retain(|_, token| token.user != *user || token.name != name);
            Ok(tables.tokens.len() < before)
        })
    }

    fn find_token<'a>(&'a self, hash: &'a Hash256) -> StoreFuture<'a, Option<TokenEntry>> {
        self.with(move |tables| Ok(tables.tokens.get(hash).cloned()))
    }
}

impl InputStore for MemoryStore {
    fn put_input<'a>(&'a self, key: &'a InputKey, value: &'a Secret) -> StoreFuture<'a, ()> {
        self.with(move |tables| {
            tables.inputs.insert(key.clone(), value.clone());
            Ok(())
        })
    }

    fn input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, Option<Secret>> {
        self.with(move |tables| Ok(tables.inputs.get(key).cloned()))
    }

    fn inputs<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<(InputKey, Secret)>> {
        self.with(move |tables| {
            let own = tables.inputs.iter().filter(|(key, _)| key.user == *user);
            Ok(own.map(|(key, value)| (key.clone(), value.clone())).collect())
        })
    }

    fn remove_input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, bool> {
        self.with(move |tables| Ok(tables.inputs.remove(key).is_some()))
    }
}
