//! From what a server answered to content with types. What is odd is brought into shape; what is broken is
//! kept as it is and said.

use std::collections::HashSet;
use std::sync::OnceLock;

use base64::Engine as _;
use kitbag_core::text::{Redactor, neutral, visible};
use kitbag_core::{ErrorKind, Limits};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::CallError;
use super::plain::plain;
use super::result::masked;
use super::weight::{as_text, too_much};

/// The most of a server's words in a sentence of ours.
const SHORT: usize = 200;

/// One content block of a tool's result, as received: text, image, audio, resource or link.
#[derive(Clone, Debug)]
pub struct ContentBlock(Form);

#[derive(Clone, Debug)]
enum Form {
    /// A type and a text, as most are; the value is made for whoever asks for it.
    Text(String, OnceLock<Value>),
    /// Anything else.
    Other(Value),
}

impl PartialEq for ContentBlock {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Text(text, _), Form::Text(other, _)) => text == other,
            _ => self.as_value() == other.as_value(),
        }
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_value().serialize(serializer)
    }
}

impl ContentBlock {
    /// A piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self(Form::Text(text.into(), OnceLock::new()))
    }

    pub(crate) fn other(value: Value) -> Self {
        Self(Form::Other(value))
    }

    /// `text`, `image`, `audio`, `resource`, `resource_link`, or what else a server calls it.
    pub fn kind(&self) -> &str {
        match &self.0 {
            Form::Text(..) => "text",
            Form::Other(value) => value["type"].as_str().unwrap_or("unknown"),
        }
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Form::Text(text, _) => Some(text),
            Form::Other(value) => (self.kind() == "text").then(|| value["text"].as_str()).flatten(),
        }
    }

    /// The bytes of an image, a sound or an embedded file, with their type.
    pub fn bytes(&self) -> Option<(String, Vec<u8>)> {
        let Form::Other(value) = &self.0 else { return None };
        let holder = if self.kind() == "resource" { &value["resource"] } else { value };
        let data = holder.get("data").or_else(|| holder.get("blob"))?.as_str()?;
        let kind = holder["mimeType"].as_str().unwrap_or("application/octet-stream");
        let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
        Some((kind.to_owned(), bytes))
    }

    /// All of it, as received.
    pub fn as_value(&self) -> &Value {
        match &self.0 {
            Form::Text(text, value) => value.get_or_init(|| json!({"type": "text", "text": text})),
            Form::Other(value) => value,
        }
    }

    /// The same, for whoever keeps nothing else of it.
    pub fn into_value(self) -> Value {
        match self.0 {
            Form::Text(text, value) => {
                value.into_inner().unwrap_or_else(|| json!({"type": "text", "text": text}))
            }
            Form::Other(value) => value,
        }
    }

    /// The same with nothing hidden in its texts; binary content stays as it is.
    pub fn neutral(&self) -> Self {
        match &self.0 {
            Form::Text(text, _) => Self::text(neutral(text).into_owned()),
            Form::Other(value) => Self::other(neutral_value(value)),
        }
    }

    /// The same without these secrets, those in base64 included.
    pub fn masked(&self, redactor: &Redactor) -> Self {
        Self::other(redactor.mask_value(self.as_value()))
    }

    /// How many bytes it takes.
    pub(crate) fn size(&self) -> usize {
        match self.as_text() {
            Some(text) => text.len(),
            None => self.as_value().to_string().len(),
        }
    }

    /// Whether it holds data that is no text.
    pub(crate) fn is_file(&self) -> bool {
        self.as_text().is_none() && self.data().is_some()
    }

    /// Data that stands in base64 in it.
    pub(crate) fn data(&self) -> Option<&str> {
        let Form::Other(value) = &self.0 else { return None };
        let holder = match self.kind() {
            "resource" => &value["resource"],
            "image" | "audio" => value,
            // What merely calls itself data is bounded like any text.
            _ => return None,
        };
        holder.get("data").or_else(|| holder.get("blob"))?.as_str()
    }
}

