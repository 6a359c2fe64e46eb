//! Why an exchange failed: what is known about delivery, and the root cause in one line.

use std::error::Error;
use std::io;

use super::super::channel::Closed;
use super::super::peer::RequestError;
use super::super::reason::{Reason, ReasonClass};
use super::address::LookupError;
use super::trust::{distrust, is_plain};
use kitbag_core::text::Redactor;

/// An exchange that gave no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// No connection was made: nothing was delivered.
    Unreachable(Box<Reason>),
    /// Something was sent, and then the exchange broke off.
    Broken(Box<Reason>),
    /// The session is not known any more.
    SessionGone {
        reason: Box<Reason>,
        /// Whether the request may have been carried out all the same.
        maybe_done: bool,
    },
    /// There is an answer, and it says why there is no result.
    Said(RequestError),
}

impl Trouble {
    /// An error of the connector.
    pub(crate) fn of(error: &reqwest::Error, shown: &str) -> Self {
        let root = root(error);
        let reason = |class, root: String| Box::new(with_source(Reason::new(class, root).at(shown), error));
        if let Some(distrust) = distrust(error) {
            return Self::Unreachable(reason(ReasonClass::Certificate, format!("{distrust} ({root})")));
        }
        if is_plain(error) {
            let plain = reason(ReasonClass::Unreachable, "the server does not speak TLS (https)".to_owned());
            return Self::Unreachable(Box::new(
                plain.hint("write http:// instead of https:// in its \"url\""),
            ));
        }
        if error.is_connect() && error.is_timeout() {
            return Self::Unreachable(reason(ReasonClass::Timeout, format!("no connection ({root})")));
        }
        if error.is_connect() || error.is_builder() {
            return Self::Unreachable(reason(class_of(error), root));
        }
        Self::broke_off(error, shown)
    }

    /// An error in the middle of an exchange.
    pub(crate) fn broke_off(error: &reqwest::Error, shown: &str) -> Self {
        let reason = Reason::new(ReasonClass::Closed, format!("broke off ({})", root(error)));
        Self::Broken(Box::new(with_source(reason.at(shown), error)))
    }

    /// As the outcome of a request.
    pub(crate) fn into_error(self) -> RequestError {
        match self {
            Self::Unreachable(reason) | Self::SessionGone { reason, maybe_done: false } => {
                RequestError::NotSent(Closed(reason))
            }
            Self::SessionGone { reason, maybe_done: true } => RequestError::Lost(Closed(reason)),
            Self::Broken(reason) => RequestError::Broken(reason),
            Self::Said(error) => error,
        }
    }

    /// Whether the conversation is over by it, and why.
    pub(crate) fn end(&self) -> Option<Closed> {
        match self {
            Self::Unreachable(reason) | Self::SessionGone { reason, .. } => Some(Closed(reason.clone())),
            Self::Broken(_) | Self::Said(_) => None,
        }
    }
}

/// What is below an error of the connector; its own words hold the whole address.
fn with_source(reason: Reason, error: &reqwest::Error) -> Reason {
    match error.source() {
        Some(source) => reason.caused_by(source),
        None => reason,
    }
}

/// Why no connection was made, as far as the errors below tell by their types.
fn class_of(error: &reqwest::Error) -> ReasonClass {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if error.is::<LookupError>() {
            return ReasonClass::Dns;
        }
        let io = error.downcast_ref::<io::Error>();
        if io.is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
            return ReasonClass::ConnectionRefused;
        }
        next = error.source();
    }
    ReasonClass::Unreachable
}

/// The innermost cause of an error: what wraps it says nothing.
pub(crate) fn root(error: &dyn Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// The beginning of what a server says, in one line, without secrets.
pub(crate) fn words(body: &[u8], redactor: &Redactor) -> String {
    // Before lines are joined: a secret may go on from one to the next.
    let head: Vec<u8> = redactor
        .mask_bytes(redactor.head(body, 1000))
        .iter()
        .map(|byte| match byte {
            b'\t' | b'\n' | b'\r' => b' ',
            other => *other,
        })
        .collect();
    let text = redactor.line(&head);
    let text = if text.trim_start().starts_with('<') { without_tags(&text) } else { text };
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

/// What a page says, without its markup.
fn without_tags(page: &str) -> String {
    let said = page.split('<').map(|part| part.split_once('>').map_or("", |(_, said)| said));
    said.collect::<Vec<_>>().join(" ")
}
