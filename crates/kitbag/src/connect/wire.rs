//! Writing requests, byte by byte: what the caller gives as JSON travels as given.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use kitbag_core::Secret;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::era::Era;

#[cfg(test)]
mod tests;

/// The keys of `_meta` that are ours to write, whatever a caller gives under them.
const OWN_META: [&str; 4] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// How much a newer server may log about a request, as its caller says.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A method of the protocol; nearly all are known when we are built.
pub(crate) type MethodName = Cow<'static, str>;

/// One line on its way out, with what a transport has to know about it, so that nobody reads it again to learn that.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) bytes: Vec<u8>,
    pub(crate) kind: LineKind,
    /// Headers of this request alone, where its transport has any.
    pub(crate) headers: CallHeaders,
}

/// Headers that a caller gives with one call.
pub(crate) type CallHeaders = Option<Arc<[(String, Secret)]>>;

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A request of ours.
    Request {
        method: MethodName,
        era: Era,
        /// Where in the line the name stands that goes into a header, as a JSON string.
        name: Option<Range<usize>>,
        /// Where the arguments of a tool stand, as JSON.
        arguments: Option<Range<usize>>,
    },
    /// A notification of ours.
    Notification {
        method: MethodName,
        /// The request it takes back.
        takes_back: Option<u64>,
    },
    /// An answer to a request of theirs.
    Answer,
}

/// The parameters of a request, by key. Those under `_meta` are added to ours.
pub(crate) type Params<'a> = &'a [(&'a str, Param<'a>)];

/// One parameter of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Param<'a> {
    /// Already JSON.
    Json(&'a str),
    /// A text, which becomes a JSON string on the line, so that nobody has to make one before.
    Text(&'a str),
}

impl<'a> Param<'a> {
    fn as_given(self) -> &'a str {
        match self {
            Self::Json(given) | Self::Text(given) => given,
        }
    }
}

/// How a request is put: with which version, and with what the server may ask in return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speech<'a> {
    pub(crate) era: Era,
    /// Capabilities, as JSON.
    pub(crate) capabilities: &'a str,
}

impl From<Era> for Speech<'_> {
    fn from(era: Era) -> Self {
        Self { era, capabilities: "{}" }
    }
}

