//! The tables of `docs/config.md`: every key of `kitbag.toml` from its JSON Schema, and every key of a server's entry.

use anyhow::{Context, bail};
use serde_json::Value;

/// A table for each section of `kitbag.toml`.
pub(super) fn settings(printed: &str) -> anyhow::Result<String> {
    let schema: Value = serde_json::from_str(printed)?;
    let mut tables = Vec::new();
    for (section, inner) in properties(&schema)? {
        collect(section, inner, &mut tables)?;
    }
    Ok(tables.concat())
}

/// The table of one section, then those of the tables inside it.
fn collect(section: &str, schema: &Value, tables: &mut Vec<String>) -> anyhow::Result<()> {
    let about =
        described(schema).with_context(|| format!("[{section}] has no line that says what it is for"))?;
    let (section, schema) = match schema.get("additionalProperties").filter(|inner| inner.is_object()) {
        Some(inner) => (format!("{section}.<name>"), inner),
        None => (section.to_owned(), schema),
    };
    // Their rows are named and explained elsewhere.
    if section == "limits" {
        return Ok(());
    }
    let mut table = format!(
        "### `[{section}]`\n\n{}.\n\n| key | value | what it does |\n|---|---|---|\n",
        sentence(about)
    );
    let place = tables.len();
    for (key, inner) in properties(schema)? {
        let what = described(inner)
            .with_context(|| format!("{section}.{key} has no line that says what it does"))?;
        table.push_str(&format!("| `{key}` | {} | {} |\n", value(inner)?, cell(what)));
        if is_table(inner) {
            collect(&format!("{section}.{key}"), inner, tables)?;
        }
    }
    tables.insert(place, format!("{table}\n"));
    Ok(())
}

fn properties(schema: &Value) -> anyhow::Result<impl Iterator<Item = (&String, &Value)>> {
    Ok(schema["properties"].as_object().with_context(|| format!("no properties in {schema}"))?.iter())
}

fn is_table(schema: &Value) -> bool {
    schema.get("properties").is_some() || schema["additionalProperties"].get("properties").is_some()
}

fn described(schema: &Value) -> Option<&str> {
    schema["description"].as_str().filter(|text| !text.trim().is_empty())
}

/// What a value must be, in few words.
fn value(schema: &Value) -> anyhow::Result<String> {
    if schema.get("enum").is_some() {
        return Ok(names(&schema["enum"]));
    }
    if schema["items"].get("enum").is_some() {
        return Ok(format!("list of {}", names(&schema["items"]["enum"])));
    }
    Ok(match schema["type"].as_str() {
        _ if is_table(schema) => "table",
        Some("string") if schema.get("pattern").is_some() => "time such as `\"5s\"` or `\"500ms\"`",
        Some("string") => "string",
        Some("boolean") => "`true` or `false`",
        Some("integer" | "number") => "number",
        Some("array") if schema["items"]["type"] == "string" => "list of strings",
        Some("array") => "list of tables",
        None if schema.get("anyOf").is_some() => "list of strings, or `\"all\"`",
        None => "any value",
        Some(other) => bail!("no word for the type {other} of {schema}"),
    }
    .to_owned())
}

/// The table of the keys of a server's entry, and the keys that are kept for other programs.
pub(super) fn entries(printed: &str) -> anyhow::Result<String> {
    let printed: Value = serde_json::from_str(printed)?;
    let mut text = "| key | value | what it does | also written |\n|---|---|---|---|\n".to_owned();
    for row in printed["entry"].as_array().context("no entry")? {
        let word = |key: &str| {
            row[key].as_str().filter(|text| !text.is_empty()).with_context(|| format!("no {key} in {row}"))
        };
        let also = names(&row["also"]);
        text.push_str(&format!(
            "| `{}` | {} | {} | {also} |\n",
            word("key")?,
            cell(word("value")?),
            cell(word("what")?)
        ));
    }
    text.push_str(&format!("\nKept in the entry and without effect: {}.\n", names(&printed["kept"])));
    Ok(text)
}

fn names(list: &Value) -> String {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The rows of the limits with their defaults.
pub(super) fn limits(printed: &str) -> anyhow::Result<String> {
    let rows: Vec<Value> = serde_json::from_str(printed)?;
    let mut text = "| row | default | what it limits |\n|---|---|---|\n".to_owned();
    for row in &rows {
        let word = |key: &str| {
            row[key].as_str().filter(|text| !text.is_empty()).with_context(|| format!("no {key} in {row}"))
        };
        let default = match (&row["bytes"], &row["items"], &row["time_ms"]) {
            (Value::Number(bytes), ..) => size(bytes.as_u64().unwrap_or_default()),
            (_, Value::Number(items), _) => items.to_string(),
            (.., Value::Number(ms)) => time(ms.as_u64().unwrap_or_default()),
            _ => bail!("no value in {row}"),
        };
        text.push_str(&format!("| `{}` | {default} | {} |\n", word("name")?, cell(word("what")?)));
    }
    Ok(text)
}

fn size(bytes: u64) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} B"),
    }
}

fn time(millis: u64) -> String {
    if millis.is_multiple_of(1000) { format!("{} s", millis / 1000) } else { format!("{millis} ms") }
}

/// A text within a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
