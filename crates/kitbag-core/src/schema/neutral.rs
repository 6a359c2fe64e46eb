//! A schema as a model may read it: without a character that cannot be seen.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::keyword::is_table;
use super::tree::values;
use crate::text::{is_hidden, neutral, visible};

/// Levels of nesting; what a parser of JSON takes.
const DEEPEST: usize = 128;

/// The schema with every text that a model only reads made neutral. A name or value that the model would have
/// to send back, and that would change by this, is an error that shows it: what came back could not match.
pub fn neutral_schema(raw: &Value) -> Result<Cow<'_, Value>, String> {
    if !needs_change(raw)? {
        return Ok(Cow::Borrowed(raw));
    }
    schema(raw).map(Cow::Owned)
}

fn needs_change(raw: &Value) -> Result<bool, String> {
    let changes = |text: &str| matches!(neutral(text), Cow::Owned(_));
    let mut found = false;
    for (value, depth) in values(raw) {
        if DEEPEST < depth {
            return Err(format!("the schema is nested deeper than {DEEPEST} levels"));
        }
        found |= match value {
            Value::String(text) => changes(text),
            Value::Object(object) => object.keys().any(|key| changes(key)),
            _ => false,
        };
    }
    Ok(found)
}

fn schema(value: &Value) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => Value::String(neutral(text).into_owned()),
        Value::Array(list) => Value::Array(list.iter().map(schema).collect::<Result<_, _>>()?),
        Value::Object(object) => {
            let mut copy = Map::new();
            for (key, inner) in object {
                let inner = match key.as_str() {
                    "enum" | "const" | "required" | "dependentRequired" | "$ref" | "$dynamicRef" => {
                        sent(key, inner)?
                    }
                    "pattern" => pattern(inner)?,
                    key if is_table(key) => table(inner)?,
                    _ => schema(inner)?,
                };
                copy.insert(name("key", key)?.to_owned(), inner);
            }
            Value::Object(copy)
        }
        other => other.clone(),
    })
}

/// Schemas by name: a property may be called `enum` without being one.
fn table(value: &Value) -> Result<Value, String> {
    let Value::Object(object) = value else { return schema(value) };
    let mut copy = Map::new();
    for (key, inner) in object {
        copy.insert(name("property", key)?.to_owned(), schema(inner)?);
    }
    Ok(Value::Object(copy))
}

/// A pattern says the same with every hidden character written out.
fn pattern(value: &Value) -> Result<Value, String> {
    let Value::String(text) = value else { return schema(value) };
    let mut copy = String::new();
    for c in text.chars() {
        if c.is_control() || is_hidden(c) {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| copy.push_str(&format!("\\u{unit:04x}")));
        } else {
            copy.push(c);
        }
    }
    Ok(Value::String(copy))
}

/// What travels back as it is.
fn sent(keyword: &str, value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => {
            name(keyword, text)?;
        }
        Value::Array(list) => list.iter().try_for_each(|inner| sent(keyword, inner).map(drop))?,
        Value::Object(object) => object.iter().try_for_each(|(key, inner)| {
            name(keyword, key)?;
            sent(keyword, inner).map(drop)
        })?,
        _ => {}
    }
    Ok(value.clone())
}

fn name<'a>(what: &str, text: &'a str) -> Result<&'a str, String> {
    match neutral(text) {
        Cow::Borrowed(_) => Ok(text),
        Cow::Owned(_) => {
            let shown: String = text.chars().take(60).collect();
            Err(format!("the {what} \"{}\" holds a control or invisible character", visible(&shown)))
        }
    }
}