/// A request of ours, written into `line`. The progress token is the id, so that a note finds its call without a
/// table.
pub(crate) fn request(
    mut line: Vec<u8>,
    id: u64,
    method: MethodName,
    params: Params<'_>,
    speech: Speech<'_>,
    client: &str,
) -> Line {
    let size: usize = params.iter().map(|(key, value)| key.len() + value.as_given().len() + 6).sum();
    line.reserve(size + method.len() + 320);
    let mut digits = itoa::Buffer::new();
    let id = digits.format(id);
    push(&mut line, r#"{"jsonrpc":"2.0","id":"#);
    push(&mut line, id);
    push(&mut line, r#","method":""#);
    push(&mut line, &method);
    push(&mut line, r#"","params":{"#);
    // What newer servers want repeated in a header.
    let named = match &*method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => "",
    };
    let (mut name, mut arguments) = (None, None);
    for (key, value) in params.iter().filter(|(key, _)| *key != "_meta") {
        line.push(b'"');
        push(&mut line, key);
        push(&mut line, "\":");
        let from = line.len();
        match value {
            Param::Json(json) => push_flat(&mut line, json),
            Param::Text(text) => push_text(&mut line, text),
        }
        match *key {
            key if key == named => name = Some(from..line.len()),
            "arguments" => arguments = Some(from..line.len()),
            _ => {}
        }
        line.push(b',');
    }
    push(&mut line, r#""_meta":{"progressToken":"#);
    push(&mut line, id);
    if let Era::Modern = speech.era {
        push(&mut line, r#","io.modelcontextprotocol/protocolVersion":""#);
        push(&mut line, super::era::MODERN);
        push(&mut line, r#"","io.modelcontextprotocol/clientCapabilities":"#);
        push_flat(&mut line, speech.capabilities);
        push(&mut line, r#","io.modelcontextprotocol/clientInfo":"#);
        push(&mut line, client);
    }
    if let Some((_, meta)) = params.iter().find(|(key, _)| *key == "_meta") {
        push_meta(&mut line, meta.as_given(), speech.era);
    }
    push(&mut line, "}}}\n");
    Line { bytes: line, kind: LineKind::Request { method, era: speech.era, name, arguments }, headers: None }
}

/// What the caller adds stands beside our own keys, not instead of them: a server that reads the last of two equal
/// keys would take a note for another call, or the request for one of another version.
fn push_meta(line: &mut Vec<u8>, meta: &str, era: Era) {
    if meta.is_empty() {
        return;
    }
    let Ok(Members(members)) = serde_json::from_str(meta) else { return };
    // Older servers are told of a level by a request of its own.
    let is_theirs = |key: &str| !OWN_META.contains(&key) && (era == Era::Modern || key != LOG_LEVEL);
    for (key, value) in members.iter().filter(|(key, _)| is_theirs(key)) {
        line.push(b',');
        push_text(line, key);
        line.push(b':');
        push_flat(line, value.get());
    }
}

/// The members of a JSON object in their order, each value as given; none where it is no object.
pub fn members(object: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str(object.get()).ok().map(|Members(members)| members)
}

/// The members of a JSON object in their order, each value as given.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// A notification of ours.
pub(crate) fn notification(method: MethodName, params: &str) -> Line {
    let bytes = notified(&method, params);
    Line { bytes, kind: LineKind::Notification { method, takes_back: None }, headers: None }
}

/// That nobody waits for the answer to a request of ours any more.
pub(crate) fn cancelled(id: u64) -> Line {
    let method = Cow::Borrowed("notifications/cancelled");
    let bytes = notified(&method, &format!(r#"{{"requestId":{id},"reason":"no longer wanted"}}"#));
    Line { bytes, kind: LineKind::Notification { method, takes_back: Some(id) }, headers: None }
}

fn notified(method: &str, params: &str) -> Vec<u8> {
    let mut line = Vec::with_capacity(method.len() + params.len() + 64);
    push(&mut line, r#"{"jsonrpc":"2.0","method":""#);
    push(&mut line, method);
    push(&mut line, r#"","params":"#);
    push_flat(&mut line, params);
    push(&mut line, "}\n");
    line
}

/// An answer to a request of theirs.
pub(crate) fn answer(id: &RawValue, outcome: Result<&str, (i32, &str)>) -> Line {
    let mut line = Vec::with_capacity(128);
    push(&mut line, r#"{"jsonrpc":"2.0","id":"#);
    push_flat(&mut line, id.get());
    match outcome {
        Ok(result) => {
            push(&mut line, r#","result":"#);
            push_flat(&mut line, result);
        }
        Err((code, message)) => {
            push(&mut line, r#","error":{"code":"#);
            push(&mut line, itoa::Buffer::new().format(code));
            push(&mut line, r#","message":"#);
            push_text(&mut line, message);
            push(&mut line, "}");
        }
    }
    push(&mut line, "}\n");
    Line { bytes: line, kind: LineKind::Answer, headers: None }
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// The same onto a line. What most names are made of needs no look at each character.
fn push_text(line: &mut Vec<u8>, text: &str) {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) {
        line.push(b'"');
        push(line, text);
        line.push(b'"');
    } else {
        push(line, &quoted(text));
    }
}

fn push(line: &mut Vec<u8>, text: &str) {
    line.extend_from_slice(text.as_bytes());
}

/// JSON without line ends: outside of strings they are blanks, inside they cannot stand.
fn push_flat(line: &mut Vec<u8>, json: &str) {
    let from = line.len();
    push(line, json);
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        line[from..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}