/// A value with nothing hidden in its texts.
pub(crate) fn neutral_value(value: &Value) -> Value {
    match value {
        Value::String(text) => neutral(text).into_owned().into(),
        Value::Array(items) => items.iter().map(neutral_value).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| (neutral(key).into_owned(), neutral_value(value));
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}

/// A value as JSON with nothing hidden in its texts, without a copy of it.
pub(crate) fn neutral_json(value: &Value) -> String {
    serde_json::to_string(&Neutral(value)).unwrap_or_default()
}

struct Neutral<'a>(&'a Value);

impl Serialize for Neutral<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::String(text) => serializer.serialize_str(&neutral(text)),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Neutral)),
            Value::Object(fields) => {
                serializer.collect_map(fields.iter().map(|(key, value)| (neutral(key), Neutral(value))))
            }
            other => other.serialize(serializer),
        }
    }
}

/// A result, taken apart.
#[derive(Debug, Default)]
pub(crate) struct Converted {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Option<Value>,
    pub(crate) is_error: bool,
    /// The server's own `_meta`.
    pub(crate) meta: Option<Map<String, Value>>,
    pub(crate) notes: Vec<String>,
}

impl Converted {
    /// Takes these secrets out.
    pub(crate) fn mask(&mut self, redactor: &Redactor) {
        if redactor.is_empty() {
            return;
        }
        self.content.iter_mut().for_each(|block| *block = block.masked(redactor));
        self.structured = self.structured.take().map(|value| redactor.mask_value(&value));
        self.meta = self.meta.take().map(|meta| masked(meta, redactor));
    }
}

/// Takes a result apart.
pub(crate) fn convert(raw: &RawValue, limits: &Limits) -> Result<Converted, CallError> {
    if let Some(why) = too_much(raw.get(), limits) {
        return Ok(as_text(raw.get(), why));
    }
    if let Some(converted) = plain(raw) {
        return Ok(converted);
    }
    let mut notes = Vec::new();
    let mut fields = match serde_json::from_str::<Value>(raw.get()) {
        Ok(Value::Object(fields)) => fields,
        Ok(Value::Null) | Err(_) => {
            return Err(CallError::new(
                ErrorKind::BadAnswer,
                "the server answered tools/call without a result",
            ));
        }
        Ok(Value::String(text)) => {
            return Ok(Converted { content: vec![ContentBlock::text(text)], ..Converted::default() });
        }
        Ok(Value::Array(items)) if !items.is_empty() && items.iter().all(|item| item["type"].is_string()) => {
            notes.push("its result is nothing but a list of content".to_owned());
            Map::from_iter([("content".to_owned(), Value::Array(items))])
        }
        Ok(other) => {
            return Ok(Converted {
                content: vec![ContentBlock::text(other.to_string())],
                ..Converted::default()
            });
        }
    };
    let is_error = is_error(fields.get("isError"), &mut notes);
    let structured = fields.shift_remove("structuredContent").filter(|value| !value.is_null());
    let meta = match fields.shift_remove("_meta") {
        Some(Value::Object(meta)) => Some(meta),
        _ => None,
    };
    let content = match fields.shift_remove("content") {
        None | Some(Value::Null) if structured.is_some() => Vec::new(),
        None | Some(Value::Null) => loose(&fields, &mut notes),
        Some(Value::Array(items)) => items.into_iter().filter_map(|item| block(item, &mut notes)).collect(),
        Some(single) => {
            notes.push("its content is not a list".to_owned());
            block(single, &mut notes).into_iter().collect()
        }
    };
    let structured = structured.map(|value| without_copies(value, &content));
    let notes = few(&notes, limits.remarks);
    Ok(Converted { content, structured, is_error, meta, notes })
}

/// The first notes, and how many there are beyond.
fn few(notes: &[String], most: usize) -> Vec<String> {
    let mut few: Vec<String> = notes.iter().take(most).map(|note| short(note)).collect();
    if most < notes.len() {
        few.push(format!("and {} more remarks", notes.len() - most));
    }
    few
}

