//! Writing requests, byte by byte: what the caller gives as JSON travels as given.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::ask::Offers;
use super::era::Era;

#[cfg(test)]
mod tests;

/// Who we say we are.
pub(crate) const CLIENT_INFO: &str =
    concat!(r#"{"name":"kitbag","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// The keys of `_meta` that are ours to write, whatever a caller gives under them.
const OWN_META: [&str; 4] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
];

/// One line: a request, a notification or an answer.
#[derive(Debug)]
pub(crate) struct Line(pub(crate) Vec<u8>);

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
pub(crate) struct Speech {
    pub(crate) era: Era,
    pub(crate) offers: Offers,
}

impl From<Era> for Speech {
    fn from(era: Era) -> Self {
        Self { era, offers: Offers::default() }
    }
}

/// A request of ours, written into `line`. The progress token is the id, so that a note finds its call without a
/// table.
pub(crate) fn request(mut line: Vec<u8>, id: u64, method: &str, params: Params<'_>, speech: Speech) -> Line {
    let size: usize = params.iter().map(|(key, value)| key.len() + value.as_given().len() + 6).sum();
    line.reserve(size + method.len() + 320);
    let mut digits = [0; 20];
    let id = decimal(id, &mut digits);
    push(&mut line, r#"{"jsonrpc":"2.0","id":"#);
    line.extend_from_slice(id);
    push(&mut line, r#","method":""#);
    push(&mut line, method);
    push(&mut line, r#"","params":{"#);
    for (key, value) in params.iter().filter(|(key, _)| *key != "_meta") {
        line.push(b'"');
        push(&mut line, key);
        push(&mut line, "\":");
        match value {
            Param::Json(json) => push_flat(&mut line, json),
            Param::Text(text) => push_text(&mut line, text),
        }
        line.push(b',');
    }
    push(&mut line, r#""_meta":{"progressToken":"#);
    line.extend_from_slice(id);
    if let Era::Modern = speech.era {
        push(&mut line, r#","io.modelcontextprotocol/protocolVersion":""#);
        push(&mut line, super::era::MODERN);
        push(&mut line, r#"","io.modelcontextprotocol/clientCapabilities":"#);
        push(&mut line, speech.offers.json());
        push(&mut line, r#","io.modelcontextprotocol/clientInfo":"#);
        push(&mut line, CLIENT_INFO);
    }
    if let Some((_, meta)) = params.iter().find(|(key, _)| *key == "_meta") {
        push_meta(&mut line, meta.as_given());
    }
    push(&mut line, "}}}\n");
    Line(line)
}

/// What the caller adds stands beside our own keys, not instead of them: a server that reads the last of two equal
/// keys would take a note for another call, or the request for one of another version.
fn push_meta(line: &mut Vec<u8>, meta: &str) {
    if meta.is_empty() {
        return;
    }
    let Ok(Members(members)) = serde_json::from_str(meta) else { return };
    for (key, value) in members.iter().filter(|(key, _)| !OWN_META.contains(&&**key)) {
        line.push(b',');
        push_text(line, key);
        line.push(b':');
        push_flat(line, value.get());
    }
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
pub(crate) fn notification(method: &str, params: &str) -> Line {
    let mut line = Vec::with_capacity(method.len() + params.len() + 64);
    push(&mut line, r#"{"jsonrpc":"2.0","method":""#);
    push(&mut line, method);
    push(&mut line, r#"","params":"#);
    push_flat(&mut line, params);
    push(&mut line, "}\n");
    Line(line)
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
            push(&mut line, &code.to_string());
            push(&mut line, r#","message":"#);
            push_text(&mut line, message);
            push(&mut line, "}");
        }
    }
    push(&mut line, "}\n");
    Line(line)
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
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

/// A number as text, written into the end of `digits`.
fn decimal(number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    &digits[at..]
}

/// JSON without line ends: outside of strings they are blanks, inside they cannot stand.
fn push_flat(line: &mut Vec<u8>, json: &str) {
    let from = line.len();
    push(line, json);
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        line[from..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    }
}
