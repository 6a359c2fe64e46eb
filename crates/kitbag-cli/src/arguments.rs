//! The arguments of a tool as a person reads them: a row each, and a call ready to be pasted.

use clap::builder::styling::Style;
use kitbag_core::schema::ExactJson;
use kitbag_core::text::visible;
use serde_json::{Map, Value};

use crate::json;
use crate::terminal::{DIM, TITLE, below, keep_whole, lines, styled, table, width};

pub(crate) mod read;

/// References followed in a row, and levels of a type that are written out.
const DEEPEST: usize = 8;
/// Values of a choice that are written out.
const CHOICES: usize = 6;

/// One argument.
#[derive(Clone, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a str,
    /// Its type, in a few words.
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) default: Option<&'a Value>,
    pub(crate) description: &'a str,
    /// Its schema, when that says more than a few words can.
    pub(crate) nested: Option<&'a Value>,
}

/// The arguments a schema speaks of, in its order.
pub(crate) fn of(schema: &Value) -> Vec<Argument<'_>> {
    let mut all = Vec::new();
    let mut required = Vec::new();
    collect(schema, schema, DEEPEST, &mut all, &mut required);
    for argument in &mut all {
        argument.required = required.contains(&argument.name);
    }
    all
}

fn collect<'a>(
    root: &'a Value,
    schema: &'a Value,
    room: usize,
    all: &mut Vec<Argument<'a>>,
    required: &mut Vec<&'a str>,
) {
    let Some(object) = schema.as_object().filter(|_| 0 < room) else { return };
    if let Some(target) = referred(root, object) {
        return collect(root, target, room - 1, all, required);
    }
    for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        collect(root, part, room - 1, all, required);
    }
    let names = object.get("required").and_then(Value::as_array);
    required.extend(names.into_iter().flatten().filter_map(Value::as_str));
    for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if all.iter().all(|known| known.name != name) {
            all.push(argument(root, name, schema));
        }
    }
}

fn argument<'a>(root: &'a Value, name: &'a str, schema: &'a Value) -> Argument<'a> {
    let target = schema.as_object().and_then(|object| referred(root, object));
    let text = |key: &str| [Some(schema), target].into_iter().flatten().find_map(|schema| schema.get(key));
    Argument {
        name,
        kind: kind(root, schema, DEEPEST),
        required: false,
        default: text("default"),
        description: text("description")
            .or_else(|| text("title"))
            .and_then(Value::as_str)
            .unwrap_or_default(),
        nested: is_nested(root, schema, DEEPEST).then_some(target.unwrap_or(schema)),
    }
}

/// What a reference to a place in the same schema leads to.
fn referred<'a>(root: &'a Value, object: &Map<String, Value>) -> Option<&'a Value> {
    root.pointer(object.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// A type in a few words.
fn kind(root: &Value, schema: &Value, room: usize) -> String {
    let Some(object) = schema.as_object().filter(|_| 0 < room) else { return "anything".to_owned() };
    if let Some(target) = referred(root, object) {
        return kind(root, target, room - 1);
    }
    if let Some(value) = object.get("const") {
        return json::line(value);
    }
    if let Some(values) = object.get("enum").and_then(Value::as_array) {
        return either(values.iter().map(json::line));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(parts) = object.get(key).and_then(Value::as_array).filter(|parts| !parts.is_empty()) {
            return either(parts.iter().map(|part| kind(root, part, room - 1)));
        }
    }
    match object.get("type") {
        Some(Value::String(word)) => one(root, object, word, room),
        Some(Value::Array(words)) => {
            either(words.iter().filter_map(Value::as_str).map(|word| one(root, object, word, room)))
        }
        _ if object.contains_key("properties") => "object".to_owned(),
        _ => "anything".to_owned(),
    }
}

fn one(root: &Value, object: &Map<String, Value>, word: &str, room: usize) -> String {
    let bound = |key: &str| object.get(key).filter(|value| value.is_number()).map(Value::to_string);
    match word {
        "array" => match object.get("items").filter(|items| items.is_object()) {
            Some(items) => format!("list of {}", kind(root, items, room - 1)),
            None => "list".to_owned(),
        },
        "integer" | "number" => match (bound("minimum"), bound("maximum")) {
            (None, None) => word.to_owned(),
            (least, most) => {
                format!("{word} {}..{}", least.unwrap_or_default(), most.unwrap_or_default())
            }
        },
        word => visible(word),
    }
}

fn either(words: impl Iterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for word in words {
        if !different.contains(&word) {
            different.push(word);
        }
    }
    if CHOICES < different.len() {
        different.truncate(CHOICES);
        different.push("…".to_owned());
    }
    different.join(" | ")
}

/// Whether there is more to say than a type.
fn is_nested(root: &Value, schema: &Value, room: usize) -> bool {
    let Some(object) = schema.as_object().filter(|_| 0 < room) else { return false };
    if let Some(target) = referred(root, object) {
        return is_nested(root, target, room - 1);
    }
    let own = ["properties", "patternProperties", "prefixItems"].iter().any(|key| object.contains_key(*key));
    let items = object.get("items").is_some_and(|items| is_nested(root, items, room - 1));
    let cut = object.get("enum").and_then(Value::as_array).is_some_and(|values| CHOICES < values.len());
    let parts = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| object.get(*key)?.as_array()).flatten();
    own || items || cut || parts.into_iter().any(|part| is_nested(root, part, room - 1))
}

