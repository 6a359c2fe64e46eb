//! What differs between the APIs of models: how a request is written, and how the pieces of a reply are put together. One
//! file each.

use kitbag_core::present::native::{self, ToolAnswer};
use kitbag_core::present::{Intent, ModelRequest};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::{Effort, ModelEvent, ModelId, Prompt, Reply, Stop, Usage};
use crate::conversation::ChatItem;

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

pub(crate) use anthropic::AnthropicWire;
pub(crate) use chat::ChatWire;
pub(crate) use gemini::GeminiWire;
pub(crate) use ollama::OllamaWire;
pub(crate) use responses::ResponsesWire;

/// A request as it is sent.
pub(crate) struct Written {
    /// Below the address of the API.
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Vec<u8>,
}

/// What a request is written from, besides what is asked.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) prompt: &'a Prompt<'a>,
    pub(crate) model: &'a ModelId,
    /// Tokens of the reply, for APIs that must be told.
    pub(crate) most_tokens: usize,
}

impl Asked<'_> {
    /// Whether the model takes neither a temperature nor stop sequences.
    fn is_reasoning(&self) -> bool {
        self.model.vendor.is_reasoning(&self.model.name)
    }

    fn temperature(&self) -> Option<f64> {
        self.prompt.options.temperature.filter(|_| !self.is_reasoning())
    }

    fn stop(&self) -> &[String] {
        if self.is_reasoning() { &[] } else { &self.prompt.options.stop }
    }

    fn effort(&self) -> Option<&'static str> {
        self.prompt.options.effort.map(Effort::as_str)
    }
}

/// What OpenAI's APIs call the JSON a reply consists of.
const FORMAT_NAME: &str = "reply";

/// How one API is spoken to.
pub(crate) trait WireFormat: Send + Sync {
    fn request(&self, asked: Asked<'_>) -> serde_json::Result<Written>;

    /// The headers that carry the key, and those that the API wants; the second says whether it is secret.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    /// For the pieces of one reply.
    fn assembly(&self) -> Box<dyn Assembly>;
}

/// Puts the pieces of one reply together.
pub(crate) trait Assembly: Send {
    /// Takes one piece, or a whole reply of a host that does not stream.
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken>;

    /// The whole reply, when the body has ended.
    fn end(self: Box<Self>) -> Result<Assembled, Broken>;
}

/// A whole reply.
pub(crate) struct Assembled {
    pub(crate) raw: Box<RawValue>,
    pub(crate) usage: Usage,
    pub(crate) stop: Stop,
}

/// What is wrong with a reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// It ended early.
    Cut,
    /// It is not as the API has it.
    Malformed(String),
    /// The host says that it failed.
    Failed {
        said: String,
        /// Whether it may be better at once.
        is_busy: bool,
    },
}

impl From<serde_json::Error> for Broken {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// One part of a conversation that an API has its own words for.
pub(crate) enum Part<'a> {
    /// What the user said.
    User(&'a str),
    /// A reply of this very provider, in its own words.
    Own(&'a RawValue),
    /// A reply of another provider: what it said, and the calls it made.
    Other { text: String, calls: Vec<Call> },
    /// What came of the calls of the reply before.
    Results(Vec<ToolAnswer>),
}

/// A call, whoever made it.
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// JSON text.
    pub(crate) arguments: String,
}

impl Call {
    /// The arguments as an object, whatever they are.
    pub(crate) fn object(&self) -> Value {
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ => Value::Object(Map::new()),
        }
    }
}

/// The parts of a conversation, as the model of this id is told them.
pub(crate) fn parts<'a>(prompt: &Prompt<'a>, model: &ModelId) -> Vec<Part<'a>> {
    let mut parts = Vec::with_capacity(prompt.items.len());
    let mut reply: Option<(usize, &Reply)> = None;
    for (at, item) in prompt.items.iter().copied().enumerate() {
        parts.push(match item {
            ChatItem::User(text) => Part::User(text),
            ChatItem::Said(text) => Part::Other { text: text.clone(), calls: Vec::new() },
            ChatItem::Reply(one) if one.model.vendor == model.vendor => {
                reply = None;
                Part::Own(&one.raw)
            }
            ChatItem::Reply(one) => {
                reply = Some((at, one));
                other(at, one)
            }
            ChatItem::Results(answers) => Part::Results(match reply {
                Some((at, _)) => with_ids(at, answers),
                None => answers.clone(),
            }),
        });
    }
    parts
}

fn other<'a>(at: usize, reply: &Reply) -> Part<'a> {
    let value: Value = serde_json::from_str(reply.raw.get()).unwrap_or_default();
    let (mut text, mut calls) = (Vec::new(), Vec::new());
    for ModelRequest { id, tool, intent } in native::decode(reply.model.vendor.provider(), &value) {
        match intent {
            Intent::Say(said) => text.push(said),
            Intent::Call { arguments, .. } => {
                calls.push(Call { id: id.unwrap_or_else(|| made_up(at, calls.len())), tool, arguments });
            }
            _ => {}
        }
    }
    Part::Other { text: text.join("\n"), calls }
}

/// Results of calls that were made without ids, for an API that wants them.
fn with_ids(at: usize, answers: &[ToolAnswer]) -> Vec<ToolAnswer> {
    let with_id = |(place, answer): (usize, &ToolAnswer)| {
        let mut answer = answer.clone();
        if answer.id.is_none() && !answer.tool.is_empty() {
            answer.id = Some(made_up(at, place));
        }
        answer
    };
    answers.iter().enumerate().map(with_id).collect()
}

fn made_up(at: usize, place: usize) -> String {
    format!("call_{at}_{place}")
}

/// Messages that are written one by one, each once.
#[derive(Default)]
pub(crate) struct Messages(Vec<Box<RawValue>>);

impl Messages {
    pub(crate) fn push(&mut self, message: &impl Serialize) -> serde_json::Result<()> {
        self.0.push(to_raw_value(message)?);
        Ok(())
    }

    /// One that is JSON text already.
    pub(crate) fn push_raw(&mut self, message: &RawValue) {
        self.0.push(message.to_owned());
    }

    pub(crate) fn into_vec(self) -> Vec<Box<RawValue>> {
        self.0
    }
}

/// Whether there are any definitions.
pub(crate) fn has_tools(tools: &Value) -> bool {
    tools.as_array().is_some_and(|tools| !tools.is_empty())
}

/// The words of an error, wherever a host puts them.
pub(crate) fn said(error: &Value) -> String {
    let message = error.get("message").or(error.get("error")).unwrap_or(error);
    message.as_str().map_or_else(|| message.to_string(), str::to_owned)
}

/// Whether an error of a host is about too many requests or too little room.
pub(crate) fn is_busy(error: &Value) -> bool {
    let says = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let kinds = [says("type"), says("code"), says("status")];
    ["overloaded", "rate_limit", "unavailable", "resource_exhausted", "server_error"]
        .iter()
        .any(|word| kinds.iter().any(|kind| kind.contains(word)))
}

/// A count, wherever it stands.
pub(crate) fn count(usage: &Value, path: &str) -> u64 {
    usage.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// A call in the form of OpenAI's chat completions.
pub(crate) fn chat_call(call: &Call) -> Value {
    let function = json!({"name": call.tool, "arguments": call.arguments});
    json!({"id": call.id, "type": "function", "function": function})
}
