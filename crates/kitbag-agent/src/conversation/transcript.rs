//! A conversation to read and to hand on: who said what, and each call with its result beside it. It is made without the
//! secrets of servers.

use std::fmt::Write as _;

use kitbag::Intent;
use kitbag_core::present::native::ToolAnswer;
use serde_json::{Value, json};

use super::{ChatItem, Conversation, ConversationId, Masks, calls, said, words};
use crate::model::{ModelId, Reply, Usage};

/// What was said in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The conversation.
    pub id: ConversationId,
    /// What was said, oldest first.
    pub messages: Vec<TranscriptMessage>,
}

/// One message of it.
#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptMessage {
    /// What the user said.
    User(String),
    /// What was answered, in nobody's own words.
    Said(String),
    /// A reply of a model.
    Model {
        /// Whose it is.
        model: ModelId,
        /// What it said; empty where it only made calls.
        text: String,
        /// The calls it made.
        calls: Vec<TranscriptCall>,
        /// What it cost.
        usage: Usage,
    },
}

/// A call, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptCall {
    /// The tool, as the model called it.
    pub tool: String,
    /// Its arguments; a string where they were no JSON.
    pub arguments: Value,
    /// What the model was told; nothing while the call runs.
    pub result: Option<TranscriptResult>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct TranscriptResult {
    /// The blocks of the result, each with its `type`.
    pub content: Vec<Value>,
    /// Whether it is an error.
    pub is_error: bool,
}

impl Transcript {
    pub(crate) fn of(conversation: &Conversation, masks: &Masks) -> Self {
        let mut messages: Vec<TranscriptMessage> = Vec::new();
        for item in conversation.items() {
            match item {
                ChatItem::User(text) => messages.push(TranscriptMessage::User(masks.text(text.clone()))),
                ChatItem::Said(text) => messages.push(TranscriptMessage::Said(masks.text(text.clone()))),
                ChatItem::Reply(reply) => messages.push(message(reply, masks)),
                // Results stand right behind the reply that asked for them, in the order of its calls.
                ChatItem::Results(answers) => {
                    let Some(TranscriptMessage::Model { calls, .. }) = messages.last_mut() else { continue };
                    for (call, answer) in calls.iter_mut().zip(answers) {
                        call.result = Some(result(answer, masks));
                    }
                }
            }
        }
        Self { id: conversation.id().clone(), messages }
    }

    /// The JSON that `docs/json.md` describes.
    pub fn to_json(&self) -> Value {
        let messages: Vec<Value> = self.messages.iter().map(TranscriptMessage::to_json).collect();
        json!({"conversation": self.id.as_str(), "messages": messages})
    }

    /// As Markdown: a heading for each message, calls and results in blocks of code.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# Conversation {}\n", self.id);
        for message in &self.messages {
            match message {
                TranscriptMessage::User(said) => text += &format!("\n## User\n\n{}\n", said.trim_end()),
                TranscriptMessage::Said(said) => text += &format!("\n## Answer\n\n{}\n", said.trim_end()),
                TranscriptMessage::Model { model, text: said, calls, .. } => {
                    text += &format!("\n## {model}\n");
                    if !said.trim().is_empty() {
                        text += &format!("\n{}\n", said.trim_end());
                    }
                    calls.iter().for_each(|call| text += &call.to_markdown());
                }
            }
        }
        text
    }
}

impl TranscriptMessage {
    fn to_json(&self) -> Value {
        match self {
            Self::User(text) => json!({"role": "user", "text": text}),
            Self::Said(text) => json!({"role": "assistant", "text": text}),
            Self::Model { model, text, calls, usage } => json!({
                "role": "assistant", "model": model.to_string(), "text": text,
                "calls": calls.iter().map(TranscriptCall::to_json).collect::<Vec<_>>(),
                "usage": {"input": usage.input, "cached": usage.cached, "output": usage.output},
            }),
        }
    }
}

impl TranscriptCall {
    fn to_json(&self) -> Value {
        let result = self
            .result
            .as_ref()
            .map(|result| json!({"is_error": result.is_error, "content": result.content}));
        json!({"tool": self.tool, "arguments": self.arguments, "result": result})
    }

    fn to_markdown(&self) -> String {
        let mut text = format!("\nCall of `{}`:\n\n", self.tool.replace('`', "'"));
        text += &fenced("json", &format!("{:#}", self.arguments));
        match &self.result {
            None => text += "\nNo result.\n",
            Some(result) => {
                let _ = write!(text, "\n{}:\n\n", if result.is_error { "Error" } else { "Result" });
                text += &fenced("text", &words(&result.content));
            }
        }
        text
    }
}

fn message(reply: &Reply, masks: &Masks) -> TranscriptMessage {
    let call = |request: kitbag::ModelRequest| TranscriptCall {
        tool: request.tool,
        arguments: masks.mask(match request.intent {
            Intent::Call { arguments, .. } => {
                serde_json::from_str(&arguments).unwrap_or(Value::String(arguments))
            }
            _ => Value::Null,
        }),
        result: None,
    };
    TranscriptMessage::Model {
        model: reply.model.clone(),
        text: masks.text(said(reply)),
        calls: calls(reply).into_iter().map(call).collect(),
        usage: reply.usage,
    }
}

fn result(answer: &ToolAnswer, masks: &Masks) -> TranscriptResult {
    let content = answer.blocks.iter().map(|block| masks.mask(block.clone())).collect();
    TranscriptResult { content, is_error: answer.is_error }
}

/// A block of code whose fence is longer than any in it.
fn fenced(kind: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{kind}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}
