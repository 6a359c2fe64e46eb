//! The headers of a request: those of the configuration, and those the protocol repeats from the body.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kitbag_core::Secret;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::message;
use super::super::reason::{Reason, ReasonClass};
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

/// What a line is, and the headers that go with it.
#[derive(Debug, Default)]
pub(crate) struct About {
    /// The request it is, if it is one that somebody waits for.
    pub(crate) id: Option<u64>,
    pub(crate) method: String,
    /// The request it is about, if it takes one back.
    pub(crate) takes_back: Option<u64>,
    /// Whether it carries its protocol version itself.
    pub(crate) is_modern: bool,
    pub(crate) headers: HeaderMap,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    uri: Option<String>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default)]
    request_id: Option<u64>,
    #[serde(default, rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<String>,
}

impl About {
    /// Reads a line of ours.
    pub(crate) fn of(line: &[u8], mirrors: &Mirrors) -> Self {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(line) else { return Self::default() };
        let Some(method) = envelope.method else { return Self::default() };
        let params = envelope.params.and_then(|params| serde_json::from_str(params.get()).ok());
        let params: Params<'_> = params.unwrap_or_default();
        let version = params.meta.and_then(|meta| meta.version);
        let mut about = Self {
            id: envelope.id.and_then(|id| id.get().parse().ok()),
            method: method.to_owned(),
            takes_back: params.request_id,
            is_modern: version.is_some(),
            headers: HeaderMap::new(),
        };
        let Some(version) = version else { return about };
        about.put(VERSION, &version);
        about.put(METHOD, method);
        let name = match method {
            "tools/call" | "prompts/get" => params.name,
            "resources/read" => params.uri,
            _ => None,
        };
        if let Some(name) = name {
            about.put(NAME, &name);
            if method == "tools/call" {
                about.headers.extend(mirrors.headers(&name, params.arguments));
            }
        }
        about
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
