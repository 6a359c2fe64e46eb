//! The body of a reply taken apart: a stream of events, a value a line, or one value.

use kitbag::connect::api::ApiEvents;

/// How a body is framed.
#[derive(Debug)]
pub(super) enum Frames {
    /// `text/event-stream`.
    Events(ApiEvents),
    /// A JSON value a line.
    Lines(Vec<u8>),
    /// One JSON value: a host that does not stream.
    Whole(Vec<u8>),
}

/// A body is longer than the limit.
#[derive(Debug)]
pub(super) struct TooLarge;

impl Frames {
    /// By the kind of body the host names. Without a word about it, it is a stream of events.
    pub(super) fn of(content_type: &str, limit: usize) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" => Self::Lines(Vec::new()),
            "application/json" => Self::Whole(Vec::new()),
            _ => Self::Events(ApiEvents::new(limit)),
        }
    }

    /// Takes the next bytes; the values that are whole by them.
    pub(super) fn take(&mut self, mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLarge> {
        let mut whole = Vec::new();
        match self {
            Self::Events(events) => {
                while let Some(data) = events.take(&mut bytes).map_err(|_| TooLarge)? {
                    whole.push(data);
                }
            }
            Self::Lines(line) => {
                while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
                    line.extend_from_slice(&bytes[..end]);
                    bytes = &bytes[end + 1..];
                    whole.push(std::mem::take(line));
                }
                line.extend_from_slice(bytes);
            }
            Self::Whole(body) => body.extend_from_slice(bytes),
        }
        whole.retain(|data| !data.iter().all(u8::is_ascii_whitespace));
        Ok(whole)
    }

    /// What is left when the body ends: a value that no line or blank line ended.
    pub(super) fn end(self) -> Option<Vec<u8>> {
        match self {
            Self::Events(mut events) => events.take(&mut &b"\n\n"[..]).ok().flatten(),
            Self::Lines(rest) | Self::Whole(rest) => Some(rest),
        }
        .filter(|rest| !rest.iter().all(u8::is_ascii_whitespace))
    }
}
