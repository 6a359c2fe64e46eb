//! One entry set in a TOML text; comments, order and spacing of everything else stay.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use super::EditError;

/// Sets `path[last]` to `entry`, making the tables on the way as needed.
pub(super) fn set(text: &str, path: &[&str], entry: &Map<String, Json>) -> Result<String, EditError> {
    let Some((name, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let before = text.replace("\r\n", "\n");
    let mut document = parse(&before)?;
    let not_a_map = || EditError::NotAMap(way.join("."));
    let mut item = document.as_item_mut();
    for key in way {
        let map = item.as_table_like_mut().ok_or_else(not_a_map)?;
        item = map.entry(key).or_insert_with(implicit);
    }
    match item {
        Item::Table(table) => put(table, name, entry),
        Item::Value(Value::InlineTable(table)) => {
            table.insert(*name, inline(entry).into());
        }
        _ => return Err(not_a_map()),
    }
    Ok(spliced(text, &before, &document.to_string()))
}

/// The lines that are new among the lines of the text, which keep their own ends.
fn spliced(text: &str, before: &str, after: &str) -> String {
    let [text, before, after] =
        [text, before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let head = before.iter().zip(&after).take_while(|(was, is)| was == is).count();
    let rest = before[head..].iter().rev().zip(after[head..].iter().rev());
    let tail = rest.take_while(|(was, is)| was == is).count();
    let is_windows = text.first().is_some_and(|line| line.ends_with("\r\n"));
    let mut edited = text[..head].concat();
    for line in &after[head..after.len() - tail] {
        match line.strip_suffix('\n').filter(|_| is_windows) {
            Some(line) => edited.extend([line, "\r\n"]),
            None => edited.push_str(line),
        }
    }
    edited + &text[text.len() - tail..].concat()
}

/// Each entry of a map in the text, by the map's path and the entry's place in it.
pub(super) fn slices(text: &str, spots: &[(Vec<&str>, usize)]) -> Result<Vec<String>, EditError> {
    let document = parse(text)?;
    let slice = |(way, index): &(Vec<&str>, usize)| {
        let map = way.iter().try_fold(document.as_item(), |item, key| item.get(key))?.as_table_like()?;
        Some(map.iter().nth(*index)?.1.to_string())
    };
    Ok(spots.iter().map(|spot| slice(spot).unwrap_or_default()).collect())
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>()
        .map_err(|error| EditError::Broken(format!("not valid TOML: {}", error.message())))
}

/// A table that only stands in the names of others: `[mcp_servers.x]` needs no `[mcp_servers]`.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

/// In the way the place already has: a table under a heading, or one line where others are lines.
fn put(container: &mut Table, name: &str, entry: &Map<String, Json>) {
    let is_line = container.is_dotted()
        || match container.get(name) {
            Some(Item::Value(_)) => true,
            Some(Item::Table(table)) => table.is_dotted(),
            _ => false,
        };
    if is_line {
        container.insert(name, Item::Value(Value::InlineTable(inline(entry))));
        return;
    }
    let mut table = table(entry);
    if let Some(Item::Table(before)) = container.get(name) {
        // It stays where it was, with the comment above it.
        table.set_position(before.position());
        *table.decor_mut() = before.decor().clone();
    }
    container.insert(name, Item::Table(table));
}

fn table(map: &Map<String, Json>) -> Table {
    let item = |value: &Json| match value {
        Json::Object(map) => Some(Item::Table(table(map))),
        value => Some(Item::Value(toml(value)?)),
    };
    map.iter().filter_map(|(key, value)| Some((key.as_str(), item(value)?))).collect()
}

fn inline(map: &Map<String, Json>) -> InlineTable {
    map.iter().filter_map(|(key, value)| Some((key.as_str(), toml(value)?))).collect()
}

/// TOML has no null: what is nothing is left out.
fn toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(value) => (*value).into(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        Json::String(text) => string(text),
        Json::Array(values) => Value::Array(values.iter().filter_map(toml).collect::<Array>()),
        Json::Object(map) => Value::InlineTable(inline(map)),
    })
}

/// On one line, whatever it holds. What JSON escapes TOML reads, and it wants one character more.
fn string(text: &str) -> Value {
    let quoted = Json::from(text).to_string().replace('\u{7f}', "\\u007F");
    quoted.parse().unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests;
