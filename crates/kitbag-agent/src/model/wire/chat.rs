//! OpenAI's chat completions, and every host that imitates them.

use kitbag::Provider;
use kitbag_core::present::native;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::{ModelEvent, ReplySchema, Stop, Usage};
use super::{
    Asked, Assembled, Assembly, Broken, FORMAT_NAME, Messages, Part, WireFormat, Written, chat_call, count,
    has_tools, is_busy, parts, said,
};

/// How it is spoken to.
pub(crate) struct ChatWire;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    // Models that think first know the new name alone, many hosts that imitate the API the old one.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    stream: bool,
    stream_options: Value,
}

impl WireFormat for ChatWire {
    fn request(&self, asked: Asked<'_>) -> serde_json::Result<Written> {
        let mut messages = Messages::default();
        if !asked.prompt.system.is_empty() {
            messages.push(&json!({"role": "system", "content": asked.prompt.system}))?;
        }
        for part in parts(asked.prompt, asked.model) {
            match part {
                Part::User(text) => messages.push(&json!({"role": "user", "content": text}))?,
                Part::Own(raw) => messages.push_raw(raw),
                Part::Other { text, calls } => {
                    let mut message = json!({"role": "assistant", "content": text});
                    if !calls.is_empty() {
                        message["tool_calls"] = calls.iter().map(chat_call).collect();
                    }
                    messages.push(&message)?;
                }
                Part::Results(answers) => {
                    for message in native::encode(Provider::OpenAiChat, &answers) {
                        messages.push(&message)?;
                    }
                }
            }
        }
        let options = asked.prompt.options;
        let body = Body {
            model: &asked.model.name,
            messages: messages.into_vec(),
            tools: Some(asked.prompt.tools).filter(|tools| has_tools(tools)),
            temperature: asked.temperature(),
            reasoning_effort: asked.effort(),
            stop: asked.stop(),
            max_tokens: options.max_tokens.filter(|_| !asked.is_reasoning()),
            max_completion_tokens: options.max_tokens.filter(|_| asked.is_reasoning()),
            response_format: options.schema.as_ref().map(format),
            stream: true,
            stream_options: json!({"include_usage": true}),
        };
        Ok(Written { path: "chat/completions".to_owned(), body: serde_json::to_vec(&body)? })
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(ChatAssembly::default())
    }
}

/// The JSON a reply consists of.
fn format(asked: &ReplySchema) -> Value {
    let (schema, strict) = (&asked.schema, asked.is_strict);
    json!({"type": "json_schema", "json_schema": {"name": FORMAT_NAME, "schema": schema, "strict": strict}})
}

/// A reply as its pieces come in.
#[derive(Default)]
struct ChatAssembly {
    text: String,
    refusal: String,
    /// By place; hosts add keys of their own to calls, and want them back.
    calls: Vec<Map<String, Value>>,
    usage: Usage,
    finish: Option<String>,
}

impl Assembly for ChatAssembly {
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        if data.trim() == "[DONE]" {
            self.finish.get_or_insert_default();
            return Ok(());
        }
        let piece: Value = serde_json::from_str(data)?;
        if let Some(error) = piece.get("error").filter(|error| !error.is_null()) {
            return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
        }
        if let Some(usage) = piece.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Usage {
                input: count(usage, "/prompt_tokens"),
                cached: count(usage, "/prompt_tokens_details/cached_tokens"),
                output: count(usage, "/completion_tokens"),
            };
        }
        let Some(choices) = piece.get("choices").and_then(Value::as_array) else {
            return Err(Broken::Malformed("it has no \"choices\"".to_owned()));
        };
        // The last piece has only the usage.
        let Some(choice) = choices.first() else { return Ok(()) };
        if let Some(delta) = choice.get("delta").or(choice.get("message")) {
            self.delta(delta, events);
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Assembled, Broken> {
        let Some(finish) = self.finish else { return Err(Broken::Cut) };
        let stop = match finish.as_str() {
            "length" => Stop::Length,
            "content_filter" => Stop::Filtered,
            _ => Stop::Finished,
        };
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        let content = if self.text.is_empty() { Value::Null } else { self.text.into() };
        message.insert("content".to_owned(), content);
        if !self.refusal.is_empty() {
            message.insert("refusal".to_owned(), self.refusal.into());
        }
        if !self.calls.is_empty() {
            let calls = self.calls.into_iter().enumerate().map(|(at, call)| whole(at, call));
            message.insert("tool_calls".to_owned(), calls.collect());
        }
        Ok(Assembled { raw: to_raw_value(&message)?, usage: self.usage, stop })
    }
}

