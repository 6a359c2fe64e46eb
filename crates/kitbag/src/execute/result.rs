//! What a call came back with.

use std::time::Duration;

use kitbag_core::schema::Coercion;
use kitbag_core::text::Redactor;
use kitbag_core::{ErrorKind, ServerName, Transport};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::ContentBlock;
use super::convert::neutral_json;

/// The result of a tool call. A tool that reports a failure of its own has a result, too: see `is_error`.
#[derive(Clone, Debug, Serialize)]
pub struct CallResult {
    /// Its content, each block with its type.
    pub content: Vec<ContentBlock>,
    /// Its structured content; copies of binary content in it are left out.
    pub structured: Option<Value>,
    /// Whether the tool says it failed.
    pub is_error: bool,
    /// The server's own `_meta`, as received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// The result as its server wrote it, where [`ResultSize::AsReceived`](crate::ResultSize::AsReceived) asked for it, or
    /// where it asks for input of a caller that brings it ([`CallOptions::input`](crate::CallOptions::input)); content,
    /// structured content and `_meta` are then left in it.
    #[serde(skip)]
    pub raw: Option<Box<RawValue>>,
    /// How the call went.
    pub info: CallInfo,
}

/// Facts about a call: server, transport, duration, retries, converted arguments.
#[derive(Clone, Debug, Serialize)]
pub struct CallInfo {
    /// Whose tool it was.
    pub server: ServerName,
    /// What the server calls it.
    pub tool: String,
    /// How the server is reached; none for a local tool.
    pub transport: Option<Transport>,
    /// How long it took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
    /// How often it had to be sent again.
    pub retries: u32,
    /// Whether a hook answered instead of the server.
    pub cache_hit: bool,
    /// Arguments that were converted to the type the schema asks for.
    pub coerced: Vec<Coercion>,
    /// The handle to read the rest by, when only the beginning is here.
    pub handle: Option<String>,
    /// Remarks about the result; nothing was lost by them.
    pub notes: Vec<String>,
}

impl CallInfo {
    /// What a hook says that answers a call itself.
    pub fn new(server: ServerName, tool: impl Into<String>) -> Self {
        Self {
            server,
            tool: tool.into(),
            transport: None,
            took: Duration::ZERO,
            retries: 0,
            cache_hit: false,
            coerced: Vec::new(),
            handle: None,
            notes: Vec::new(),
        }
    }
}

fn millis<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

impl CallResult {
    /// A successful result of one text.
    pub fn text(text: impl Into<String>, info: CallInfo) -> Self {
        let content = vec![ContentBlock::text(text)];
        Self { content, structured: None, is_error: false, meta: None, raw: None, info }
    }

    /// What a model is given: the content, or the structured content when there is no other.
    pub fn for_model(&self) -> Vec<ContentBlock> {
        match (&self.structured, self.content.is_empty()) {
            (Some(structured), true) => vec![ContentBlock::text(neutral_json(structured))],
            _ => self.content.iter().map(ContentBlock::neutral).collect(),
        }
    }

    /// The same without these secrets: for whoever shows it to a person or writes it to a file.
    pub fn masked(&self, redactor: &Redactor) -> Self {
        let mut result = self.clone();
        if !redactor.is_empty() {
            result.content.iter_mut().for_each(|block| *block = block.masked(redactor));
            result.structured = self.structured.as_ref().map(|value| redactor.mask_value(value));
            result.meta = result.meta.map(|meta| masked(meta, redactor));
            result.info.notes.iter_mut().for_each(|note| *note = redactor.mask(note).into_owned());
        }
        result
    }

    /// How it ended, when not well.
    pub fn kind(&self) -> Option<ErrorKind> {
        self.is_error.then_some(ErrorKind::ToolError)
    }
}

/// An object without these secrets.
pub(super) fn masked(fields: Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    match redactor.mask_value(&Value::Object(fields)) {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