/// A piece of what a server wrote, to be shown inside a sentence.
pub(crate) fn short(text: &str) -> String {
    let mut shown: String = visible(text).chars().take(SHORT).collect();
    if shown.chars().count() == SHORT {
        shown.push('…');
    }
    shown
}

/// Anything but no is a yes: a failure that is taken for success does more harm than the other way round.
fn is_error(value: Option<&Value>, notes: &mut Vec<String>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(other) => {
            notes.push(format!("its isError is {other}, which is neither true nor false"));
            !matches!(other.as_str(), Some("" | "false" | "no")) && *other != json!(0)
        }
    }
}

/// A result without content: what else it holds, as text.
fn loose(fields: &Map<String, Value>, notes: &mut Vec<String>) -> Vec<ContentBlock> {
    let own = |key: &&String| !matches!(key.as_str(), "_meta" | "isError" | "resultType");
    let rest: Map<String, Value> =
        fields.keys().filter(own).map(|key| (key.clone(), fields[key].clone())).collect();
    notes.push("its result has no content".to_owned());
    if rest.is_empty() { Vec::new() } else { vec![ContentBlock::text(Value::Object(rest).to_string())] }
}

fn block(value: Value, notes: &mut Vec<String>) -> Option<ContentBlock> {
    match value {
        Value::String(text) => {
            notes.push("a block of its content is bare text".to_owned());
            Some(ContentBlock::text(text))
        }
        Value::Object(fields) => {
            let block = ContentBlock::other(Value::Object(fields));
            if let Some(why) = broken(&block) {
                notes.push(why);
            }
            Some(block)
        }
        other => {
            notes.push(format!("a block of its content is {other} and is left out"));
            None
        }
    }
}

/// What is wrong with a block, if anything is.
fn broken(block: &ContentBlock) -> Option<String> {
    let fields = block.as_value();
    let data = |fields: &Value, kind: &str| {
        let data = fields.get("data").or_else(|| fields.get("blob")).and_then(Value::as_str);
        let valid = data.is_some_and(|data| base64::engine::general_purpose::STANDARD.decode(data).is_ok());
        (!valid).then(|| format!("the data of its {kind} is not base64"))
    };
    match block.kind() {
        "text" => fields["text"].as_str().is_none().then(|| "a text block holds no text".to_owned()),
        kind @ ("image" | "audio") => data(fields, kind),
        "resource" if fields["resource"]["uri"].as_str().is_none() => {
            Some("a resource has no uri".to_owned())
        }
        "resource" if fields["resource"]["text"].is_string() => None,
        "resource" => data(&fields["resource"], "resource"),
        "resource_link" => fields["uri"].as_str().is_none().then(|| "a link leads nowhere".to_owned()),
        "unknown" => Some("a block of its content has no type".to_owned()),
        kind => Some(format!(
            "a block of its content is of the unknown type {:?}",
            kind.chars().take(40).collect::<String>()
        )),
    }
}

/// Binary content that stands in the structured content a second time is left out there.
fn without_copies(value: Value, content: &[ContentBlock]) -> Value {
    let data: HashSet<&str> =
        content.iter().filter_map(ContentBlock::data).filter(|data| 64 <= data.len()).collect();
    fn walk(value: Value, data: &HashSet<&str>) -> Value {
        match value {
            Value::String(text) if data.contains(text.as_str()) => {
                format!("[{} bytes of base64, see content]", text.len()).into()
            }
            Value::Array(items) => items.into_iter().map(|item| walk(item, data)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| (key, walk(value, data))).collect())
            }
            other => other,
        }
    }
    if data.is_empty() { value } else { walk(value, &data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_about_a_result_are_bounded() {
        let blocks = vec![json!({"type": "x".repeat(1_000)}); 100];
        let raw = serde_json::value::to_raw_value(&json!({ "content": blocks })).unwrap();
        let notes = convert(&raw, &Limits::default()).unwrap().notes;
        assert_eq!((notes.len(), notes[20].as_str()), (21, "and 80 more remarks"));
        assert!(notes.iter().all(|note| note.len() < 200), "{notes:?}");
    }
}
