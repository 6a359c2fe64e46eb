//! The name of a conversation. It names a file, so it is no more than letters and digits.

use std::fmt;

/// By what a conversation is found again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationId(Box<str>);

/// What cannot be the id of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of a conversation: 1 to 64 lower-case letters and digits")]
pub struct InvalidId(String);

impl ConversationId {
    /// A new one, which nobody can guess.
    pub(crate) fn new() -> Self {
        let mut bytes = [0; 10];
        if getrandom::fill(&mut bytes).is_err() {
            bytes = std::array::from_fn(|_| fastrand::u8(..));
        }
        Self(data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase().into())
    }

    /// The one that is written so.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        if text.is_empty() || 64 < text.len() || !text.chars().all(is_good) {
            return Err(InvalidId(text.chars().take(80).collect()));
        }
        Ok(Self(text.into()))
    }

    /// As people write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
