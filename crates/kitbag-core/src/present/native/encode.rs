//! Results as each provider wants them told to the model: its own message, its own kinds of content, its own
//! way of saying that something failed.

use serde_json::{Map, Value, json};

use super::Provider;

mod block;

use block::Block;

/// What came of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What the provider calls the call.
    pub id: Option<String>,
    /// The name the model called; empty if it called nothing that can be named.
    pub tool: String,
    /// What the tool gave: content blocks of MCP.
    pub blocks: Vec<Value>,
    /// Whether that is an error.
    pub is_error: bool,
}

/// What is told where there is nothing to tell.
const NOTHING: &str = "(no output)";

/// The messages, or items, that tell a model what came of its calls, in the order of the calls. Providers that
/// want all results of a turn in one message get one.
pub fn encode(provider: Provider, answers: &[Answer]) -> Vec<Value> {
    match provider {
        Provider::OpenAiChat => answers.iter().map(chat).collect(),
        Provider::OpenAiResponses => answers.iter().map(response).collect(),
        Provider::Generic => answers.iter().map(generic).collect(),
        _ if answers.is_empty() => Vec::new(),
        Provider::Anthropic => {
            vec![json!({"role": "user", "content": answers.iter().map(anthropic).collect::<Vec<_>>()})]
        }
        Provider::Gemini | Provider::GeminiOpenApi => {
            vec![json!({"role": "user", "parts": answers.iter().flat_map(gemini).collect::<Vec<_>>()})]
        }
    }
}

impl Answer {
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.tool)
    }

    /// Whether there is no call it could be the result of. It is told as a message then.
    fn is_to_nothing(&self) -> bool {
        self.id.is_none() && self.tool.is_empty()
    }

    fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks.iter().map(Block::of)
    }

    /// Everything as text.
    fn text(&self) -> String {
        joined(self.blocks().map(|block| block.text()))
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { NOTHING.to_owned() } else { texts.join("\n") }
}

/// Where there is no flag for it, an error must not look like a result.
fn error(text: &str) -> String {
    json!({ "error": text }).to_string()
}

fn chat(answer: &Answer) -> Value {
    let text = answer.text();
    if answer.is_to_nothing() {
        return json!({"role": "user", "content": text});
    }
    let content = if answer.is_error { error(&text) } else { text };
    json!({"role": "tool", "tool_call_id": answer.id(), "content": content})
}

fn response(answer: &Answer) -> Value {
    if answer.is_to_nothing() {
        return json!({"role": "user", "content": answer.text()});
    }
    let mut items = Vec::new();
    let mut words = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Media { mime, data, .. }
                if matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp") =>
            {
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

fn anthropic(answer: &Answer) -> Value {
    if answer.is_to_nothing() {
        return json!({"type": "text", "text": answer.text()});
    }
    let mut content = Vec::new();
    for block in answer.blocks() {
        content.push(match block {
            Block::Media { mime, data, .. }
                if matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp") =>
            {
                json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
            }
            Block::Media { mime: mime @ "application/pdf", data, .. } => {
                json!({"type": "document", "source": {"type": "base64", "media_type": mime, "data": data}})
            }
            block => match block.text() {
                // A text without text would be refused.
                text if text.trim().is_empty() => continue,
                text => json!({"type": "text", "text": text}),
            },
        });
    }
    if content.is_empty() {
        content.push(json!({"type": "text", "text": NOTHING}));
    }
    let mut result = json!({"type": "tool_result", "tool_use_id": answer.id(), "content": content});
    if let (true, Value::Object(result)) = (answer.is_error, &mut result) {
        result.insert("is_error".to_owned(), true.into());
    }
    result
}

fn gemini(answer: &Answer) -> Vec<Value> {
    // A result without the name of a function would be refused.
    if answer.tool.is_empty() {
        return vec![json!({"text": answer.text()})];
    }
    let mut media = Vec::new();
    let mut words = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Media { mime, data, .. } if block::is_known_to_gemini(mime) => {
                media.push(json!({"inlineData": {"mimeType": mime, "data": data}}));
            }
            block => words.push(block.text()),
        }
    }
    if !media.is_empty() {
        words.push(format!("[{} attached]", media.len()));
    }
    let key = if answer.is_error { "error" } else { "result" };
    let mut response = Map::new();
    response.insert("name".to_owned(), answer.tool.as_str().into());
    response.insert("response".to_owned(), json!({ key: joined(words.into_iter()) }));
    if let Some(id) = &answer.id {
        response.insert("id".to_owned(), id.as_str().into());
    }
    let mut parts = vec![json!({ "functionResponse": response })];
    parts.extend(media);
    parts
}

fn generic(answer: &Answer) -> Value {
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
