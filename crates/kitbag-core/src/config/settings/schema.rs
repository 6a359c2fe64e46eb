//! The JSON Schema of `kitbag.toml`, for editors.

use serde_json::{Map, Value, json};

use super::keys::{self, Key, ROOT, Shape, joined};
use super::not_yet::{NOT_YET, is_not_yet};

/// The schema, made from the same table the file is checked by.
pub fn json_schema() -> Value {
    let mut schema = of("", &Shape::Table(ROOT));
    if let Some(map) = schema.as_object_mut() {
        map.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        map.insert("title".into(), "kitbag.toml".into());
    }
    schema
}

/// The schema of a value at a path.
fn of(path: &str, shape: &Shape) -> Value {
    match shape {
        Shape::Text => json!({"type": "string"}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Count => json!({"type": "integer", "minimum": 0}),
        Shape::Price => json!({"type": "number", "minimum": 0}),
        Shape::Duration => json!({"type": "string", "pattern": r"^[0-9.]+ *(ms|s|m|min|h)$"}),
        Shape::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Shape::Variables => {
            json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"const": "all"}]})
        }
        Shape::OneOf(words) => json!({"type": "string", "enum": words}),
        Shape::Words(words) => json!({"type": "array", "items": {"type": "string", "enum": words}}),
        Shape::Hosts => {
            json!({"type": "array", "items": {"type": "string", "enum": keys::hosts().collect::<Vec<_>>()}})
        }
        Shape::Limits => {
            let row = json!({"type": ["integer", "string"], "minimum": 1, "pattern": r"^[0-9.]+ *(B|KiB|MiB|GiB|kB|KB|MB|GB|ms|s|m|min|h)?$"});
            let rows: Map<String, Value> =
                keys::limits().map(|name| (name.to_owned(), row.clone())).collect();
            json!({"type": "object", "properties": rows, "additionalProperties": false})
        }
        Shape::Any => json!({}),
        Shape::Table(keys) => {
            let properties: Map<String, Value> = keys
                .iter()
                .map(|key| (key.name.to_owned(), described(&joined(path, key.name), key)))
                .collect();
            json!({"type": "object", "properties": properties, "additionalProperties": false})
        }
        Shape::Named(inner) => {
            json!({"type": "object", "additionalProperties": of(&joined(path, "*"), inner)})
        }
        Shape::List(inner) => json!({"type": "array", "items": of(path, inner)}),
    }
}

fn described(path: &str, key: &Key) -> Value {
    let mut schema = of(path, &key.shape);
    let mut what = key.what.to_owned();
    if is_not_yet(path) {
        what.push_str(" (not supported yet)");
    }
    if let Some(row) = NOT_YET.iter().find(|row| row.path == path && !row.values.is_empty()) {
        what.push_str(&format!(" (not supported yet: {})", row.values.join(", ")));
    }
    if let Some(map) = schema.as_object_mut() {
        map.insert("description".into(), what.into());
    }
    schema
}