/// The arguments as a table where descriptions have room beside the rest, else as a list.
pub(crate) fn as_table(arguments: &[Argument<'_>]) -> String {
    let beside = |argument: &Argument<'_>| {
        let default = argument.default.map(json::line).unwrap_or_default();
        [argument.name.chars().count(), argument.kind.chars().count(), default.chars().count()]
    };
    let widest = |column: usize| arguments.iter().map(|one| beside(one)[column]).max().unwrap_or_default();
    let needed = widest(0) + widest(1) + widest(2) + TITLES + DESCRIPTION;
    if width().is_none_or(|width| needed <= width) { in_columns(arguments) } else { one_by_one(arguments) }
}

/// What the gaps and the column REQUIRED take.
const TITLES: usize = 20;

/// The least a description gets of a line.
const DESCRIPTION: usize = 36;

/// Each argument with what is said of it below.
fn one_by_one(arguments: &[Argument<'_>]) -> String {
    let one = |argument: &Argument<'_>| {
        let mut facts = vec![argument.kind.clone()];
        facts.extend(argument.required.then(|| "required".to_owned()));
        facts.extend(argument.default.map(|value| format!("default {}", json::line(value))));
        let facts = facts.into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>().join(", ");
        let about = visible(&argument.description.split_whitespace().collect::<Vec<_>>().join(" "));
        let about = if about.is_empty() { String::new() } else { below(Style::new(), &about) };
        let facts = if facts.is_empty() { String::new() } else { format!(" ({facts})") };
        format!("  {}{}\n{about}", styled(TITLE, visible(argument.name)), styled(DIM, facts))
    };
    arguments.iter().map(one).collect()
}

/// As a table; columns that say nothing are left out.
fn in_columns(arguments: &[Argument<'_>]) -> String {
    let row = |argument: &Argument<'_>| {
        [
            visible(argument.name),
            argument.kind.clone(),
            if argument.required { "yes".to_owned() } else { String::new() },
            argument.default.map(json::line).unwrap_or_default(),
            visible(&argument.description.split_whitespace().collect::<Vec<_>>().join(" ")),
        ]
    };
    let rows: Vec<[String; 5]> = arguments.iter().map(row).collect();
    let used: Vec<usize> =
        (0..5).filter(|column| *column < 2 || rows.iter().any(|row| !row[*column].is_empty())).collect();
    let mut table = table();
    let titles = ["ARGUMENT", "TYPE", "REQUIRED", "DEFAULT", "DESCRIPTION"];
    table.set_header(used.iter().map(|column| titles[*column]));
    for row in &rows {
        table.add_row(used.iter().map(|column| row[*column].as_str()));
    }
    keep_whole(&mut table, &[0]);
    lines(&table)
}

/// A call ready to be pasted into a shell.
pub(crate) fn command(tool: &str, schema: &Value, arguments: &Value) -> String {
    let fields = arguments.as_object();
    let pairs: Option<Vec<String>> = fields
        .map(|fields| fields.iter().map(|(key, value)| pair(schema, key, value)).collect())
        .unwrap_or_default();
    let rest = match (pairs, fields) {
        (Some(pairs), _) => pairs.join(" "),
        (None, Some(fields)) => format!("--args {}", quoted(&json::line(&Value::Object(fields.clone())))),
        (None, None) => String::new(),
    };
    format!("kitbag call {tool} {rest}").trim_end().to_owned()
}

/// One argument as a word, if it can be given that way.
fn pair(schema: &Value, key: &str, value: &Value) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if key.is_empty() || key.starts_with('-') || !key.chars().all(plain) {
        return None;
    }
    let text = value.as_str().map_or_else(|| json::line(value), str::to_owned);
    let is_read = read::once(schema, key, &text).is_ok_and(|read| read == ExactJson::from(value.clone()));
    if visible(&text) == text && is_read {
        // What begins with an @ names a file.
        let at = if text.starts_with('@') { "@" } else { "" };
        return Some(quoted(&format!("{key}={at}{text}")));
    }
    Some(quoted(&format!("{key}:={}", json::line(value))))
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
