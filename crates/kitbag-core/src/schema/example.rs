//! A small value that a schema takes, to show how a tool is called.

use serde_json::{Map, Value};

use super::Schema;
use super::flat::{Flattener, Parts};
use super::kinds::parts;
use crate::model::Limits;

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
    made(schema, 0)
}

/// The same with an item in every list, which shows what belongs into it; without where that is not valid.
pub fn filled_example(schema: &Value) -> Option<Value> {
    made(schema, 1).or_else(|| example(schema))
}

fn made(schema: &Value, least_items: u64) -> Option<Value> {
    let compiled = Schema::compile(schema, &Limits::default()).ok()?;
    let tries = [Trust::Annotations, Trust::Nothing].into_iter().flat_map(|trust| {
        (0..BRANCHES).map(move |branch| {
            let flattener = Flattener::new(schema, Parts::Branch(branch), MOST_STEPS, DEEPEST);
            Maker { flattener, trust, least_items, salt: 0 }
        })
    });
    tries.filter_map(|mut maker| maker.value(schema, 0)).find(|value| compiled.check(value).is_empty())
}

/// Whether `examples` and `default` are taken for true.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    Annotations,
    Nothing,
}

struct Maker<'a> {
    flattener: Flattener<'a>,
    trust: Trust,
    /// Items of a list whose schema asks for fewer.
    least_items: u64,
    /// Makes items different from each other.
    salt: usize,
}

impl Maker<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let object = match schema {
            Value::Object(object) => self.flattener.whole(object, depth).ok()??,
            Value::Bool(true) => Map::new(),
            _ => return None,
        };
        // What contains itself ends by its depth.
        self.flattener.followed.clear();
        if let Some(given) = self.given(&object) {
            return Some(given);
        }
        match kind(&object) {
            "object" => self.object(&object, depth + 1),
            "array" => self.array(&object, depth + 1),
            "integer" => scalar::number(&object, scalar::Whole::Yes, self.salt),
            "number" => scalar::number(&object, scalar::Whole::No, self.salt),
            "boolean" => Some(Value::Bool(self.salt.is_multiple_of(2))),
            "null" => Some(Value::Null),
            _ => scalar::text(&object, self.salt).map(Value::String),
        }
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

    fn object(&mut self, object: &Map<String, Value>, depth: usize) -> Option<Value> {
        let properties = object.get("properties").and_then(Value::as_object);
        let rest = object.get("additionalProperties").unwrap_or(&Value::Bool(true));
        let mut made = Map::new();
        for name in parts(object, "required").iter().filter_map(Value::as_str) {
            let schema = properties.and_then(|properties| properties.get(name)).unwrap_or(rest);
            made.insert(name.to_owned(), self.value(schema, depth)?);
        }
        let least = count(object, "minProperties");
        for (name, schema) in properties.into_iter().flatten() {
            if least <= made.len() as u64 {
                break;
            }
            if !made.contains_key(name)
                && let Some(value) = self.value(schema, depth)
            {
                made.insert(name.clone(), value);
            }
        }
        for number in 1..=MOST_FILLED {
            if least <= made.len() as u64 {
                break;
            }
            made.insert(format!("key{number}"), self.value(rest, depth)?);
        }
        Some(Value::Object(made))
    }

    fn array(&mut self, object: &Map<String, Value>, depth: usize) -> Option<Value> {
        let wanted = object.get("contains").map(|_| count(object, "minContains").max(1)).unwrap_or(0);
        let least = count(object, "minItems").max(wanted).max(self.least_items);
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
            made.push(self.value(own.and_then(|own| own.get(index)).unwrap_or(rest), depth)?);
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

fn count(object: &Map<String, Value>, keyword: &str) -> u64 {
    object.get(keyword).and_then(Value::as_u64).unwrap_or(0)
}
