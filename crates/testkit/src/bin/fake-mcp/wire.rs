//! The messages: one parse per line that borrows from it, and answers put together from raw pieces.

use std::borrow::Cow;
use std::io::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
pub(crate) struct Message<'a> {
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) params: Params<'a>,
    #[serde(borrow)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) error: Option<&'a RawValue>,
}

/// The params of every request we know, in one.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub(crate) meta: Meta<'a>,
    pub(crate) cursor: Option<String>,
    #[serde(borrow)]
    pub(crate) protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) input_responses: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(crate) request_state: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) version: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/logLevel")]
    pub(crate) log_level: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

/// The answer to what is no message.
pub(crate) fn unreadable(line: &[u8]) -> Vec<u8> {
    match serde_json::from_slice::<IdOnly<'_>>(line).ok().and_then(|known| known.id) {
        Some(id) => error(id.get(), code::BAD_PARAMS, "invalid params", ""),
        None => error("null", code::PARSE, "parse error", ""),
    }
}

/// What can still be said about a message whose params are not what they should be.
#[derive(Deserialize)]
struct IdOnly<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// The params as they came, byte by byte.
#[derive(Deserialize)]
struct ParamsOnly<'a> {
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// The era in which one request is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Legacy,
    Modern,
}

/// One request with an id.
pub(crate) struct Request<'a> {
    pub(crate) id: &'a str,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Params<'a>,
    pub(crate) speech: Speech,
    /// The whole message as it came.
    pub(crate) line: &'a [u8],
}

impl<'a> Request<'a> {
    /// Read once more, so that calls which need only the parsed ones do not pay for it.
    pub(crate) fn raw_params(&self) -> &'a str {
        let only = serde_json::from_slice::<ParamsOnly<'a>>(self.line).ok();
        only.and_then(|only| only.params).map_or("", |raw| raw.get())
    }
}

pub(crate) mod code {
    //! Error codes of JSON-RPC and MCP.
    pub(crate) const PARSE: i64 = -32700;
    pub(crate) const NO_METHOD: i64 = -32601;
    pub(crate) const BAD_PARAMS: i64 = -32602;
    pub(crate) const INTERNAL: i64 = -32603;
    pub(crate) const BAD_HEADER: i64 = -32020;
    pub(crate) const BAD_VERSION: i64 = -32022;
    /// What servers of the legacy era answer below their own protocol.
    pub(crate) const TRANSPORT: i64 = -32000;
    pub(crate) const NO_SESSION: i64 = -32001;
}

/// A result whose members `body` writes, without the braces around them.
pub(crate) fn result(id: &str, speech: Speech, body: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut line = Vec::with_capacity(256);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id.as_bytes());
    line.extend_from_slice(b",\"result\":{");
    let before = line.len();
    body(&mut line);
    if speech == Speech::Modern {
        if before < line.len() {
            line.push(b',');
        }
        line.extend_from_slice(b"\"resultType\":\"complete\"");
    }
    line.extend_from_slice(b"}}\n");
    line
}

/// The result of a tool that says only one text; `text` is JSON already.
pub(crate) fn text_result(id: &str, speech: Speech, text: &str) -> Vec<u8> {
    result(id, speech, |line| text_content(line, text))
}

/// A result with the members of an object.
pub(crate) fn members(request: &Request<'_>, object: &serde_json::Value) -> Vec<u8> {
    let text = object.to_string();
    result(request.id, request.speech, |line| line.extend_from_slice(&text.as_bytes()[1..text.len() - 1]))
}

pub(crate) fn text_content(line: &mut Vec<u8>, text: &str) {
    line.extend_from_slice(b"\"content\":[{\"type\":\"text\",\"text\":");
    line.extend_from_slice(text.as_bytes());
    line.extend_from_slice(b"}]");
}

/// An error; `data` is JSON, empty for none.
pub(crate) fn error(id: &str, code: i64, message: &str, data: &str) -> Vec<u8> {
    let comma = if data.is_empty() { "" } else { ",\"data\":" };
    let message = quoted(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}{comma}{data}}}}}\n"
    )
    .into_bytes()
}

/// A notification; `params` is JSON.
pub(crate) fn note(method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n").into_bytes()
}

/// A request of ours; `id` and `params` are JSON.
pub(crate) fn request(id: &str, method: &str, params: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n").into_bytes()
}

pub(crate) fn progress(line: &mut Vec<u8>, token: &str, done: usize, total: usize) {
    let _ = writeln!(
        line,
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\
         \"progress\":{done},\"total\":{total}}}}}"
    );
}

pub(crate) fn log(line: &mut Vec<u8>, number: usize) {
    let _ = writeln!(
        line,
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"level\":\"info\",\
         \"logger\":\"fake\",\"data\":\"note {number}\"}}}}"
    );
}

/// Any text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The same JSON with everything beyond ASCII written as `\uXXXX`.
pub(crate) fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut units = [0; 2];
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    text
}

/// A JSON value as a word: strings without their quotes.
pub(crate) fn bare(raw: &RawValue) -> String {
    bare_text(raw.get())
}

/// The same for the JSON text of an id.
pub(crate) fn bare_text(raw: &str) -> String {
    serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned())
}

/// The modern way to ask: one question under `key`, and a state to be sent back.
pub(crate) fn input_required(id: &str, key: &str, question: (&str, &str), state: &str) -> Vec<u8> {
    let ((method, params), key, state) = (question, quoted(key), quoted(state));
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"input_required\",\"inputRequests\":\
         {{{key}:{{\"method\":\"{method}\",\"params\":{params}}}}},\"requestState\":{state}}}}}\n"
    )
    .into_bytes()
}
