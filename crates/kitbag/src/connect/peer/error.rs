//! Why a request has no result, and whether it may have been received.

use std::time::Duration;

use kitbag_core::model::Seconds;
use serde_json::value::RawValue;

use super::super::channel::Closed;
use super::super::reason::{Reason, ReasonClass};

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// It never left: calling again cannot do harm.
    #[error("{0}")]
    NotSent(Closed),
    /// It may have been received, and then the connection ended.
    #[error("{0}")]
    Lost(Closed),
    /// It may have been received, and its answer broke off; the conversation goes on.
    #[error("{0}")]
    Broken(Box<Reason>),
    /// It was refused before anybody looked at it as a message.
    #[error("{reason}")]
    Http {
        /// The status.
        status: u16,
        /// What was said.
        reason: Box<Reason>,
        /// How long the server asks to be left alone.
        wait: Option<Duration>,
    },
    /// It took too long.
    #[error("no answer within {}", Seconds(*after))]
    Timeout {
        /// How long was waited.
        after: Duration,
        /// Whether any of it may have been received.
        sent: bool,
    },
    /// The server answered with an error.
    #[error("{message} (code {code})")]
    Remote {
        /// Its code.
        code: i64,
        /// Its words.
        message: String,
        /// The whole error, as received.
        raw: Box<RawValue>,
    },
    /// Whoever answers does not speak MCP.
    #[error("{0}")]
    NotMcp(Box<Reason>),
    /// The answer cannot be read.
    #[error("the answer cannot be used: {0}")]
    BadAnswer(String),
    /// The answer is longer than the limit.
    #[error("the answer is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl RequestError {
    /// Why a server that answers like this cannot be used.
    pub(crate) fn into_reason(self) -> Reason {
        let class = match self {
            Self::NotSent(Closed(reason))
            | Self::Lost(Closed(reason))
            | Self::Broken(reason)
            | Self::NotMcp(reason)
            | Self::Http { reason, .. } => return *reason,
            Self::Timeout { .. } => ReasonClass::Timeout,
            Self::Remote { .. } => ReasonClass::Refused,
            Self::BadAnswer(why) => return Reason::new(ReasonClass::BadAnswer, why),
            Self::TooLarge { .. } => ReasonClass::TooLarge,
        };
        Reason::new(class, self.to_string())
    }

    /// How long the server asks to be left alone.
    pub(crate) fn wait(&self) -> Duration {
        match self {
            Self::Http { wait, .. } => wait.unwrap_or_default(),
            _ => Duration::ZERO,
        }
    }
}
