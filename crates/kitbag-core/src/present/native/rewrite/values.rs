//! Small questions about the values of keywords.

use std::collections::HashSet;

use serde_json::Value;

use super::Place;
use crate::present::native::rename::Renames;

/// Lists up to this length are compared item by item.
const SHORT: usize = 16;

/// Whether a keyword without schemas has a value of its kind; those nobody knows have no kind.
pub(super) fn fits(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.as_f64().is_some_and(|n| 0.0 <= n && n.fract() == 0.0),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|n| 0.0 < n),
        "pattern" | "format" | "contentEncoding" | "contentMediaType" => value.is_string(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "examples" => value.is_array(),
        _ => true,
    }
}

/// Each value once, where it stands first.
pub(super) fn unique(mut list: Vec<Value>) -> Vec<Value> {
    if list.len() <= SHORT {
        let mut at = 1;
        while at < list.len() {
            if list[..at].contains(&list[at]) {
                list.remove(at);
            } else {
                at += 1;
            }
        }
    } else {
        let mut seen = HashSet::new();
        list.retain(|value| seen.insert(value.to_string()));
    }
    list
}

pub(super) fn renamed_lists(names: &[Value], renames: &Renames) -> Value {
    let names = names.iter().filter_map(Value::as_str);
    Value::Array(unique(names.map(|name| renames.shown(name).into()).collect()))
}

/// Whether a title only repeats the name of what it stands on, as generators of schemas write them.
pub(in crate::present::native) fn repeats(title: &str, place: Place<'_>) -> bool {
    let same = |a: &str, b: &str| folded(a).eq(folded(b));
    match place {
        Place::Named(name) => same(title, name),
        Place::Tool(name) => {
            let ends = ["Arguments", "Args", "Input", "Params", "Parameters", "Request", "Schema"];
            let stem = ends.iter().find_map(|end| title.strip_suffix(end)).unwrap_or(title);
            // `git_status` is `status` to the program that wrote `statusArguments`.
            let (stem, name): (String, String) = (folded(stem).collect(), folded(name).collect());
            name.ends_with(&stem) || same(title, "model")
        }
        Place::Unnamed => false,
    }
}

fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}
