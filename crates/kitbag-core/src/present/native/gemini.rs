//! Definitions for Gemini, and what its JSON Schema lacks.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::definition::Definition;
use super::rewrite::{Dialect, Keys, RootForm, Rules};

pub(super) const RULES: Rules =
    Rules { keys: Keys::Narrow, dialect: Dialect::Gemini, root: RootForm::Free, items: true };

/// All tools. An empty list of declarations would be refused.
pub(super) fn tools(declarations: Vec<Value>) -> Value {
    if declarations.is_empty() {
        return json!([]);
    }
    // Moved, where `json!` would copy all of them.
    let tool = Map::from_iter([("functionDeclarations".to_owned(), Value::Array(declarations))]);
    Value::Array(vec![Value::Object(tool)])
}

pub(super) fn definition(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    one.write(&mut tool, "parametersJsonSchema");
    Value::Object(tool)
}

/// An object without properties would be refused; a function without parameters is not.
pub(super) fn open_api(one: Definition<'_>) -> Value {
    let is_bare = one.schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
    let mut tool = Map::new();
    one.write(&mut tool, "parameters");
    if is_bare {
        tool.shift_remove("parameters");
    }
    Value::Object(tool)
}

/// One schema, its parts done already, without the words that `parametersJsonSchema` does not know. What they
/// said goes into the description.
pub(super) fn adapt(schema: &mut Map<String, Value>, dropped: &mut BTreeSet<String>) {
    // Most schemas have none of them, and a look at the keys is cheaper than looking each of them up.
    if !schema.keys().any(|keyword| needs_care(keyword)) {
        return;
    }
    let mut hints = Vec::new();
    if let Some(Value::String(title)) = schema.shift_remove("title")
        && !schema.contains_key("description")
    {
        schema.insert("description".to_owned(), title.into());
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

/// Adds to a description what no keyword says.
pub(super) fn hint(schema: &mut Map<String, Value>, hints: &[String]) {
    if hints.is_empty() {
        return;
    }
    let hints = hints.join("; ");
    let text = match schema.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => hints,
        Some(text) => format!("{text} ({hints})"),
    };
    schema.insert("description".to_owned(), text.into());
}
