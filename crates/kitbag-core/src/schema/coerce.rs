//! Values that a model wrote as text although the schema asks for something else.
//!
//! Only what the schema certainly refuses is touched, and only where the text is exactly the JSON of a kind
//! it takes, so nothing valid changes and nothing is lost.

use serde_json::{Map, Value};

use super::kinds::{Kinds, Reader, property};
use super::problem::{join, kind_of};

mod number;

use number::keeps_numbers;

/// Levels of a value that are looked at.
const DEEPEST: usize = 32;
/// Changes made in one value.
const MOST: usize = 1_000;
/// The largest float of which every smaller whole number has a float of its own.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// One value that was changed.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Coercion {
    /// Where, as `filters.tags[2]`; empty for the whole value.
    pub path: String,
    /// What kind it was.
    pub from: &'static str,
    /// What kind it is now.
    pub to: &'static str,
}

/// Turns texts into what the schema asks for, where they say exactly that.
pub fn coerce(schema: &Value, instance: &mut Value) -> Vec<Coercion> {
    let mut done = Vec::new();
    let mut reader = Reader::new(schema);
    let kinds = reader.accepted(schema);
    // No arguments at all are written as nothing, as null and as an empty text.
    let empty = instance.is_null() || instance.as_str().is_some_and(|text| text.trim().is_empty());
    if empty && kinds.has(Kinds::OBJECT) && !kinds.has(Kinds::of(instance)) {
        let from = kind_of(instance);
        *instance = Value::Object(Map::new());
        return vec![Coercion { path: String::new(), from, to: "object" }];
    }
    Coercer { reader, done: &mut done }.value(schema, instance, &mut String::new(), DEEPEST);
    done
}

/// Reads a text by its schema: JSON where the schema takes what it says and takes no text, else the text.
pub fn read_text(schema: &Value, text: &str) -> Value {
    read_within(schema, schema, text)
}

/// Reads the text of `name=text` by what `schema`, the whole schema, says of that property.
pub fn read_property(schema: &Value, name: &str, text: &str) -> Value {
    match property(schema, name) {
        Some(own) => read_within(schema, own, text),
        None => Value::String(text.to_owned()),
    }
}

/// Reads one of several texts that are the items of a list: by what `schema`, the whole schema, says of the items of that
/// property. None where the property is not said to take a list, or the text cannot be one of its items.
pub fn read_item(schema: &Value, name: &str, text: &str) -> Option<Value> {
    let own = property(schema, name)?;
    let mut reader = Reader::new(schema);
    let kinds = reader.accepted(own);
    if kinds == Kinds::ALL || !kinds.has(Kinds::ARRAY) {
        return None;
    }
    let holding = reader.holding(own, Kinds::ARRAY);
    let Some(items) = holding.into_iter().find_map(|object| object.get("items")) else {
        return Some(Value::String(text.to_owned()));
    };
    match read_within(schema, items, text) {
        Value::String(_) if !reader.accepted(items).has(Kinds::SCALAR) => None,
        item => Some(item),
    }
}

fn read_within(root: &Value, schema: &Value, text: &str) -> Value {
    let kinds = Reader::new(root).accepted(schema);
    let read = if kinds.has(Kinds::STRING) { None } else { parsed(text, kinds) };
    read.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// What a text is the JSON of, if the kind is one that is asked for and no digit of a number is lost.
fn parsed(text: &str, kinds: Kinds) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    match Kinds::of(&value) {
        Kinds::STRING => None,
        kind if !kinds.has(kind) || !keeps_numbers(text, &value) => None,
        Kinds::INTEGER if value.is_f64() => exact_integer(&value),
        _ => Some(value),
    }
}

/// `3.0` as `3`.
fn exact_integer(value: &Value) -> Option<Value> {
    let float = value.as_f64().filter(|_| value.is_f64())?;
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| Value::from(float as i64))
}

struct Coercer<'a, 'd> {
    reader: Reader<'a>,
    done: &'d mut Vec<Coercion>,
}

impl<'a> Coercer<'a, '_> {
    fn value(&mut self, schema: &'a Value, value: &mut Value, path: &mut String, room: usize) {
        if room == 0 || MOST <= self.done.len() {
            return;
        }
        let kinds = self.reader.accepted(schema);
        let better = match value {
            Value::String(text) if !kinds.has(Kinds::STRING) => parsed(text, kinds),
            Value::Number(_) if kinds.has(Kinds::INTEGER) && !kinds.has(Kinds::FRACTION) => {
                exact_integer(value)
            }
            _ => None,
        };
        if let Some(better) = better {
            self.done.push(Coercion { path: path.clone(), from: kind_of(value), to: kind_of(&better) });
            *value = better;
        }
        match value {
            Value::Object(object) => self.properties(schema, object, path, room - 1),
            Value::Array(list) => self.items(schema, list, path, room - 1),
            _ => {}
        }
    }

    fn properties(
        &mut self,
        schema: &'a Value,
        object: &mut Map<String, Value>,
        path: &mut String,
        room: usize,
    ) {
        let holding = self.reader.holding(schema, Kinds::OBJECT);
        let length = path.len();
        for (name, value) in object {
            join(path, name);
            for part in &holding {
                let own = part.get("properties").and_then(|properties| properties.get(name));
                let rest =
                    || part.get("additionalProperties").filter(|_| !part.contains_key("patternProperties"));
                if let Some(inner) = own.or_else(rest) {
                    self.value(inner, value, path, room);
                }
            }
            path.truncate(length);
        }
    }

    fn items(&mut self, schema: &'a Value, list: &mut [Value], path: &mut String, room: usize) {
        let holding = self.reader.holding(schema, Kinds::ARRAY);
        let length = path.len();
        for (index, value) in list.iter_mut().enumerate() {
            path.push_str(&format!("[{index}]"));
            for part in &holding {
                if let Some(inner) = item(part, index) {
                    self.value(inner, value, path, room);
                }
            }
            path.truncate(length);
        }
    }
}

/// The schema of an item.
fn item(part: &Map<String, Value>, index: usize) -> Option<&Value> {
    let listed = part.get("prefixItems").or_else(|| part.get("items")).and_then(Value::as_array);
    match listed.and_then(|listed| listed.get(index)) {
        Some(own) => Some(own),
        None => part.get("items").filter(|items| items.is_object()),
    }
}
