//! The JSON that scripts rely on; `docs/json.md` describes it.

use std::fmt::Write as _;

use kitbag::{Fault, ServerName, ServerSpec, View, ViewTool};
use kitbag_core::Origin;
use kitbag_core::config::layers::MergedServer;
use kitbag_core::text::{is_hidden, rfc3339};
use serde_json::{Map, Value, json};

/// JSON on many lines. What a terminal would obey, or nobody would see, is written as `\\uXXXX`: the value is
/// the same, and the text shows what is in it.
pub(crate) fn pretty(value: &Value) -> String {
    escaped(&format!("{value:#}"))
}

/// The same on one line.
pub(crate) fn line(value: &Value) -> String {
    escaped(&value.to_string())
}

/// Such characters stand inside of texts only: JSON itself has none but the line feed.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !(c.is_control() || is_hidden(c)) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// A row of `tools`.
pub(crate) fn tool(view: &View, row: &ViewTool) -> Value {
    let tool = &row.tool;
    json!({
        "name": row.name.as_str(),
        "server": tool.server.as_str(),
        "tool": tool.name.as_str(),
        "description": tool.description,
        "input_schema": tool.input.as_ref(),
        "available": view.is_available(row),
        "full_name": row.full.as_str(),
        "title": tool.title,
        "category": tool.category,
        "output_schema": tool.output.as_deref(),
        "annotations": tool.raw.get("annotations"),
        "stale_since": stale_since(view, &tool.server),
        "notes": view.notes_of(row).iter().map(note).collect::<Vec<_>>(),
    })
}

/// When the list a tool is from was received, while the list is not confirmed; an empty text where that is unknown.
fn stale_since(view: &View, server: &ServerName) -> Option<String> {
    let stale = view.snapshot().stale(server)?;
    Some(stale.since.map(rfc3339).unwrap_or_default())
}

/// What is worth knowing about a list or a tool; keys without a value are left out.
pub(crate) fn note(fault: &Fault) -> Value {
    let mut note = json!({
        "code": fault.kind.as_str(), "severity": fault.severity.as_str(), "message": fault.message,
    });
    if let Some(hint) = &fault.hint {
        note["hint"] = hint.as_str().into();
    }
    if let Some(tool) = &fault.tool {
        note["tool"] = tool.as_str().into();
    }
    note
}

/// A fault; keys without a value are left out.
pub(crate) fn fault(fault: &Fault) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            map.insert(key.to_owned(), value);
        }
    };
    put("stage", fault.stage.as_str().into());
    put("kind", fault.kind.as_str().into());
    put("severity", fault.severity.as_str().into());
    put("server", fault.server.as_ref().map(ToString::to_string).into());
    put("tool", fault.tool.as_ref().map(ToString::to_string).into());
    put("message", fault.message.clone().into());
    put("hint", fault.hint.clone().into());
    if let Some(place) = &fault.place {
        put("file", place.file.to_string_lossy().into());
        put("line", (0 < place.line).then_some(place.line).into());
        put("column", (0 < place.column).then_some(place.column).into());
    }
    put("snippet", fault.snippet.as_ref().map(|snippet| snippet.text.clone()).into());
    Value::Object(map)
}

fn origin(origin: &Origin) -> Value {
    json!({"file": origin.place.file.to_string_lossy(), "line": origin.place.line, "dialect": origin.dialect})
}

/// A row of `servers list`.
pub(crate) fn server(row: &MergedServer) -> Value {
    json!({
        "name": row.name,
        "enabled": row.spec.as_ref().is_some_and(|spec| spec.enabled),
        "transport": row.spec.as_ref().map(|spec| spec.transport().as_str()),
        "origin": origin(&row.origin),
        "faults": row.faults.iter().map(fault).collect::<Vec<_>>(),
        "state": row.state.as_str(),
        "layer": row.layer.as_str(),
        "also": row.also.iter().map(origin).collect::<Vec<_>>(),
    })
}

/// A row with everything that may be shown, and where each value stands.
pub(crate) fn server_in_full(row: &MergedServer) -> Value {
    with_values(row, ServerSpec::shown)
}

/// The same for somebody who decides whether it may run.
pub(crate) fn server_for_review(row: &MergedServer) -> Value {
    with_values(row, ServerSpec::shown_for_review)
}

fn with_values(row: &MergedServer, shown: fn(&ServerSpec) -> Map<String, Value>) -> Value {
    let mut value = server(row);
    let (Some(map), Some(spec)) = (value.as_object_mut(), &row.spec) else { return value };
    for (key, shown) in shown(spec) {
        map.insert(key, shown);
    }
    let places = spec.places.iter().map(|(key, place)| ((*key).to_owned(), Value::from(place.to_string())));
    map.insert("places".to_owned(), Value::Object(places.collect()));
    value
}
