//! What a transport must do for the peer: take lines, give lines, and say when it is over.
//!
//! A pipe, a POST with its answer, an event stream: all of them fit. The peer never learns which it is.

use std::future::Future;

use super::peer::RequestError;
use super::reason::Reason;
use super::wire::Line;

/// A line on its way out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    /// The request it is, if it is one that somebody waits for.
    pub(crate) id: Option<u64>,
    /// Its bytes, and what they are.
    pub(crate) line: Line,
}

/// What a transport received.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// A line.
    Line(&'a [u8]),
    /// A line that came with the answer to a request of ours, and so belongs to it.
    Beside {
        /// Which.
        id: u64,
        /// The line.
        line: &'a [u8],
    },
    /// The beginning of a line that is too long. Nothing else of it will come.
    Oversized(&'a [u8]),
    /// What stood behind the last line when everything ended: a line without its end, or half a line.
    Rest(&'a [u8]),
    /// One request has come to nothing; the others go on.
    Failed {
        /// Which.
        id: u64,
        /// Why.
        error: RequestError,
    },
    /// Nothing more will come.
    Closed(Closed),
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Closed(pub(crate) Box<Reason>);

impl Closed {
    /// By us.
    pub(crate) fn by_us() -> Self {
        Reason::stopped("the connection was ended").into()
    }
}

impl From<Reason> for Closed {
    fn from(reason: Reason) -> Self {
        Self(Box::new(reason))
    }
}

/// Lines that could not be written: which of them certainly never left.
#[derive(Debug)]
pub(crate) struct Unsent {
    /// Requests of which not one byte was handed over.
    pub(crate) ids: Vec<u64>,
    /// Why.
    pub(crate) closed: Closed,
}

/// A way to hand a line over at once, past the queue.
pub(crate) trait Shortcut: Send {
    /// Takes the whole line or nothing of it, without waiting; whether it was taken.
    fn take(&mut self, line: &[u8]) -> bool;
}

/// The sending half.
pub(crate) trait Sink: Send + 'static {
    /// A shortcut, where the transport has one. It is used only while nothing is being sent, and is gone when
    /// the conversation is over.
    fn shortcut(&self) -> Option<Box<dyn Shortcut>> {
        None
    }

    /// Hands all lines over, in order.
    fn send(&mut self, batch: &mut Vec<Outgoing>) -> impl Future<Output = Result<(), Unsent>> + Send;
}

/// The receiving half.
pub(crate) trait LineSource: Send + 'static {
    /// The next thing received; cancel-safe.
    fn next(&mut self) -> impl Future<Output = Incoming<'_>> + Send;
}
