//! What a model wants of a gateway.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::tools::{find, list_names, named, shown_text};
use crate::present::Intent;
use crate::shape::{View, ViewTool};

/// The most of a schema that is put into an error.
const SCHEMA: usize = 4_000;

const ACTION: &str = "action";
const TOOL_NAME: &str = "tool_name";
const TOOL_INPUTS: &str = "tool_inputs";

/// The intent of a call to the gateway of `server`, from its arguments as JSON text. With `list`, `tool_name`
/// or `query` in `tool_inputs` narrow the list, and `page` there turns its pages.
pub fn decode(view: &View, server: &str, arguments: &str) -> Intent {
    read(view, server, arguments).unwrap_or_else(|repair| Intent::Malformed { repair })
}

type Fields<'a> = BTreeMap<String, &'a RawValue>;

fn read(view: &View, server: &str, arguments: &str) -> Result<Intent, String> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    let fields: Fields<'_> = serde_json::from_str(arguments).map_err(|error| {
        format!("the arguments must be a JSON object with {ACTION}, {TOOL_NAME} and {TOOL_INPUTS}: {error}")
    })?;
    let action = text(&fields, ACTION)?.unwrap_or_default();
    match action.trim().to_ascii_lowercase().as_str() {
        "" | "list" => list(server, &fields),
        "execute" => execute(view, server, &fields),
        _ => Err(format!("unknown action {}: it is 'list' or 'execute'", shown_text(&action))),
    }
}

fn list(server: &str, fields: &Fields<'_>) -> Result<Intent, String> {
    let inputs: Value = inputs(fields)?.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let given = |key: &str| match inputs.get(key) {
        Some(value) => Some(value.clone()),
        None => fields.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok()),
    };
    let words = given("query").and_then(|query| query.as_str().map(str::to_owned));
    let query = words.or(text(fields, TOOL_NAME)?).map(|query| query.trim().to_owned());
    let page = match given("page") {
        Some(Value::Number(page)) => page.as_u64(),
        Some(Value::String(page)) => page.trim().parse().ok(),
        _ => None,
    };
    let page = usize::try_from(page.unwrap_or(1)).unwrap_or(usize::MAX).max(1);
    Ok(Intent::ListTools { server: server.to_owned(), query: query.filter(|query| !query.is_empty()), page })
}

fn execute(view: &View, server: &str, fields: &Fields<'_>) -> Result<Intent, String> {
    let name = text(fields, TOOL_NAME)?.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let Some(name) = name else {
        let names = list_names(&named(view, server));
        return Err(format!("action='execute' needs {TOOL_NAME}. Available tools: {names}"));
    };
    let is_known = view.snapshot().parts().any(|part| part.server.as_str() == server);
    if !is_known {
        // Its tools are learnt when it is called.
        let arguments = given(fields)?;
        return Ok(Intent::Call { tool: format!("{server}/{name}"), arguments });
    }
    let shown = find(view, server, &name)?;
    let arguments = given(fields).map_err(|why| with_schema(shown, &why))?;
    Ok(Intent::Call { tool: shown.name.to_string(), arguments })
}

/// The inputs, if they stand where they belong. Left out, the tool would run without them.
fn given(fields: &Fields<'_>) -> Result<String, String> {
    let inputs = inputs(fields)?;
    let others: Vec<&str> = fields.keys().map(String::as_str).filter(|key| !is_ours(key)).collect();
    if inputs.is_none() && !others.is_empty() {
        return Err(format!("the inputs of the tool ({}) belong inside {TOOL_INPUTS}", others.join(", ")));
    }
    Ok(inputs.unwrap_or_else(|| "{}".to_owned()))
}

fn is_ours(key: &str) -> bool {
    matches!(key, ACTION | TOOL_NAME | TOOL_INPUTS)
}

/// A text, if there is one.
fn text(fields: &Fields<'_>, key: &str) -> Result<Option<String>, String> {
    let Some(raw) = fields.get(key) else { return Ok(None) };
    match serde_json::from_str::<Option<String>>(raw.get()) {
        Ok(text) => Ok(text),
        Err(_) => Err(format!("{key} must be a text")),
    }
}

/// The inputs of the tool as JSON text. An object as it was written; also one that was written as text.
fn inputs(fields: &Fields<'_>) -> Result<Option<String>, String> {
    let Some(raw) = fields.get(TOOL_INPUTS) else { return Ok(None) };
    let given = match raw.get().trim_start().chars().next() {
        Some('"') => serde_json::from_str::<String>(raw.get()).unwrap_or_default(),
        _ => raw.get().to_owned(),
    };
    let given = given.trim();
    match given.chars().next() {
        None => Ok(None),
        Some('n') if given == "null" => Ok(None),
        Some('{') => match serde_json::from_str::<&RawValue>(given) {
            Ok(_) => Ok(Some(given.to_owned())),
            Err(error) => Err(format!("{TOOL_INPUTS} is not valid JSON: {error}")),
        },
        Some(_) => Err(format!("{TOOL_INPUTS} must be a JSON object, not {}", shown_text(given))),
    }
}

fn with_schema(shown: &ViewTool, why: &str) -> String {
    let schema = shown.tool.input.to_string();
    let end = (0..=SCHEMA.min(schema.len())).rev().find(|at| schema.is_char_boundary(*at)).unwrap_or(0);
    let more = if end < schema.len() { "…" } else { "" };
    format!("{why}. {} takes: {}{more}", shown.tool.name, &schema[..end])
}
