//! Why an exchange failed: what is known about delivery, and the root cause in one line.

use std::error::Error;

use super::super::channel::Closed;
use super::super::peer::RequestError;
use super::trust::distrust;
use kitbag_core::text::Redactor;

/// An exchange that gave no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// No connection was made: nothing was delivered.
    Unreachable(String),
    /// Something was sent, and then the exchange broke off.
    Broken(String),
    /// The session is not known any more.
    SessionGone {
        why: String,
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
        if let Some(distrust) = distrust(error) {
            return Self::Unreachable(format!("certificate: {distrust} ({root}) at {shown}"));
        }
        match error {
            _ if error.is_connect() && error.is_timeout() => {
                Self::Unreachable(format!("timeout: no connection ({root}) at {shown}"))
            }
            _ if error.is_connect() || error.is_builder() => {
                Self::Unreachable(format!("connection: {root} at {shown}"))
            }
            _ => Self::Broken(format!("connection: broke off ({root}) at {shown}")),
        }
    }

    /// As the outcome of a request.
    pub(crate) fn into_error(self) -> RequestError {
        match self {
            Self::Unreachable(why) | Self::SessionGone { why, maybe_done: false } => {
                RequestError::NotSent(Closed(why))
            }
            Self::SessionGone { why, maybe_done: true } => RequestError::Lost(Closed(why)),
            Self::Broken(why) => RequestError::Broken(why),
            Self::Said(error) => error,
        }
    }

    /// Whether the conversation is over by it, and why.
    pub(crate) fn end(&self) -> Option<Closed> {
        match self {
            Self::Unreachable(why) | Self::SessionGone { why, .. } => Some(Closed(why.clone())),
            Self::Broken(_) | Self::Said(_) => None,
        }
    }
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
