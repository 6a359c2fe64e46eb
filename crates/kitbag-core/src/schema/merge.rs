//! Two schemas that both hold, said as one.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Levels of nesting followed.
const DEEPEST: usize = 32;

/// Words that say something about each other.
const TOGETHER: &[&[&str]] = &[
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["prefixItems", "items", "additionalItems", "unevaluatedItems", "contains"],
];

/// Adds to `base` what `part` asks for; what one schema cannot say is named in `lost`.
pub(crate) fn merge(base: &mut Map<String, Value>, part: &Map<String, Value>, lost: &mut BTreeSet<String>) {
    both(base, part, lost, DEEPEST);
}

fn both(base: &mut Map<String, Value>, part: &Map<String, Value>, lost: &mut BTreeSet<String>, room: usize) {
    if room == 0 {
        lost.insert("allOf".to_owned());
        return;
    }
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        // It speaks of the properties beside it, which are about to be others.
        if closes(base, keyword) && !knows(base, part) || closes(part, keyword) && !knows(part, base) {
            lost.insert(keyword.to_owned());
        }
    }
    for group in TOGETHER {
        let of = |schema: &Map<String, Value>| -> Vec<_> {
            group.iter().filter_map(|keyword| Some((*keyword, schema.get(*keyword)?.clone()))).collect()
        };
        let (ours, theirs) = (of(base), of(part));
        let only_items = ours.iter().chain(&theirs).all(|(keyword, _)| *keyword == "items");
        if !ours.is_empty() && !theirs.is_empty() && ours != theirs && !only_items {
            lost.insert((*group)[0].to_owned());
        }
    }
    for (keyword, theirs) in part {
        let Some(ours) = base.get_mut(keyword) else {
            base.insert(keyword.clone(), theirs.clone());
            continue;
        };
        if ours == theirs {
            continue;
        }
        if !one(keyword, ours, theirs, lost, room) {
            lost.insert(keyword.clone());
        }
    }
}

fn closes(schema: &Map<String, Value>, keyword: &str) -> bool {
    schema.get(keyword).is_some_and(|rest| *rest != Value::Bool(true))
}

/// Whether all properties of the one are named by the other.
fn knows(schema: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let names = |schema: &Map<String, Value>| match schema.get("properties") {
        Some(Value::Object(named)) => named.keys().cloned().collect(),
        _ => BTreeSet::new(),
    };
    !other.contains_key("patternProperties") && names(other).is_subset(&names(schema))
}

/// Both values of one keyword in the first; whether that could be done.
fn one(keyword: &str, ours: &mut Value, theirs: &Value, lost: &mut BTreeSet<String>, room: usize) -> bool {
    match (keyword, &mut *ours, theirs) {
        ("properties" | "$defs" | "definitions", Value::Object(ours), Value::Object(theirs)) => {
            for (name, theirs) in theirs {
                match (ours.get_mut(name), theirs) {
                    (None, _) => drop(ours.insert(name.clone(), theirs.clone())),
                    (Some(ours), theirs) if ours == theirs => {}
                    (Some(Value::Object(ours)), Value::Object(theirs)) => both(ours, theirs, lost, room - 1),
                    _ => return false,
                }
            }
        }
        ("items" | "additionalProperties", Value::Object(ours), Value::Object(theirs)) => {
            both(ours, theirs, lost, room - 1);
        }
        ("required", Value::Array(ours), Value::Array(theirs)) => {
            let new: Vec<_> = theirs.iter().filter(|name| !ours.contains(name)).cloned().collect();
            ours.extend(new);
        }
        ("enum", Value::Array(ours), Value::Array(theirs)) => {
            ours.retain(|value| theirs.contains(value));
            return !ours.is_empty();
        }
        ("type", _, _) => {
            let Some(kind) = kinds(ours, theirs) else { return false };
            *ours = kind;
        }
        (
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" | "minContains",
            _,
            _,
        ) => {
            let (Some(a), Some(b)) = (ours.as_f64(), theirs.as_f64()) else { return false };
            if a < b {
                *ours = theirs.clone();
            }
        }
        (
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" | "maxContains",
            _,
            _,
        ) => {
            let (Some(a), Some(b)) = (ours.as_f64(), theirs.as_f64()) else { return false };
            if b < a {
                *ours = theirs.clone();
            }
        }
        // What nothing depends on: the outer schema's word counts.
        (
            "title" | "description" | "default" | "examples" | "example" | "deprecated" | "readOnly"
            | "writeOnly" | "$schema" | "$id" | "$comment",
            _,
            _,
        ) => {}
        _ => return false,
    }
    true
}

/// The kinds that both take.
fn kinds(ours: &Value, theirs: &Value) -> Option<Value> {
    let list = |kinds: &Value| match kinds {
        Value::Array(kinds) => kinds.iter().filter_map(|kind| kind.as_str().map(str::to_owned)).collect(),
        Value::String(kind) => vec![kind.clone()],
        _ => Vec::new(),
    };
    let (ours, theirs): (Vec<String>, Vec<String>) = (list(ours), list(theirs));
    let mut both = Vec::new();
    for kind in &ours {
        let within = |other: &Vec<String>, kind: &str| other.iter().any(|name| name == kind);
        match kind.as_str() {
            kind if within(&theirs, kind) => both.push(kind.to_owned()),
            "integer" if within(&theirs, "number") => both.push("integer".to_owned()),
            "number" if within(&theirs, "integer") => both.push("integer".to_owned()),
            _ => {}
        }
    }
    both.dedup();
    match both.as_slice() {
        [] => None,
        [kind] => Some(kind.as_str().into()),
        _ => Some(Value::Array(both.into_iter().map(Value::from).collect())),
    }
}
