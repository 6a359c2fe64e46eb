//! What a server asks of a model, in the words of a conversation.

use kitbag_core::present::native::ToolAnswer;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversation::ChatItem;
use crate::model::ReplyOptions;

/// What a server asks.
pub(super) struct SamplingRequest {
    pub(super) system: String,
    pub(super) items: Vec<ChatItem>,
    /// How the reply is to be made.
    pub(super) options: ReplyOptions,
    /// Whether it would like some model more than others.
    pub(super) has_preferences: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    messages: Vec<Message>,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    max_tokens: Option<usize>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    stop_sequences: Vec<String>,
    #[serde(default)]
    model_preferences: Option<Value>,
    #[serde(default)]
    tools: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    role: Role,
    content: Value,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

impl SamplingRequest {
    pub(super) fn read(params: &RawValue) -> Result<Self, String> {
        let params: Params =
            serde_json::from_str(params.get()).map_err(|error| format!("it cannot be read: {error}"))?;
        if params.tools.is_some_and(|tools| !tools.is_null()) {
            return Err("tools are not offered to it".to_owned());
        }
        if params.messages.is_empty() {
            return Err("it has no messages".to_owned());
        }
        let items = params.messages.into_iter().map(Message::item).collect::<Result<_, _>>()?;
        let has_preferences = params.model_preferences.is_some_and(|preferences| !preferences.is_null());
        let options = ReplyOptions {
            max_tokens: params.max_tokens,
            temperature: params.temperature,
            stop: params.stop_sequences,
            ..ReplyOptions::default()
        };
        Ok(Self { system: params.system_prompt.unwrap_or_default(), items, options, has_preferences })
    }
}

impl Message {
    fn item(self) -> Result<ChatItem, String> {
        let blocks = match self.content {
            Value::Array(blocks) => blocks,
            block => vec![block],
        };
        let is_text = |block: &Value| block.get("type") == Some(&Value::from("text"));
        let is_media = |block: &Value| matches!(block["type"].as_str(), Some("image" | "audio"));
        if let Some(other) = blocks.iter().find(|block| !is_text(block) && !is_media(block)) {
            let kind = other["type"].as_str().unwrap_or("unknown").chars().take(40).collect::<String>();
            return Err(format!("content of the type {kind:?} is not taken"));
        }
        let has_media = blocks.iter().any(is_media);
        if has_media && self.role == Role::User {
            // What belongs to no call is told as something the user says.
            let said = ToolAnswer { id: None, tool: String::new(), blocks, is_error: false };
            return Ok(ChatItem::Results(vec![said]));
        }
        let texts = blocks.iter().map(|block| block["text"].as_str().unwrap_or_default());
        let text = texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        Ok(match self.role {
            Role::User => ChatItem::User(text),
            Role::Assistant => ChatItem::Said(text),
        })
    }
}
