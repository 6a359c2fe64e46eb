//! Calls of models that have no form of their own for them: `{"tool": …, "arguments": …}`, alone, in a list, or
//! in a text that is nothing else.

use serde_json::{Map, Value};

use super::{push, texts};
use crate::present::Intent;

pub(super) fn read(reply: &Value, intents: &mut Vec<Intent>) {
    match reply {
        Value::String(text) => match parsed(text) {
            Some(calls) => calls.iter().for_each(|call| object(call, intents)),
            None => texts(Some(reply), intents),
        },
        Value::Array(list) => list.iter().for_each(|one| read_one(one, intents)),
        one => read_one(one, intents),
    }
}

fn read_one(value: &Value, intents: &mut Vec<Intent>) {
    match value {
        Value::Object(fields) => object(fields, intents),
        text => texts(Some(text), intents),
    }
}

fn object(fields: &Map<String, Value>, intents: &mut Vec<Intent>) {
    let mut known = false;
    if let Some(Value::Array(calls)) = fields.get("tool_calls").or(fields.get("calls")) {
        known = true;
        calls.iter().filter_map(Value::as_object).for_each(|call| object(call, intents));
    }
    if let Some(name) = name(fields) {
        known = true;
        let arguments = ["arguments", "args", "input", "parameters", "tool_inputs"]
            .iter()
            .find_map(|key| fields.get(*key));
        push(fields.get("id"), Some(name), arguments, intents);
    }
    for key in ["content", "text"] {
        if let Some(text) = fields.get(key) {
            known = true;
            texts(Some(text), intents);
        }
    }
    if !known {
        let repair = r#"To call a tool, answer with {"tool": "<name>", "arguments": {…}} and nothing else."#;
        intents.push(Intent::Malformed { repair: repair.to_owned() });
    }
}

fn name(fields: &Map<String, Value>) -> Option<&Value> {
    ["tool", "tool_name", "name"].iter().find_map(|key| fields.get(*key))
}

/// The calls that a text consists of, fenced or not. An object that names no tool is just a text.
fn parsed(text: &str) -> Option<Vec<Map<String, Value>>> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|rest| rest.strip_prefix("json").unwrap_or(rest)).unwrap_or(text);
    let calls = match serde_json::from_str(inner.trim()).ok()? {
        Value::Array(list) => list,
        one => vec![one],
    };
    let calls = calls.into_iter().map(|call| match call {
        Value::Object(fields) if name(&fields).is_some() || fields.contains_key("tool_calls") => Some(fields),
        _ => None,
    });
    calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty())
}
