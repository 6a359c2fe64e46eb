//! A small value that a schema takes, to show how a tool is called.

use serde_json::{Map, Value};

use super::Schema;
use super::kinds::parts;
use super::refs::local;
use crate::model::Limits;

mod merge;
mod scalar;

/// Nested parts of a schema that are followed.
const DEEPEST: usize = 24;
/// Values of the schema copied for one try.
const MOST_STEPS: usize = 50_000;
/// Items or properties made only to reach a minimum.
const MOST_FILLED: u64 = 32;
/// Branches of a choice that are tried.
const BRANCHES: usize = 4;

/// A small valid value: what is required and nothing else. None if none was found.
pub fn example(schema: &Value) -> Option<Value> {
    let compiled = Schema::compile(schema, &Limits::default()).ok()?;
    let tries = [Trust::Annotations, Trust::Nothing].into_iter().flat_map(|trust| {
        (0..BRANCHES).map(move |branch| Maker { root: schema, trust, branch, salt: 0, left: MOST_STEPS })
    });
    tries.filter_map(|mut maker| maker.value(schema, DEEPEST)).find(|value| compiled.check(value).is_empty())
}

/// Whether `examples` and `default` are taken for true.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Annotations,
    Nothing,
}

struct Maker<'a> {
    root: &'a Value,
    trust: Trust,
    /// Which branch of each choice is taken.
    branch: usize,
    /// Makes items different from each other.
    salt: usize,
    left: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, room: usize) -> Option<Value> {
        let object = match schema {
            Value::Object(_) => self.flat(schema, room)?,
            Value::Bool(true) => Map::new(),
            _ => return None,
        };
        if let Some(given) = self.given(&object) {
            return Some(given);
        }
        match kind(&object) {
            "object" => self.object(&object, room - 1),
            "array" => self.array(&object, room - 1),
            "integer" => scalar::number(&object, scalar::Whole::Yes, self.salt),
            "number" => scalar::number(&object, scalar::Whole::No, self.salt),
            "boolean" => Some(Value::Bool(self.salt.is_multiple_of(2))),
            "null" => Some(Value::Null),
            _ => scalar::text(&object, self.salt).map(Value::String),
        }
    }

    /// The schema with what it refers to, its `allOf` and one branch of each choice in one piece.
    fn flat(&mut self, schema: &Value, room: usize) -> Option<Map<String, Value>> {
        self.left = self.left.checked_sub(weight(schema))?;
        let room = room.checked_sub(1).filter(|room| 0 < *room)?;
        let Value::Object(object) = schema else {
            return (*schema == Value::Bool(true)).then(Map::new);
        };
        let needed = object.iter().filter(|(keyword, _)| !is_aside(keyword));
        let mut whole: Map<_, _> = needed.map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
        if let Some(Value::String(reference)) = whole.shift_remove("$ref") {
            merge::into(&mut whole, self.flat(local(self.root, &reference)?, room)?);
        }
        whole.shift_remove("allOf");
        for part in parts(object, "allOf") {
            merge::into(&mut whole, self.flat(part, room)?);
        }
        for choice in ["anyOf", "oneOf"] {
            whole.shift_remove(choice);
            let branches = parts(object, choice);
            if branches.is_empty() {
                continue;
            }
            let turned = branches.iter().cycle().skip(self.branch % branches.len()).take(branches.len());
            let taken = turned.into_iter().find_map(|branch| self.flat(branch, room))?;
            merge::into(&mut whole, taken);
        }
        Some(whole)
    }

    /// A value that the schema itself gives.
    fn given(&self, object: &Map<String, Value>) -> Option<Value> {
        if let Some(value) = object.get("const") {
            return Some(value.clone());
        }
        if self.trust == Trust::Annotations {
            let example = parts(object, "examples").get(self.salt).or_else(|| object.get("example"));
            let default = || object.get("default").filter(|value| !value.is_null() && self.salt == 0);
            if let Some(value) = example.or_else(default) {
                return Some(value.clone());
            }
        }
        parts(object, "enum").get(self.salt).or_else(|| parts(object, "enum").first()).cloned()
    }

    fn object(&mut self, object: &Map<String, Value>, room: usize) -> Option<Value> {
        let properties = object.get("properties").and_then(Value::as_object);
        let rest = object.get("additionalProperties").unwrap_or(&Value::Bool(true));
        let mut made = Map::new();
        for name in parts(object, "required").iter().filter_map(Value::as_str) {
            let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(rest);
            made.insert(name.to_owned(), self.value(schema, room)?);
        }
        let least = count(object, "minProperties");
        for (name, schema) in properties.into_iter().flatten() {
            if least <= made.len() as u64 {
                break;
            }
            if !made.contains_key(name)
                && let Some(value) = self.value(schema, room)
            {
                made.insert(name.clone(), value);
            }
        }
        for number in 1..=MOST_FILLED {
            if least <= made.len() as u64 {
                break;
            }
            made.insert(format!("key{number}"), self.value(rest, room)?);
        }
        Some(Value::Object(made))
    }

    fn array(&mut self, object: &Map<String, Value>, room: usize) -> Option<Value> {
        let wanted = object.get("contains").map(|_| count(object, "minContains").max(1)).unwrap_or(0);
        let least = count(object, "minItems").max(wanted);
        if MOST_FILLED < least {
            return None;
        }
        let own = object.get("prefixItems").or_else(|| object.get("items")).and_then(Value::as_array);
        let all = object.get("items").filter(|items| !items.is_array());
        let rest = object.get("contains").or(all).unwrap_or(&Value::Bool(true));
        let unique = object.get("uniqueItems") == Some(&Value::Bool(true));
        let salt = self.salt;
        let mut made = Vec::new();
        for index in 0..usize::try_from(least).ok()? {
            self.salt = if unique { index } else { salt };
            made.push(self.value(own.and_then(|own| own.get(index)).unwrap_or(rest), room)?);
        }
        self.salt = salt;
        Some(Value::Array(made))
    }
}

/// The kind of value to make: the first named one that says something, or what the keywords are about.
fn kind(object: &Map<String, Value>) -> &str {
    match object.get("type") {
        Some(Value::String(kind)) => return kind,
        Some(Value::Array(kinds)) => {
            let mut named = kinds.iter().filter_map(Value::as_str);
            return named.clone().find(|kind| *kind != "null").or_else(|| named.next()).unwrap_or("string");
        }
        _ => {}
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| object.contains_key(*keyword));
    if has(&["properties", "required", "minProperties", "additionalProperties"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "contains"]) {
        "array"
    } else if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) {
        "number"
    } else {
        "string"
    }
}

/// What says nothing about one value and may be large.
fn is_aside(keyword: &str) -> bool {
    matches!(keyword, "$defs" | "definitions" | "description" | "title" | "$comment" | "not")
}

/// How much is copied with a schema.
fn weight(schema: &Value) -> usize {
    match schema {
        Value::Array(list) => 1 + list.iter().map(weight).sum::<usize>(),
        Value::Object(object) => {
            1 + object
                .iter()
                .filter(|(keyword, _)| !is_aside(keyword))
                .map(|(_, inner)| weight(inner))
                .sum::<usize>()
        }
        _ => 1,
    }
}

fn count(object: &Map<String, Value>, keyword: &str) -> u64 {
    object.get(keyword).and_then(Value::as_u64).unwrap_or(0)
}
