//! What carries a conversation, for those few who need to know.

use super::era::Era;
use super::http::Streamable;
use super::list::ToolList;

/// What carries a conversation.
#[derive(Clone)]
pub(crate) enum Carrier {
    /// The pipes of a program.
    Pipe,
    /// A server inside this program.
    Memory,
    /// Requests to an address.
    Http(Streamable),
    /// A stream of events from an address, which is given as it may be shown.
    Sse(String),
}

impl Carrier {
    /// The word used in output.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Pipe => "stdio",
            Self::Memory => "in_process",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
        }
    }

    /// The address it goes to, without secrets.
    pub(crate) fn address(&self) -> Option<&str> {
        match self {
            Self::Http(http) => Some(http.address()),
            Self::Sse(shown) => Some(shown),
            Self::Pipe | Self::Memory => None,
        }
    }

    /// Whether the server keeps a session for us.
    pub(crate) fn has_session(&self) -> bool {
        match self {
            Self::Http(http) => http.has_session(),
            Self::Sse(_) => true,
            Self::Pipe | Self::Memory => false,
        }
    }

    /// Whether the conversation is over, though it may go on for what is in flight.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self, Self::Http(http) if http.is_over())
    }

    /// Looks at a list of tools before anybody else does: newer servers mark parameters that go into headers.
    pub(crate) fn learn(&self, list: &mut ToolList, era: Era) {
        if let (Self::Http(http), Era::Modern) = (self, era) {
            http.learn(list);
        }
    }
}
