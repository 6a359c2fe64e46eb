//! No provider in particular: name, description and schema, close to what the server said; calls as
//! `{"tool": …, "arguments": …}`, alone, in a list, or in a text that is nothing else.

use serde_json::{Map, Value};

use super::ToolAnswer;
use super::decode::{ARGUMENTS, push, reply_value, texts};
use super::provider::{ProviderRow, SchemaForm};
use super::rewrite::{Keys, RootForm, Rules, SchemaDialect};
use crate::present::{Intent, ModelRequest};

pub(super) const PLAIN: ProviderRow = ProviderRow {
    name: "generic",
    options: &["generic"],
    place: |_| {},
    most_tools: None,
    description: None,
    form: SchemaForm::Json(Rules {
        keys: Keys::Any,
        dialect: SchemaDialect::Json,
        root: RootForm::Free,
        items: false,
    }),
    strict: None,
    define: |one| {
        let mut tool = Map::new();
        one.write(&mut tool, "parameters");
        Value::Object(tool)
    },
    list: Value::Array,
    decode: read,
    encode: |answers| answers.iter().map(answer).collect(),
};

fn read(reply: &Value, asked: &mut Vec<ModelRequest>) {
    match reply {
        Value::String(text) => match parsed(text) {
            Some(calls) => calls.iter().for_each(|call| object(call, asked)),
            None => texts(Some(reply), asked),
        },
        Value::Array(list) => list.iter().for_each(|one| read_one(one, asked)),
        one => read_one(one, asked),
    }
}

fn read_one(value: &Value, asked: &mut Vec<ModelRequest>) {
    match value {
        Value::Object(fields) => object(fields, asked),
        text => texts(Some(text), asked),
    }
}

fn object(fields: &Map<String, Value>, asked: &mut Vec<ModelRequest>) {
    let mut known = false;
    if let Some(Value::Array(calls)) = fields.get("tool_calls").or(fields.get("calls")) {
        known = true;
        calls.iter().filter_map(Value::as_object).for_each(|one| call(one, asked));
    }
    if is_call(fields) {
        known = true;
        call(fields, asked);
    }
    for key in ["content", "text"] {
        if let Some(text) = fields.get(key) {
            known = true;
            texts(Some(text), asked);
        }
    }
    if !known {
        let repair = r#"To call a tool, answer with {"tool": "<name>", "arguments": {…}} and nothing else."#;
        asked.push(ModelRequest::besides(Intent::Malformed { repair: repair.to_owned() }));
    }
}

/// What can only be a call: its name may stand in a `function`, as OpenAI has it.
fn call(fields: &Map<String, Value>, asked: &mut Vec<ModelRequest>) {
    let inner = fields.get("function").and_then(Value::as_object).unwrap_or(fields);
    let name = ["tool", "tool_name", "name"].iter().find_map(|key| inner.get(*key));
    let arguments = ARGUMENTS.iter().find_map(|key| inner.get(*key));
    push(fields.get("id"), name, arguments, asked);
}

/// Whether an object is a call. Many things have a name; only a call has arguments beside it.
fn is_call(fields: &Map<String, Value>) -> bool {
    let has = |key: &&str| fields.contains_key(*key);
    ["tool", "tool_name"].iter().any(has) || has(&"name") && ARGUMENTS.iter().any(has)
}

/// The calls that a text consists of, fenced or not. An object that names no tool is just a text.
fn parsed(text: &str) -> Option<Vec<Map<String, Value>>> {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.map(|rest| rest.strip_prefix("json").unwrap_or(rest)).unwrap_or(text);
    let calls = match reply_value(inner.trim()).ok()? {
        Value::Array(list) => list,
        one => vec![one],
    };
    let calls = calls.into_iter().map(|call| match call {
        Value::Object(fields) if is_call(&fields) || fields.contains_key("tool_calls") => Some(fields),
        _ => None,
    });
    calls.collect::<Option<Vec<_>>>().filter(|calls| !calls.is_empty())
}

fn answer(answer: &ToolAnswer) -> Value {
    let mut message = Map::new();
    if !answer.tool.is_empty() {
        message.insert("tool".to_owned(), answer.tool.as_str().into());
    }
    if let Some(id) = &answer.id {
        message.insert("id".to_owned(), id.as_str().into());
    }
    let key = if answer.is_error { "error" } else { "result" };
    message.insert(key.to_owned(), answer.text().into());
    Value::Object(message)
}
