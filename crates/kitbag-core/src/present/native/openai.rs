//! OpenAI: the chat completions and the responses API. The former takes a tool for not strict unless told otherwise,
//! the latter for strict, so the latter is always told.

use serde_json::{Map, Value, json};

use super::ToolAnswer;
use super::decode::{list, push, texts};
use super::definition::Definition;
use super::encode::{Block, error, joined};
use super::provider::{ProviderRow, SchemaForm};
use super::rewrite::{Keys, RootForm, Rules, SchemaDialect};
use super::strict::{StrictRules, Weight};
use crate::present::ModelRequest;

pub(super) const CHAT: ProviderRow = ProviderRow {
    name: "openai",
    options: &["openai"],
    place: |options| {
        if let Some(strict) = options.shift_remove("strict") {
            let function = options.entry("function").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(function) = function {
                function.entry("strict").or_insert(strict);
            }
        }
    },
    most_tools: Some(128),
    // Its own API takes more by now, Azure's and older models' do not.
    description: Some(1024),
    form: SchemaForm::Json(RULES),
    strict: Some(STRICT),
    define: chat_definition,
    list: Value::Array,
    decode: chat_reply,
    encode: |answers| answers.iter().map(chat_answer).collect(),
};

pub(super) const RESPONSES: ProviderRow = ProviderRow {
    name: "openai-responses",
    options: &["openai", "openai-responses"],
    place: |options| {
        if let Some(Value::Object(function)) = options.shift_remove("function") {
            options.extend(function);
        }
    },
    define: response_definition,
    decode: response_reply,
    encode: |answers| answers.iter().map(response_answer).collect(),
    ..CHAT
};

const RULES: Rules = Rules {
    keys: Keys::Any,
    dialect: SchemaDialect::Json,
    // `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top
    // level`, strict or not (nspady/google-calendar-mcp#39, goruck/home-generative-agent#545).
    root: RootForm::Plain,
    // `array schema missing items`.
    items: true,
};

/// The limits of its structured outputs.
const STRICT: StrictRules = StrictRules {
    all_required: true,
    recursion: true,
    keywords: &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    min_items: u64::MAX,
    levels: 10,
    properties: 5_000,
    enum_values: 1_000,
    long_enum: (250, 15_000),
    characters: 120_000,
    request: Weight::UNBOUNDED,
};

fn chat_definition(one: Definition<'_>) -> Value {
    let mut function = Map::new();
    let is_strict = one.is_strict;
    one.write(&mut function, "parameters");
    if is_strict {
        function.insert("strict".to_owned(), true.into());
    }
    let mut tool = Map::new();
    tool.insert("type".to_owned(), "function".into());
    tool.insert("function".to_owned(), Value::Object(function));
    Value::Object(tool)
}

fn response_definition(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    let is_strict = one.is_strict;
    tool.insert("type".to_owned(), "function".into());
    one.write(&mut tool, "parameters");
    tool.insert("strict".to_owned(), is_strict.into());
    Value::Object(tool)
}

fn chat_reply(reply: &Value, asked: &mut Vec<ModelRequest>) {
    let first = reply.get("choices").and_then(|choices| choices.get(0));
    let message = first.and_then(|choice| choice.get("message")).unwrap_or(reply);
    texts(message.get("content"), asked);
    texts(message.get("refusal"), asked);
    for call in list(message.get("tool_calls")) {
        let function = call.get("function").unwrap_or(call);
        push(call.get("id"), function.get("name"), function.get("arguments"), asked);
    }
    // What came before `tool_calls`.
    if let Some(function) = message.get("function_call").filter(|function| function.is_object()) {
        push(None, function.get("name"), function.get("arguments"), asked);
    }
}

fn response_reply(reply: &Value, asked: &mut Vec<ModelRequest>) {
    let output = reply.get("output").unwrap_or(reply);
    let one = std::slice::from_ref(output);
    for item in output.as_array().map_or(one, Vec::as_slice) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let id = item.get("call_id").or(item.get("id"));
                push(id, item.get("name"), item.get("arguments"), asked);
            }
            Some("message") => texts(item.get("content"), asked),
            _ => {}
        }
    }
}

fn chat_answer(answer: &ToolAnswer) -> Value {
    if answer.is_to_nothing() {
        let image = |url: String| json!({"type": "image_url", "image_url": {"url": url}});
        return said_by_user(answer, "text", image);
    }
    let text = answer.text();
    let content = if answer.is_error { error(&text) } else { text };
    json!({"role": "tool", "tool_call_id": answer.id(), "content": content})
}

/// What belongs to no call: something the user says, with the images in it.
fn said_by_user(answer: &ToolAnswer, text: &str, image: impl Fn(String) -> Value) -> Value {
    let has_images = |block: Block<'_>| matches!(block, Block::Media { mime, .. } if is_image(mime));
    if !answer.blocks().any(has_images) {
        return json!({"role": "user", "content": answer.text()});
    }
    let item = |block: Block<'_>| match block {
        Block::Media { mime, data, .. } if is_image(mime) => image(format!("data:{mime};base64,{data}")),
        block => json!({"type": text, "text": block.text()}),
    };
    json!({"role": "user", "content": answer.blocks().map(item).collect::<Vec<_>>()})
}

fn is_image(mime: &str) -> bool {
    matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

fn response_answer(answer: &ToolAnswer) -> Value {
    if answer.is_to_nothing() {
        let image = |url: String| json!({"type": "input_image", "image_url": url, "detail": "auto"});
        return said_by_user(answer, "input_text", image);
    }
    let mut items = Vec::new();
    let mut words = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Media { mime, data, .. } if is_image(mime) => {
                items.push(json!({"type": "input_image", "image_url": format!("data:{mime};base64,{data}"), "detail": "auto"}));
            }
            Block::Media { mime: mime @ "application/pdf", data, name, .. } => {
                let name = name.unwrap_or("document.pdf");
                let data = format!("data:{mime};base64,{data}");
                items.push(json!({"type": "input_file", "filename": name, "file_data": data}));
            }
            block => words.push(block.text()),
        }
    }
    let silent = words.iter().all(String::is_empty);
    let text = joined(words.into_iter());
    let text = if answer.is_error { error(&text) } else { text };
    let output = if items.is_empty() {
        Value::String(text)
    } else {
        if answer.is_error || !silent {
            items.insert(0, json!({"type": "input_text", "text": text}));
        }
        Value::Array(items)
    };
    json!({"type": "function_call_output", "call_id": answer.id(), "output": output})
}
