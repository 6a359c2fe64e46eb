//! Answers to inputs: the values a user typed in when a configuration asked for them. Encrypted wherever they are kept
//! longer than the program runs.

use kitbag_core::{Secret, UserId};

use super::StoreFuture;

/// Which input a value answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputKey {
    /// Who answered.
    pub user: UserId,
    /// The file that asks, or the server in it: two files may both ask for `api-key` and mean different keys.
    pub scope: String,
    /// The id of the input.
    pub id: String,
}

/// Keeps answers to inputs.
pub trait InputStore {
    /// Keeps an answer in place of the one before.
    fn put_input<'a>(&'a self, key: &'a InputKey, value: &'a Secret) -> StoreFuture<'a, ()>;

    /// A user's answer.
    fn input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, Option<Secret>>;

    /// All answers of a user, sorted by key.
    fn inputs<'a>(&'a self, user: &'a UserId) -> StoreFuture<'a, Vec<(InputKey, Secret)>>;

    /// Forgets an answer; whether there was one. Needs no key.
    fn remove_input<'a>(&'a self, key: &'a InputKey) -> StoreFuture<'a, bool>;
}
