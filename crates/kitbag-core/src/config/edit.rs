//! Rewriting a file that a person also edits: one entry changes, every other byte stays.

use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

use super::tree::JSONC;

/// Why a file was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file cannot be parsed, so nobody knows what a change would break.
    #[error("the file is not valid JSON: {0}")]
    Broken(String),
    /// The container is something else than a map.
    #[error("{0:?} is not a map in this file")]
    NotAMap(String),
}

/// Sets `path[last]` in a JSON file to `value`, making the maps on the way as needed. An empty text counts
/// as an empty map.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let root = open(text)?;
    let mut map = root.object_value_or_create().ok_or_else(|| EditError::NotAMap("the file".into()))?;
    for key in way {
        map = inner(&map, key)?;
    }
    match map.get(last) {
        Some(property) => property.set_value(input(value)),
        None => {
            map.append(last, input(value));
        }
    }
    Ok(print(&root, text))
}

/// Removes `path[last]` from a JSON file; whether it was there.
pub fn remove(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(None) };
    let root = open(text)?;
    let mut map = root.object_value();
    for key in way {
        map = map.and_then(|map| map.object_value(key));
    }
    let Some(property) = map.and_then(|map| map.get(last)) else { return Ok(None) };
    property.remove();
    Ok(Some(print(&root, text)))
}

fn open(text: &str) -> Result<CstRootNode, EditError> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    CstRootNode::parse(body, &JSONC).map_err(|error| EditError::Broken(error.to_string()))
}

/// The tree printed back, with the byte order mark and the final line end the file had.
fn print(root: &CstRootNode, before: &str) -> String {
    let mark = if before.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let end = if before.trim().is_empty() { "\n" } else { "" };
    format!("{mark}{root}{end}")
}

fn inner(map: &CstObject, key: &str) -> Result<CstObject, EditError> {
    map.object_value_or_create(key).ok_or_else(|| EditError::NotAMap(key.to_owned()))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
