//! Tokens: who may come in from outside. Only their hashes are kept.

use std::time::SystemTime;

use kitbag_core::UserId;

use super::{Hash256, StoreError, StoreFuture};

/// One token. The token itself is shown once, when it is made, and kept nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenEntry {
    /// Whose it is: whoever brings the token acts as this user.
    pub user: UserId,
    /// What the user calls it; unique per user.
    pub name: String,
    /// The hash of the token.
    pub hash: Hash256,
    /// When it was made.
    pub created: SystemTime,
    /// From when on it lets nobody in; never, when none.
    pub expires: Option<SystemTime>,
    /// When it was last used; known to about a minute.
    pub used: Option<SystemTime>,
}

impl TokenEntry {
    /// Whether it lets nobody in any more.
    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// Why a token was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The user has one of this name.
    #[error("there is a token of this name already")]
    NameTaken,
    /// The same token is there already, of whichever user.
    #[error("this token is in use already")]
    HashTaken,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Keeps tokens.
pub trait TokenStore {
    /// Adds one.
    fn add_token<'a>(&'a self, token: &'a TokenEntry) -> StoreFuture<'a, (), TokenError>;

    /// A user's tokens, sorted by name.
    fn tokens<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<TokenEntry>>;

    /// Everybody's tokens, sorted by user and name: for whoever runs this Kitbag.
    fn all_tokens(&self) -> StoreFuture<'_, Vec<TokenEntry>>;

    /// Removes a user's token; whether there was one.
    fn revoke_token<'a>(&'a self, user: &'a UserId, name: &'a str) -> StoreFuture<'a, bool>;

    /// Notes when a token was used; one that is gone meanwhile stays gone, and time never goes back.
    fn token_used<'a>(&'a self, hash: &'a Hash256, at: SystemTime) -> StoreFuture<'a, ()>;

    /// The token with this hash, also an expired one.
    fn find_token<'a>(&'a self, hash: &'a Hash256) -> StoreFuture<'a, Option<TokenEntry>>;
}
