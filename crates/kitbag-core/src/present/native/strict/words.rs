//! Which words strict definitions take, and what becomes of the others.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::StrictRules;
use crate::schema::keyword::members;
use crate::schema::refs::{address, local};
use crate::schema::tree::{SchemaTree, references, schemas};

/// The longest value that is put into words.
const LONGEST: usize = 120;

/// Whether a provider enforces a keyword with that value.
pub(super) fn is_known(rules: &StrictRules, keyword: &str, value: &Value) -> bool {
    match keyword {
        "type"
        | "anyOf"
        | "$ref"
        | "properties"
        | "required"
        | "additionalProperties"
        | "items"
        | "description"
        | "title" => true,
        "const" => !(value.is_object() || value.is_array()),
        "enum" => {
            value.as_array().is_some_and(|list| !list.iter().any(|one| one.is_object() || one.is_array()))
        }
        "format" => value.as_str().is_some_and(|format| rules.formats.contains(&format)),
        "pattern" => value.as_str().is_some_and(is_plain_pattern),
        "minItems" => value.as_u64().is_some_and(|least| least <= rules.min_items),
        keyword => rules.keywords.contains(&keyword),
    }
}

/// Whether a pattern has only what every engine has: no look-around, no back-reference, no word boundary.
fn is_plain_pattern(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let is_odd = match (c, rest.peek()) {
            ('\\', Some(next)) => {
                let is_odd = next.is_ascii_alphanumeric() && !"dDwWsSnrtfv".contains(*next);
                rest.next();
                is_odd
            }
            ('(', Some('?')) => {
                rest.next();
                rest.peek() != Some(&':')
            }
            _ => false,
        };
        if is_odd {
            return false;
        }
    }
    true
}

/// A keyword in words, or nothing if there is nothing to say; an error where that would be too long.
pub(super) fn spoken(keyword: &str, value: &Value) -> Result<Option<String>, ()> {
    if keyword.starts_with(['$', 'x'])
        || keyword == "default" && value.is_null()
        || *value == Value::Bool(false) && keyword != "default"
    {
        return Ok(None);
    }
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    if LONGEST < text.chars().count() { Err(()) } else { Ok(Some(format!("{keyword}: {text}"))) }
}

/// A property that is named only in a part that need not hold, or has properties of its own there: it could not be given
/// where only what is named beside it can.
pub(super) fn hidden_name(root: &Value, schema: &Map<String, Value>) -> Option<String> {
    const CONDITIONS: [&str; 5] = ["if", "then", "else", "dependentSchemas", "dependencies"];
    let parts = CONDITIONS.iter().filter_map(|key| Some(members(key, schema.get(*key)?)));
    let parts: Vec<&Value> = parts.flatten().map(|member| member.schema).collect();
    let own = schema.get("properties").and_then(Value::as_object);
    let is_own = |name: &str| own.is_some_and(|own| own.contains_key(name));
    let tables = ["dependentRequired", "dependencies"].iter().filter_map(|key| schema.get(*key)?.as_object());
    let needed = tables.flat_map(Map::values).filter_map(Value::as_array).flatten().filter_map(Value::as_str);
    let mut hidden = needed.filter(|name| !is_own(name)).map(str::to_owned);
    hidden.next().or_else(|| {
        let applied = if parts.is_empty() { return None } else { SchemaTree::new(root).applied(parts) };
        let deep = |inner: &&Value| {
            inner
                .as_object()
                .into_iter()
                .flat_map(schemas)
                .any(|part| part.contains_key("properties") || part.contains_key("$ref"))
        };
        let is_hidden = |name: &&str| !is_own(name) || applied.property(name).iter().any(deep);
        applied.all_names().into_iter().find(is_hidden).map(str::to_owned)
    })
}

/// Whether a schema may take a value with a property and not without it, or the other way round.
pub(super) fn judges(schema: &Map<String, Value>) -> bool {
    let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
    let branches = |key: &str| schema.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_choice = |key: &&str| 1 < branches(key).iter().filter(|branch| !is_null(branch)).count();
    const OTHERS: [&str; 9] = [
        "if",
        "not",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "minProperties",
        "maxProperties",
        "contains",
        "uniqueItems",
    ];
    ["anyOf", "oneOf"].iter().any(is_choice) || OTHERS.iter().any(|key| schema.contains_key(*key))
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
    (!kinds.is_empty()).then(|| kinds.into_iter().map(str::to_owned).collect())
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
pub(super) fn recursive(root: &Value) -> bool {
    let targets = |schema: &Value| -> HashSet<usize> {
        let references = schema.as_object().into_iter().flat_map(references);
        references.filter_map(|reference| local(root, reference)).map(address).collect()
    };
    let tables = ["$defs", "definitions"].into_iter().filter_map(|keyword| root.get(keyword)?.as_object());
    let mut leads: HashMap<usize, HashSet<usize>> =
        tables.flat_map(Map::values).map(|schema| (address(schema), targets(schema))).collect();
    // Take away what leads nowhere until nothing is left or only circles are.
    let mut before = usize::MAX;
    while leads.len() < before {
        before = leads.len();
        let left: HashSet<usize> = leads.keys().copied().collect();
        leads.retain(|_, to| !to.is_disjoint(&left));
    }
    !leads.is_empty() || targets(root).contains(&address(root))
}
