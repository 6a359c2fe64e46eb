//! Whose a row is.

use kitbag_core::{InvalidName, UserId};

/// Whose a pin or a remembered list is: everybody's, or one user's alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowOwner {
    /// Of a server that all share.
    Shared,
    /// Of a server that is this user's own.
    User(UserId),
}

impl RowOwner {
    /// As it is kept: no user's id is empty.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Shared => "",
            Self::User(user) => user.as_str(),
        }
    }

    /// What [`RowOwner::as_str`] gave.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        if text.is_empty() { Ok(Self::Shared) } else { UserId::parse(text).map(Self::User) }
    }
}

impl From<Option<UserId>> for RowOwner {
    fn from(owner: Option<UserId>) -> Self {
        owner.map_or(Self::Shared, Self::User)
    }
}
