//! What a model gets back: a result, a text or an error.

use serde_json::{Value, json};

/// What came of a call, by type.
#[derive(Clone, Debug, PartialEq)]
pub enum GatewayOutcome {
    /// Data.
    Result {
        /// Structured content as a list of objects; a value that is none is wrapped as `{"value": …}`.
        objects: Vec<Value>,
        /// Content that is not the same once more, each block with its type.
        blocks: Vec<Value>,
    },
    /// Words.
    Text(String),
    /// Why there is neither. Never without words.
    Error(String),
}

impl GatewayOutcome {
    /// The word for its type.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Result { .. } => "result",
            Self::Text(_) => "text",
            Self::Error(_) => "error",
        }
    }

    /// All of it as JSON.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Result { objects, blocks } if blocks.is_empty() => {
                json!({"type": self.kind(), "objects": objects})
            }
            Self::Result { objects, blocks } => {
                json!({"type": self.kind(), "objects": objects, "blocks": blocks})
            }
            Self::Text(text) => json!({"type": self.kind(), "text": text}),
            Self::Error(message) => json!({"type": self.kind(), "message": message}),
        }
    }
}

/// Whether a tool says that it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFlag {
    /// It does not.
    Fine,
    /// It does.
    Failed,
}

/// The type of a result, from its content blocks as received, its structured content and its error flag.
pub fn outcome(blocks: &[Value], structured: Option<&Value>, flag: ErrorFlag) -> GatewayOutcome {
    let texts: Vec<&str> = blocks.iter().filter_map(text).collect();
    let words = texts.join("\n");
    if flag == ErrorFlag::Failed {
        let data = || structured.map(Value::to_string).unwrap_or_default();
        let message = Some(words).filter(|text| !text.trim().is_empty()).unwrap_or_else(data);
        let message = Some(message).filter(|text| !text.is_empty());
        return GatewayOutcome::Error(
            message.unwrap_or_else(|| "the tool failed and gave no reason".to_owned()),
        );
    }
    if let Some(value) = structured {
        let is_copy = |block: &&Value| text(block).is_some_and(|text| says(text, value));
        let blocks = blocks.iter().filter(|block| !is_copy(block)).cloned().collect();
        return GatewayOutcome::Result { objects: objects(value), blocks };
    }
    if texts.len() == blocks.len() {
        return GatewayOutcome::Text(words);
    }
    GatewayOutcome::Result { objects: Vec::new(), blocks: blocks.to_vec() }
}

fn text(block: &Value) -> Option<&str> {
    block.get("type").filter(|kind| *kind == "text")?;
    block.get("text")?.as_str()
}

/// Whether a text is the value once more.
fn says(text: &str, value: &Value) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
}

fn objects(value: &Value) -> Vec<Value> {
    let wrapped = |value: &Value| if value.is_object() { value.clone() } else { json!({ "value": value }) };
    match value {
        Value::Array(items) => items.iter().map(wrapped).collect(),
        other => vec![wrapped(other)],
    }
}
