//! Anthropic: the messages API.

use serde_json::{Map, Value, json};

use super::ToolAnswer;
use super::decode::{list, push, texts};
use super::definition::Definition;
use super::encode::{Block, NOTHING};
use super::provider::{ProviderRow, SchemaForm};
use super::rewrite::{Keys, RootForm, Rules, SchemaDialect};
use super::strict::{StrictRules, Weight};
use crate::present::ModelRequest;

pub(super) const MESSAGES: ProviderRow = ProviderRow {
    name: "anthropic",
    options: &["anthropic"],
    place: |_| {},
    most_tools: None,
    description: None,
    form: SchemaForm::Json(Rules {
        // A name that does not match costs every request (freee/freee-mcp#15).
        keys: Keys::Wide,
        dialect: SchemaDialect::Json,
        root: RootForm::Plain,
        items: false,
    }),
    strict: Some(StrictRules {
        all_required: false,
        recursion: false,
        keywords: &[],
        formats: &[
            "date-time",
            "time",
            "date",
            "duration",
            "email",
            "hostname",
            "uri",
            "ipv4",
            "ipv6",
            "uuid",
        ],
        min_items: 1,
        // It only says that too complex a schema is refused; what others take is bearable.
        levels: 10,
        properties: 5_000,
        enum_values: 1_000,
        long_enum: (250, 15_000),
        characters: 120_000,
        request: Weight { tools: 20, optional: 24, unions: 16 },
    }),
    define: definition,
    list: Value::Array,
    decode: reply,
    encode: message,
};

fn definition(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    let is_strict = one.is_strict;
    one.write(&mut tool, "input_schema");
    if is_strict {
        tool.insert("strict".to_owned(), true.into());
    }
    Value::Object(tool)
}

fn reply(reply: &Value, asked: &mut Vec<ModelRequest>) {
    let content = reply.get("content").unwrap_or(reply);
    if content.is_string() {
        return texts(Some(content), asked);
    }
    for block in list(Some(content)) {
        match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => push(block.get("id"), block.get("name"), block.get("input"), asked),
            Some("text") => texts(block.get("text"), asked),
            _ => {}
        }
    }
}

/// One message for all results of a turn. An error is text only: with anything else in it the request is refused, and
/// so is every later one that repeats it. What came with an error stands behind the results.
fn message(answers: &[ToolAnswer]) -> Vec<Value> {
    if answers.is_empty() {
        return Vec::new();
    }
    let (mut results, mut besides) = (Vec::new(), Vec::new());
    for answer in answers {
        if answer.is_to_nothing() {
            besides.extend(content(answer));
            continue;
        }
        let mut result = Map::new();
        result.insert("type".to_owned(), "tool_result".into());
        result.insert("tool_use_id".to_owned(), answer.id().into());
        let media = answer.blocks().filter_map(|block| media(&block));
        if answer.is_error {
            let text = json!({"type": "text", "text": answer.text()});
            result.insert("content".to_owned(), Value::Array(vec![text]));
            result.insert("is_error".to_owned(), true.into());
            let media: Vec<Value> = media.collect();
            if !media.is_empty() {
                let text = format!("What the failed call {} returned besides its error:", answer.id());
                besides.push(json!({"type": "text", "text": text}));
                besides.extend(media);
            }
        } else {
            result.insert("content".to_owned(), Value::Array(content(answer)));
        }
        results.push(Value::Object(result));
    }
    // Results come first, or the request is refused.
    results.extend(besides);
    vec![json!({"role": "user", "content": results})]
}

fn content(answer: &ToolAnswer) -> Vec<Value> {
    let block = |block: Block<'_>| match (media(&block), block.text()) {
        (Some(media), _) => Some(media),
        // A text without text would be refused.
        (None, text) => (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text})),
    };
    let content: Vec<Value> = answer.blocks().filter_map(block).collect();
    if content.is_empty() { vec![json!({"type": "text", "text": NOTHING})] } else { content }
}

/// An image or a document, if it is of a kind that is taken.
fn media(block: &Block<'_>) -> Option<Value> {
    let Block::Media { mime, data, .. } = block else { return None };
    let kind = match *mime {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => "image",
        "application/pdf" => "document",
        _ => return None,
    };
    Some(json!({"type": kind, "source": {"type": "base64", "media_type": mime, "data": data}}))
}
