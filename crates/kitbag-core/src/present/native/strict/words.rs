//! Which words strict definitions take, and what becomes of the others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::Flavour;

const FORMATS: &[&str] =
    &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
/// The longest value that is put into words.
const LONGEST: usize = 120;

/// Whether a provider enforces a keyword with that value.
pub(super) fn is_known(flavour: Flavour, keyword: &str, value: &Value) -> bool {
    match keyword {
        "type"
        | "const"
        | "anyOf"
        | "$ref"
        | "properties"
        | "required"
        | "additionalProperties"
        | "items"
        | "description"
        | "title" => true,
        "enum" => {
            flavour == Flavour::OpenAi
                || value
                    .as_array()
                    .is_some_and(|list| !list.iter().any(|one| one.is_object() || one.is_array()))
        }
        "format" => value.as_str().is_some_and(|format| {
            FORMATS.contains(&format) || flavour == Flavour::Anthropic && format == "uri"
        }),
        "pattern" => value
            .as_str()
            .is_some_and(|pattern| !["(?=", "(?!", "(?<"].iter().any(|ahead| pattern.contains(ahead))),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "maxItems" => {
            flavour == Flavour::OpenAi
        }
        "minItems" => flavour == Flavour::OpenAi || value.as_u64().is_some_and(|least| least <= 1),
        _ => false,
    }
}

/// A keyword in words, if there is something to say.
pub(super) fn spoken(keyword: &str, value: &Value) -> Option<String> {
    if keyword.starts_with(['$', 'x'])
        || matches!(keyword, "deprecated" | "readOnly" | "writeOnly" | "discriminator")
    {
        return None;
    }
    if keyword == "default" && value.is_null() || keyword == "uniqueItems" && *value == Value::Bool(false) {
        return None;
    }
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    if LONGEST < text.chars().count() {
        return None;
    }
    Some(format!("{keyword}: {text}"))
}

/// The kinds a schema takes, if it says.
pub(super) fn kinds(schema: &Map<String, Value>) -> Option<Vec<String>> {
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(vec![kind.clone()]),
        Some(Value::Array(kinds)) => {
            return Some(kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect());
        }
        _ => {}
    }
    let values =
        schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    let kinds: BTreeSet<&str> = values
        .map(|value| match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        })
        .collect();
    if !kinds.is_empty() {
        return Some(kinds.into_iter().map(str::to_owned).collect());
    }
    schema.contains_key("properties").then(|| vec!["object".to_owned()])
}

/// Whether null is among what a strict schema takes.
pub(super) fn takes_null(schema: &Value) -> bool {
    let Value::Object(object) = schema else { return false };
    if let Some(Value::Array(branches)) = object.get("anyOf") {
        return branches.iter().any(takes_null);
    }
    let listed = |keyword: &str| match object.get(keyword) {
        Some(Value::Array(list)) => list.contains(&Value::Null),
        Some(value) => value.is_null(),
        None => true,
    };
    let kind = match object.get("type") {
        Some(Value::String(kind)) => kind == "null",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        _ => false,
    };
    kind && listed("enum") && listed("const")
}

/// The same or null.
pub(super) fn nullable(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
        return;
    }
    if object.contains_key("$ref") || object.contains_key("const") || object.contains_key("properties") {
        let mut inner = std::mem::take(object);
        let text = inner.shift_remove("description");
        object.insert("anyOf".to_owned(), Value::Array(vec![Value::Object(inner), json!({"type": "null"})]));
        object.extend(text.map(|text| ("description".to_owned(), text)));
        return;
    }
    match object.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        _ => {}
    }
    if let Some(Value::Array(list)) = object.get_mut("enum")
        && !list.contains(&Value::Null)
    {
        list.push(Value::Null);
    }
}

/// Whether definitions lead back to themselves.
pub(super) fn recursive(tables: &[(&str, Map<String, Value>)], root: &Map<String, Value>) -> bool {
    let mut leads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (keyword, table) in tables {
        for (name, schema) in table {
            let mut to = BTreeSet::new();
            references(schema, &mut to);
            leads.insert(format!("#/{keyword}/{name}"), to);
        }
    }
    let mut to = BTreeSet::new();
    root.values().for_each(|value| references(value, &mut to));
    if to.contains("#") || leads.values().any(|to| to.contains("#")) {
        return true;
    }
    // Take away what leads nowhere until nothing is left or only circles are.
    loop {
        let ends: Vec<String> = leads
            .iter()
            .filter(|(_, to)| !to.iter().any(|to| leads.contains_key(to)))
            .map(|(at, _)| at.clone())
            .collect();
        if ends.is_empty() {
            return !leads.is_empty();
        }
        ends.iter().for_each(|end| drop(leads.remove(end)));
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|inner| references(inner, found));
        }
        _ => {}
    }
}
