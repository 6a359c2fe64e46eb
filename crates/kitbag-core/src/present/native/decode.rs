//! What a model's reply asks for, read from the shapes each provider sends. Only what was meant as a call is one;
//! what it says besides is said.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::Provider;
use crate::present::{Intent, ModelRequest};
use crate::schema::ExactJson;

/// Under which keys arguments are written.
pub(super) const ARGUMENTS: [&str; 5] = ["arguments", "args", "input", "parameters", "tool_inputs"];
/// Levels of nesting; what a parser of JSON takes.
const DEEPEST: usize = 128;

/// Reads a reply: the provider's whole answer, or the message in it.
pub fn decode(provider: Provider, reply: &Value) -> Vec<ModelRequest> {
    let mut asked = Vec::new();
    (provider.row().decode)(reply, &mut asked);
    asked
}

/// A reply in which arguments are text, as they were written. [`decode`] takes them so, whichever provider it is.
pub(in crate::present) fn reply_value(text: &str) -> serde_json::Result<Value> {
    with_raw_arguments(serde_json::from_str(text)?, DEEPEST)
}

fn with_raw_arguments(raw: &RawValue, room: usize) -> serde_json::Result<Value> {
    let text = raw.get();
    let Some(room) = room.checked_sub(1) else { return serde_json::from_str(text) };
    match text.as_bytes().first() {
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            items.into_iter().map(|item| with_raw_arguments(item, room)).collect()
        }
        Some(b'{') => {
            let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let field = |(key, inner): (String, &RawValue)| {
                let is_raw = ARGUMENTS.contains(&key.as_str()) && inner.get().starts_with('{');
                Ok((key, if is_raw { exact(inner.get()) } else { with_raw_arguments(inner, room)? }))
            };
            fields.into_iter().map(field).collect()
        }
        _ => serde_json::from_str(text),
    }
}

/// Arguments as text without blanks; what has a key twice is left to whoever checks it.
fn exact(text: &str) -> Value {
    ExactJson::parse(text).map_or_else(|_| text.to_owned(), |exact| exact.to_string()).into()
}

pub(super) fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Text, or blocks of it.
pub(super) fn texts(content: Option<&Value>, asked: &mut Vec<ModelRequest>) {
    match content {
        Some(Value::String(text)) if !text.trim().is_empty() => {
            asked.push(ModelRequest::besides(Intent::Say(text.clone())))
        }
        Some(Value::Array(blocks)) => {
            for block in blocks {
                texts(block.get("text").or(block.get("refusal")), asked);
            }
        }
        _ => {}
    }
}

/// One call. One that does not say of what is answered, too.
pub(super) fn push(
    id: Option<&Value>,
    name: Option<&Value>,
    arguments: Option<&Value>,
    asked: &mut Vec<ModelRequest>,
) {
    let name = name.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    // Namespaces that models make up for what they are given.
    let plain =
        ["functions.", "default_api.", "default_api:"].iter().find_map(|space| name.strip_prefix(space));
    let tool = plain.unwrap_or(name).to_owned();
    let id = id.and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    let intent = if tool.is_empty() {
        let repair = "A tool call had no name. Make it again with the name of the tool.".to_owned();
        Intent::Malformed { repair }
    } else {
        Intent::Call { tool: tool.clone(), arguments: text_of(arguments) }
    };
    asked.push(ModelRequest { id, tool, intent });
}

/// Arguments as text: some providers write them so, some as an object, some nothing, some text inside text.
fn text_of(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if matches!(text.trim(), "" | "null") => "{}".to_owned(),
        Some(Value::String(text)) if text.trim_start().starts_with('"') => {
            match serde_json::from_str::<Value>(text) {
                Ok(inner @ Value::String(_)) => text_of(Some(&inner)),
                _ => text.clone(),
            }
        }
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
