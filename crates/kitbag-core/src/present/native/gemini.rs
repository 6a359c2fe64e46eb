//! Gemini: `parametersJsonSchema`, and the older `parameters` in a part of OpenAPI.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::ToolAnswer;
use super::decode::{list, push, texts};
use super::definition::Definition;
use super::describe::hint;
use super::encode::{Block, joined};
use super::provider::{ProviderRow, SchemaForm};
use super::rewrite::{Keys, RootForm, Rules, SchemaDialect};
use crate::present::{Intent, ModelRequest};

pub(super) const JSON_SCHEMA: ProviderRow = ProviderRow {
    name: "gemini",
    options: &["google", "gemini"],
    place: |_| {},
    most_tools: None,
    description: None,
    form: SchemaForm::Json(Rules {
        keys: Keys::Narrow,
        dialect: SchemaDialect::Gemini,
        root: RootForm::Free,
        items: true,
    }),
    // Said once for a request, by its calling mode.
    strict: None,
    define: |one| {
        let mut tool = Map::new();
        one.write(&mut tool, "parametersJsonSchema");
        Value::Object(tool)
    },
    list: tools,
    decode: reply,
    encode: message,
};

pub(super) const OPEN_API: ProviderRow = ProviderRow {
    name: "gemini-openapi",
    options: &["google", "gemini", "gemini-openapi"],
    form: SchemaForm::OpenApi,
    define: open_api,
    ..JSON_SCHEMA
};

/// All tools. An empty list of declarations would be refused.
fn tools(declarations: Vec<Value>) -> Value {
    if declarations.is_empty() {
        return json!([]);
    }
    // Moved, where `json!` would copy all of them.
    let tool = Map::from_iter([("functionDeclarations".to_owned(), Value::Array(declarations))]);
    Value::Array(vec![Value::Object(tool)])
}

/// An object without properties would be refused; a function without parameters is not.
fn open_api(one: Definition<'_>) -> Value {
    let is_bare = one.schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    let mut tool = Map::new();
    one.write(&mut tool, "parameters");
    if is_bare {
        tool.shift_remove("parameters");
    }
    Value::Object(tool)
}

fn reply(reply: &Value, asked: &mut Vec<ModelRequest>) {
    let candidate = reply.get("candidates").and_then(|candidates| candidates.get(0));
    let content = candidate.map_or(Some(reply), |candidate| candidate.get("content"));
    let parts = content.and_then(|content| content.get("parts"));
    for part in list(parts) {
        let call = part.get("functionCall").or(part.get("function_call"));
        if let Some(call) = call.filter(|call| call.is_object()) {
            push(call.get("id"), call.get("name"), call.get("args"), asked);
        } else if part.get("thought") != Some(&Value::Bool(true)) {
            texts(part.get("text"), asked);
        }
    }
    let ended = candidate.and_then(|candidate| candidate.get("finishReason")).and_then(Value::as_str);
    if matches!(ended, Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL")) {
        let repair = "The function call could not be read. Make it again: one call, by one of the names given, \
                      with arguments that fit its parameters.";
        asked.push(ModelRequest::besides(Intent::Malformed { repair: repair.to_owned() }));
    }
}

/// One message for all results of a turn.
fn message(answers: &[ToolAnswer]) -> Vec<Value> {
    if answers.is_empty() {
        return Vec::new();
    }
    vec![json!({"role": "user", "parts": answers.iter().flat_map(parts).collect::<Vec<_>>()})]
}

fn parts(answer: &ToolAnswer) -> Vec<Value> {
    // A result without the name of a function would be refused.
    if answer.tool.is_empty() {
        let part = |block: Block<'_>| match block {
            Block::Media { mime, data, .. } if is_known(mime) => {
                json!({"inlineData": {"mimeType": mime, "data": data}})
            }
            block => json!({"text": block.text()}),
        };
        let parts: Vec<Value> = answer.blocks().map(part).collect();
        return if parts.is_empty() { vec![json!({"text": answer.text()})] } else { parts };
    }
    let mut media = Vec::new();
    let mut words = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Media { mime, data, .. } if is_known(mime) => {
                media.push(json!({"inlineData": {"mimeType": mime, "data": data}}));
            }
            block => words.push(block.text()),
        }
    }
    if !media.is_empty() {
        words.push(format!("[{} attached]", media.len()));
    }
    let key = if answer.is_error { "error" } else { "result" };
    let mut response = Map::new();
    response.insert("name".to_owned(), answer.tool.as_str().into());
    response.insert("response".to_owned(), json!({ key: joined(words.into_iter()) }));
    if let Some(id) = &answer.id {
        response.insert("id".to_owned(), id.as_str().into());
    }
    let mut parts = vec![json!({ "functionResponse": response })];
    parts.extend(media);
    parts
}

fn is_known(mime: &str) -> bool {
    matches!(
        mime,
        "image/png"
            | "image/jpeg"
            | "image/webp"
            | "image/heic"
            | "image/heif"
            | "application/pdf"
            | "audio/wav"
            | "audio/mp3"
            | "audio/mpeg"
            | "audio/aiff"
            | "audio/aac"
            | "audio/ogg"
            | "audio/flac"
    )
}

/// One schema, its parts done already, without the words that `parametersJsonSchema` does not know. What they
/// said goes into the description.
pub(super) fn adapt(schema: &mut Map<String, Value>, dropped: &mut BTreeSet<String>) {
    // Most schemas have none of them, and a look at the keys is cheaper than looking each of them up.
    if !schema.keys().any(|keyword| needs_care(keyword)) {
        return;
    }
    let mut hints = Vec::new();
    if let Some(Value::String(title)) = schema.shift_remove("title") {
        if schema.contains_key("description") {
            dropped.insert("title".to_owned());
        } else {
            schema.insert("description".to_owned(), title.into());
        }
    }
    for keyword in ["discriminator", "examples"] {
        if schema.shift_remove(keyword).is_some() {
            dropped.insert(keyword.to_owned());
        }
    }
    match schema.shift_remove("const") {
        Some(value @ (Value::String(_) | Value::Number(_))) => {
            let kind = if value.is_string() { "string" } else { "number" };
            schema.entry("type").or_insert_with(|| kind.into());
            schema.insert("enum".to_owned(), json!([value]));
        }
        Some(value) => {
            dropped.insert("const".to_owned());
            hints.push(format!("always {value}"));
        }
        None => {}
    }
    for (keyword, words) in [("exclusiveMinimum", "more than"), ("exclusiveMaximum", "less than")] {
        if let Some(value) = schema.shift_remove(keyword) {
            dropped.insert(keyword.to_owned());
            hints.push(format!("{words} {value}"));
        }
    }
    let textual = schema.get("type").is_none_or(|kind| speaks_of(kind, "string"));
    if textual && let Some(Value::String(format)) = schema.shift_remove("format") {
        dropped.insert("format".to_owned());
        hints.push(format!("format: {format}"));
    }
    hint(schema, &hints);
    // Nothing but other `$…` may stand beside a reference.
    if schema.keys().any(|key| !key.starts_with('$'))
        && let Some(reference) = schema.shift_remove("$ref")
    {
        let keyword = if schema.contains_key("anyOf") { "allOf" } else { "anyOf" };
        schema.insert(keyword.to_owned(), json!([{"$ref": reference}]));
    }
}

/// Keywords that may have to be said in another way.
fn needs_care(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "discriminator"
            | "examples"
            | "const"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "format"
            | "$ref"
    )
}

/// Whether a `type` names a kind.
pub(super) fn speaks_of(kinds: &Value, kind: &str) -> bool {
    match kinds {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}
