//! The headers of a request: those of the configuration, and those the protocol repeats from the body.

use std::ops::Range;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kitbag_core::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::super::channel::Outgoing;
use super::super::era::{Era, MODERN};
use super::super::message;
use super::super::reason::{Reason, ReasonClass};
use super::super::wire::{LineKind, MethodName};
use super::mirror::Mirrors;

#[cfg(test)]
mod tests;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What only the protocol itself may say.
const OURS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The headers of the configuration, ready to be sent; why one cannot be.
pub(crate) fn configured(pairs: &[(String, Secret)]) -> Result<HeaderMap, Reason> {
    let bad = |why: String| Reason::new(ReasonClass::Config, why);
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let lower = name.trim().to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) || lower.starts_with("mcp-") {
            return Err(bad(format!("the header {name:?} belongs to the protocol and cannot be configured")));
        }
        let parsed = HeaderName::from_bytes(lower.as_bytes());
        let parsed = parsed.map_err(|_| bad(format!("the header name {name:?} cannot be sent")))?;
        let text = value.expose().trim();
        let value = HeaderValue::from_bytes(text.as_bytes()).ok();
        let mut value =
            value.ok_or_else(|| bad(format!("the value of the header {name:?} cannot be sent")))?;
        value.set_sensitive(true);
        // The same name twice: what was written for authentication stands last and holds.
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// Why headers cannot be sent, if they cannot.
pub(crate) fn check(pairs: &[(String, Secret)]) -> Result<(), Reason> {
    configured(pairs).map(|_| ())
}

/// What a line is, and the headers that go with it.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// The request it is, if it is one that somebody waits for.
    pub(crate) id: Option<u64>,
    /// Whether it is a request, also one whose answer nobody waits for.
    pub(crate) is_request: bool,
    /// Its method; empty for an answer.
    pub(crate) method: MethodName,
    /// The request it is about, if it takes one back.
    pub(crate) takes_back: Option<u64>,
    /// Whether it carries its protocol version itself.
    pub(crate) is_modern: bool,
    pub(crate) headers: HeaderMap,
}

impl About {
    /// Of a line of ours.
    pub(crate) fn of(outgoing: &Outgoing, mirrors: &Mirrors) -> Self {
        let Outgoing { id, line } = outgoing;
        match &line.kind {
            LineKind::Answer => Self::default(),
            LineKind::Notification { method, takes_back } => {
                Self { method: method.clone(), takes_back: *takes_back, ..Self::default() }
            }
            LineKind::Request { method, era, name, arguments } => {
                let mut about = Self { id: *id, is_request: true, method: method.clone(), ..Self::default() };
                if *era == Era::Modern {
                    let part = |range: &Option<Range<usize>>| line.bytes.get(range.clone()?);
                    about.is_modern = true;
                    about.repeat(part(name), part(arguments), mirrors);
                }
                // They were looked at before: what cannot be sent ended the call.
                let own = line.headers.as_deref().map(configured).and_then(Result::ok);
                about.headers.extend(own.unwrap_or_default());
                about
            }
        }
    }

    /// What newer servers want said in headers, too.
    fn repeat(&mut self, name: Option<&[u8]>, arguments: Option<&[u8]>, mirrors: &Mirrors) {
        self.put(VERSION, MODERN);
        self.put(METHOD, &self.method.clone());
        let name: Option<String> = name.and_then(|name| serde_json::from_slice(name).ok());
        let Some(name) = name else { return };
        self.put(NAME, &name);
        if self.method == "tools/call" {
            self.headers.extend(mirrors.headers(&name, arguments));
        }
    }

    fn put(&mut self, name: HeaderName, text: &str) {
        if let Some(value) = value(text) {
            self.headers.insert(name, value);
        }
    }
}

/// A text as a header carries it: as it is, or in base64 when anything in it could be changed or misread on the
/// way.
pub(crate) fn value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    if is_plain {
        return HeaderValue::from_str(text).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))).ok()
}

/// How long a server asks to be left alone: seconds, or until a date. None if it cannot be read.
pub(crate) fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

/// Which request a line is the answer to, if it is one.
pub(crate) fn answered(line: &[u8]) -> Option<u64> {
    match message::decode(line) {
        Ok(message::Message::Answer { id, .. }) => Some(id),
        _ => None,
    }
}

/// Whether a line is the answer to this request.
pub(crate) fn answers(line: &[u8], id: u64) -> bool {
    answered(line) == Some(id)
}
