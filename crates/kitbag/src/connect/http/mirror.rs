//! Parameters of tools that a server wants repeated in headers, so that what stands between us can route by them.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use kitbag_core::catalog::Rejected;
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use super::super::list::ToolList;
use super::headers::value;

/// The mark on a parameter.
const MARK: &str = "x-mcp-header";
/// What a value may be long, so that no argument becomes a request nobody takes.
const LONGEST: usize = 8192;
/// How deep marks are looked for; the schema itself is checked by the catalog.
const DEEPEST: usize = 64;

/// One parameter and its header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mirror {
    path: Vec<String>,
    header: HeaderName,
}

/// The marked parameters of every tool of a server, by the tool's name.
#[derive(Debug, Default)]
pub(crate) struct Mirrors(Mutex<HashMap<String, Vec<Mirror>>>);

impl Mirrors {
    /// Takes note of what a list marks. A tool whose marks break the rules is left out of it.
    pub(crate) fn learn(&self, list: &mut ToolList) {
        let mut found = HashMap::new();
        let mut rejected = Vec::new();
        list.tools.retain(|tool| {
            if !tool.raw.get().contains(MARK) {
                return true;
            }
            let schema = serde_json::from_str::<Value>(tool.raw.get()).ok();
            let schema = schema.and_then(|mut tool| Some(tool.get_mut("inputSchema")?.take()));
            match schema.map_or(Ok(Vec::new()), |schema| marks(&schema)) {
                Ok(mirrors) => {
                    found.insert(tool.name.to_string(), mirrors);
                    true
                }
                Err(why) => {
                    rejected.push(Rejected::new(tool.name.as_str(), &why));
                    false
                }
            }
        });
        list.rejected.extend(rejected);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }

    /// The headers of one call.
    pub(crate) fn headers(&self, tool: &str, arguments: Option<&[u8]>) -> Vec<(HeaderName, HeaderValue)> {
        let mirrors = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned();
        let Some(mirrors) = mirrors.filter(|mirrors| !mirrors.is_empty()) else { return Vec::new() };
        let Some(arguments) = arguments.and_then(|json| serde_json::from_slice::<Value>(json).ok()) else {
            return Vec::new();
        };
        let one = |mirror: Mirror| {
            let found = mirror.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            let text = match found {
                Value::String(text) => text.clone(),
                Value::Bool(yes) => yes.to_string(),
                Value::Number(number) => number.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((mirror.header, value(&text).filter(|value| value.len() <= LONGEST)?))
        };
        mirrors.into_iter().filter_map(one).collect()
    }
}

/// The marks of a schema, or which rule one of them breaks.
fn marks(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    reachable(schema, &mut Vec::new(), &mut found)?;
    // A mark anywhere else could not be found in the arguments without guessing.
    if count(schema, 0) != found.len() {
        return Err(format!("{MARK} is set where there is no parameter"));
    }
    let mut names = HashSet::new();
    match found.iter().find(|mirror| !names.insert(mirror.header.clone())) {
        Some(mirror) => Err(format!("{} is used twice", mirror.header)),
        None => Ok(found),
    }
}

/// Follows `properties` alone.
fn reachable(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
    if DEEPEST <= path.len() {
        return Ok(());
    }
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            let header = mark.as_str().and_then(header_name);
            let header = header.ok_or_else(|| format!("{MARK} of {name:?} is not the name of a header"))?;
            let kind = property.get("type").and_then(Value::as_str).unwrap_or_default();
            if !matches!(kind, "string" | "integer" | "boolean") {
                return Err(format!("{MARK} is set on {name:?}, which is not a string, number or boolean"));
            }
            found.push(Mirror { path: path.clone(), header });
        }
        reachable(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// A name that can stand in a header; blanks, line ends and colons cannot.
fn header_name(mark: &str) -> Option<HeaderName> {
    if mark.is_empty() || 128 < mark.len() {
        return None;
    }
    HeaderName::from_bytes(format!("mcp-param-{mark}").as_bytes()).ok()
}

/// All marks, wherever they stand. A parameter that is itself called so is none.
fn count(schema: &Value, depth: usize) -> usize {
    if 2 * DEEPEST < depth {
        return 0;
    }
    match schema {
        Value::Array(items) => items.iter().map(|item| count(item, depth + 1)).sum(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match key.as_str() {
                MARK => 1,
                "properties" => {
                    value.as_object().map_or(0, |map| map.values().map(|value| count(value, depth + 1)).sum())
                }
                // Values to compare with are no schemas.
                "const" | "enum" | "default" | "examples" => 0,
                _ => count(value, depth + 1),
            })
            .sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
