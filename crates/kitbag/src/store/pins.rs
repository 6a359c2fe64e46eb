//! Pins: the definition of each tool as it was first seen or approved.

use std::time::SystemTime;

use kitbag_core::{ServerName, ToolName, UserId};

use super::{Hash256, RowOwner, StoreFuture};

/// Which tool a pin is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PinKey {
    /// Whose server it is.
    pub owner: RowOwner,
    /// The server.
    pub server: ServerName,
    /// The tool, by the server's own name for it.
    pub tool: ToolName,
}

/// The definition of a tool that calls are held to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The tool.
    pub key: PinKey,
    /// The hash of its definition.
    pub hash: Hash256,
    /// The definition as canonical JSON, to show what changed.
    pub definition: String,
    /// Whether a person has approved it.
    pub state: PinState,
    /// When this definition was seen first.
    pub first_seen: SystemTime,
    /// When it was seen last.
    pub last_seen: SystemTime,
}

/// How a definition came to be pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinState {
    /// It was the first one seen.
    Seen,
    /// A person approved it.
    Approved {
        /// Who.
        by: UserId,
        /// When.
        at: SystemTime,
    },
}

/// Keeps pins.
pub trait PinStore {
    /// All pins of this owner's servers, sorted by server and tool.
    fn pins<'a>(&'a self, owner: &'a RowOwner) -> StoreFuture<'a, Vec<Pin>>;

    /// Keeps pins, all or none of them. Safe against two processes that see different definitions:
    ///
    /// - [`PinState::Seen`] never replaces another definition: the first one stays. Of the same definition it moves
    ///   `last_seen` on and leaves an approval as it is.
    /// - [`PinState::Approved`] replaces whatever is there; `first_seen` stays where the definition is the same.
    fn put_pins<'a>(&'a self, pins: &'a [Pin]) -> StoreFuture<'a, ()>;

    /// Forgets pins; how many there were.
    fn remove_pins<'a>(&'a self, keys: &'a [PinKey]) -> StoreFuture<'a, usize>;
}
