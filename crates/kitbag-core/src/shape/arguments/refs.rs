//! References inside a schema to one of its arguments. Generators write `#/properties/a` where the same shape
//! occurs twice, so an argument that moves takes those who refer to it along.

use serde_json::{Map, Value};

use crate::schema::keyword::{REFERENCES, is_data, is_table};
use crate::schema::refs::percent_decoded;
use crate::schema::tree::references;

/// Where arguments stand, and where one goes that is gone but still referred to.
const PROPERTIES: &str = "#/properties/";
const DEFINITIONS: &str = "#/$defs/";

/// The argument stands under another name now.
pub(super) fn renamed(schema: &mut Map<String, Value>, from: &str, to: &str) {
    let to = format!("{PROPERTIES}{}", token(to));
    redirect(schema, from, &to);
}

/// The argument was taken out of the schema; what refers to it finds it among the definitions.
pub(super) fn taken_away(schema: &mut Map<String, Value>, own: &str, mut argument: Value) {
    if !references(schema).any(|reference| inside(reference, own).is_some()) {
        return;
    }
    if let Some(argument) = argument.as_object_mut() {
        // What stands in for the argument is not the model's to see.
        argument.shift_remove("default");
    }
    let definitions = schema.entry("$defs").or_insert_with(|| Map::new().into());
    let Some(definitions) = definitions.as_object_mut() else { return };
    let mut name = own.to_owned();
    while definitions.contains_key(&name) {
        name.push('_');
    }
    let to = format!("{DEFINITIONS}{}", token(&name));
    definitions.insert(name, argument);
    redirect(schema, own, &to);
}

/// Whether there is such a reference anywhere under one of these keys.
pub(super) fn any<'a>(
    keys: impl IntoIterator<Item = (&'a String, &'a Value)>,
    fits: impl Fn(&str) -> bool,
) -> bool {
    // A copy, so that one walk serves all; schemas with rules for their arguments are few.
    let copy = keys.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    references(&copy).any(fits)
}

fn redirect(schema: &mut Map<String, Value>, from: &str, to: &str) {
    each(schema, &mut |reference| {
        if let Some(rest) = inside(reference, from) {
            *reference = format!("{to}{rest}");
        }
    });
}

/// What follows the argument's own place in a reference to it or into it.
fn inside<'a>(reference: &'a str, own: &str) -> Option<&'a str> {
    let path = reference.strip_prefix(PROPERTIES)?;
    let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    let name = percent_decoded(first)?.replace("~1", "/").replace("~0", "~");
    (name == own).then_some(rest)
}

fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1").replace('%', "%25").replace('#', "%23")
}

/// Every reference in a schema, to be changed.
fn each(schema: &mut Map<String, Value>, visit: &mut impl FnMut(&mut String)) {
    for (keyword, inner) in schema {
        match inner {
            Value::String(reference) if REFERENCES.contains(&keyword.as_str()) => visit(reference),
            Value::Object(table) if is_table(keyword) => {
                table.values_mut().for_each(|inner| each_in(inner, visit));
            }
            inner if !is_data(keyword) => each_in(inner, visit),
            _ => {}
        }
    }
}

fn each_in(value: &mut Value, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::Object(schema) => each(schema, visit),
        Value::Array(list) => list.iter_mut().for_each(|inner| each_in(inner, visit)),
        _ => {}
    }
}
