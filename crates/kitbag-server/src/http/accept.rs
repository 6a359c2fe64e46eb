//! What a client says it sends and can read. One that says nothing is taken at its word for everything.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, CONTENT_TYPE};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unacceptable {
    /// It cannot read what it would get.
    #[error("Accept must list application/json and text/event-stream: the answer is one or the other")]
    Answer,
    /// It cannot read a stream.
    #[error("Accept must list text/event-stream")]
    Stream,
    /// It sends something else.
    #[error("Content-Type must be application/json")]
    Body,
}

/// Looks at a request with a message.
pub(super) fn check_message(headers: &HeaderMap) -> Result<(), Unacceptable> {
    let said = headers.get(CONTENT_TYPE).map(|said| said.to_str().unwrap_or_default());
    if said.is_some_and(|said| !kind_of(said).eq_ignore_ascii_case(JSON)) {
        return Err(Unacceptable::Body);
    }
    if reads(headers, JSON) && reads(headers, EVENTS) { Ok(()) } else { Err(Unacceptable::Answer) }
}

/// Looks at a request for a stream.
pub(super) fn check_stream(headers: &HeaderMap) -> Result<(), Unacceptable> {
    if reads(headers, EVENTS) { Ok(()) } else { Err(Unacceptable::Stream) }
}

/// Whether a client can read a kind of answer.
fn reads(headers: &HeaderMap, kind: &str) -> bool {
    let mut is_said = false;
    for said in headers.get_all(ACCEPT) {
        is_said = true;
        let whole = kind.split('/').next().unwrap_or_default();
        let fits = |range: &str| {
            let of_kind = range.strip_suffix("/*").is_some_and(|range| range == "*" || range == whole);
            of_kind || range == kind
        };
        // As the protocol's own clients write it.
        if said == BOTH {
            return true;
        }
        let said = said.to_str().unwrap_or_default().to_ascii_lowercase();
        if said.split(',').any(|range| fits(kind_of(range))) {
            return true;
        }
    }
    !is_said
}

/// Without its parameters.
fn kind_of(text: &str) -> &str {
    text.split(';').next().unwrap_or_default().trim()
}
