//! References inside a schema to one of its arguments. Generators write `#/properties/a` where the same shape
//! occurs twice, so an argument that moves takes those who refer to it along.

use serde_json::{Map, Value};

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
    let mut is_used = false;
    in_map(schema, Keys::Keywords, &mut |reference| is_used |= inside(reference, own).is_some());
    if !is_used {
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
    let mut copy: Map<String, Value> =
        keys.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let mut found = false;
    in_map(&mut copy, Keys::Keywords, &mut |reference| found |= fits(reference));
    found
}

fn redirect(schema: &mut Map<String, Value>, from: &str, to: &str) {
    in_map(schema, Keys::Keywords, &mut |reference| {
        if let Some(rest) = inside(reference, from) {
            *reference = format!("{to}{rest}");
        }
    });
}

/// What follows the argument's own place in a reference to it or into it.
fn inside<'a>(reference: &'a str, own: &str) -> Option<&'a str> {
    let path = reference.strip_prefix(PROPERTIES)?;
    let (first, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    let name = decoded(first)?.replace("~1", "/").replace("~0", "~");
    (name == own).then_some(rest)
}

fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1").replace('%', "%25").replace('#', "%23")
}

/// What the keys of an object are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Keywords,
    /// A property may be called `enum` without being one.
    Names,
}

fn in_map(map: &mut Map<String, Value>, keys: Keys, visit: &mut impl FnMut(&mut String)) {
    for (key, inner) in map {
        match (keys, key.as_str(), inner) {
            (Keys::Keywords, "enum" | "const" | "default" | "examples", _) => {}
            (Keys::Keywords, "$ref" | "$dynamicRef" | "$recursiveRef", Value::String(text)) => visit(text),
            (
                Keys::Keywords,
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
                | "dependencies",
                inner,
            ) => in_value(inner, Keys::Names, visit),
            (_, _, inner) => in_value(inner, Keys::Keywords, visit),
        }
    }
}

fn in_value(value: &mut Value, keys: Keys, visit: &mut impl FnMut(&mut String)) {
    match value {
        Value::Object(map) => in_map(map, keys, visit),
        Value::Array(list) => list.iter_mut().for_each(|inner| in_value(inner, keys, visit)),
        _ => {}
    }
}