impl ChatAssembly {
    fn delta(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        let filled = |key: &str| delta.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(reasoning) = filled("reasoning_content").or_else(|| filled("reasoning")) {
            events.push(ModelEvent::Reasoning(reasoning.to_owned()));
        }
        if let Some(text) = filled("content") {
            self.text.push_str(text);
            events.push(ModelEvent::Text(text.to_owned()));
        }
        if let Some(text) = filled("refusal") {
            self.refusal.push_str(text);
            events.push(ModelEvent::Text(text.to_owned()));
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (at, call) in calls.into_iter().flatten().enumerate() {
            self.call(at, call, events);
        }
    }

    /// A piece of a call. Hosts that send calls whole often leave its place out.
    fn call(&mut self, at: usize, piece: &Value, events: &mut Vec<ModelEvent>) {
        let named = piece.get("index").and_then(Value::as_u64).and_then(|index| usize::try_from(index).ok());
        let id = piece.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
        let is_new =
            |call: &Map<String, Value>| id.is_some_and(|id| call.get("id").is_some_and(|own| own != id));
        let place = match named {
            // Some hosts number every call 0; another id is another call.
            Some(index) => match self.calls.get(index) {
                Some(call) if is_new(call) => self.calls.len(),
                _ => index.min(self.calls.len()),
            },
            None if id.is_some() => {
                let own = |call: &Map<String, Value>| call.get("id").and_then(Value::as_str) == id;
                self.calls.iter().position(own).unwrap_or(self.calls.len())
            }
            None => at.min(self.calls.len()),
        };
        if place == self.calls.len() {
            self.calls.push(Map::new());
            let name = piece.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            events.push(ModelEvent::Calling { tool: name.to_owned() });
        }
        let Some(call) = self.calls.get_mut(place) else { return };
        for (key, value) in piece.as_object().into_iter().flatten() {
            match (key.as_str(), value) {
                ("index", _) | (_, Value::Null) => {}
                ("function", value) => {
                    let function = call.entry("function").or_insert_with(|| json!({}));
                    merge(function, value);
                }
                (key, value) => {
                    call.insert(key.to_owned(), value.clone());
                }
            }
        }
    }
}

/// The next piece of a function: its arguments come in pieces, its name once.
fn merge(function: &mut Value, piece: &Value) {
    let Some(own) = function.as_object_mut() else { return };
    for (key, value) in piece.as_object().into_iter().flatten() {
        match (key.as_str(), own.get_mut(key), value) {
            ("arguments", Some(Value::String(text)), Value::String(more)) => text.push_str(more),
            (_, _, Value::Null) => {}
            // Repeated in every piece by some hosts, and empty in later ones by others.
            ("name", Some(_), _) => {}
            ("arguments", _, value @ Value::Object(_)) => {
                own.insert(key.clone(), value.to_string().into());
            }
            (_, _, value) => {
                own.insert(key.clone(), value.clone());
            }
        }
    }
}

/// A call with everything that it must have to be sent back.
fn whole(at: usize, mut call: Map<String, Value>) -> Value {
    if call.get("id").and_then(Value::as_str).is_none_or(str::is_empty) {
        call.insert("id".to_owned(), format!("call_{at}_{:08x}", fastrand::u32(..)).into());
    }
    call.entry("type").or_insert_with(|| "function".into());
    let function = call.entry("function").or_insert_with(|| json!({"name": ""}));
    if let Some(function) = function.as_object_mut() {
        function.entry("arguments").or_insert_with(|| "{}".into());
    }
    Value::Object(call)
}
