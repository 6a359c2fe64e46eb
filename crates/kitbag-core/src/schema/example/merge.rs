//! Two schemas that both hold, as one: enough of it to make a value.

use serde_json::{Map, Value, json};

/// Adds what `more` asks to `whole`.
pub(super) fn into(whole: &mut Map<String, Value>, more: Map<String, Value>) {
    for (keyword, value) in more {
        let both = match whole.shift_remove(&keyword) {
            Some(own) => both(&keyword, own, value),
            None => value,
        };
        whole.insert(keyword, both);
    }
}

fn both(keyword: &str, own: Value, more: Value) -> Value {
    match (keyword, own, more) {
        ("properties", Value::Object(mut own), Value::Object(more)) => {
            for (name, schema) in more {
                let schema = match own.shift_remove(&name) {
                    Some(first) if first != schema => json!({ "allOf": [first, schema] }),
                    _ => schema,
                };
                own.insert(name, schema);
            }
            Value::Object(own)
        }
        ("required", Value::Array(mut own), Value::Array(more)) => {
            own.extend(more);
            Value::Array(own)
        }
        ("enum", Value::Array(own), Value::Array(more)) => {
            Value::Array(own.into_iter().filter(|value| more.contains(value)).collect())
        }
        ("type", Value::Array(own), more) => {
            let taken = |kind: &Value| match &more {
                Value::Array(more) => more.contains(kind),
                one => one == kind,
            };
            Value::Array(own.into_iter().filter(taken).collect())
        }
        // The narrower of both.
        ("type", Value::String(own), Value::String(more)) if own == "number" => Value::String(more),
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", own, more) => {
            if own.as_f64() < more.as_f64() { more } else { own }
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", own, more) => {
            if more.as_f64() < own.as_f64() { more } else { own }
        }
        // Between no other properties and some, none is the safe side.
        ("additionalProperties", own, more) => {
            if more == Value::Bool(false) {
                more
            } else {
                own
            }
        }
        (_, own, _) => own,
    }
}
