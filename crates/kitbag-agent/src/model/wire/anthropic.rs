//! Anthropic's messages. What the model thought is signed, and goes back as it came; the parts of a request that stay the
//! same from turn to turn are marked for its cache.

use kitbag::Provider;
use kitbag_core::present::native;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::{ModelEvent, Stop, Usage};
use super::{
    Asked, Assembled, Assembly, Broken, Messages, Part, WireFormat, Written, count, has_tools, is_busy,
    parts, said,
};

/// How it is spoken to.
pub(crate) struct AnthropicWire;

/// The version of the API.
const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
    #[serde(skip_serializing_if = "Map::is_empty")]
    output_config: Map<String, Value>,
    stream: bool,
}

impl WireFormat for AnthropicWire {
    fn request(&self, asked: Asked<'_>) -> serde_json::Result<Written> {
        let mut messages = Messages::default();
        let parts = parts(asked.prompt, asked.model);
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.into_iter().enumerate() {
            let mut own: Vec<Value> = match part {
                Part::User(text) => {
                    vec![json!({"role": "user", "content": [{"type": "text", "text": text}]})]
                }
                Part::Own(raw) => {
                    push_own(raw, &mut messages)?;
                    continue;
                }
                Part::Other { text, calls } => {
                    let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
                    let calls = calls.iter().map(
                        |call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.object()}),
                    );
                    let content: Vec<Value> = text.into_iter().chain(calls).collect();
                    if content.is_empty() {
                        vec![]
                    } else {
                        vec![json!({"role": "assistant", "content": content})]
                    }
                }
                Part::Results(answers) => native::encode(Provider::Anthropic, &answers),
            };
            if at == last {
                own.iter_mut().for_each(mark_last_block);
            }
            for message in &own {
                messages.push(message)?;
            }
        }
        // What stands before the mark is cached with it: definitions come first.
        let system = asked.prompt.system;
        let cached = json!({"type": "text", "text": system, "cache_control": {"type": "ephemeral"}});
        let options = asked.prompt.options;
        let body = Body {
            model: &asked.model.name,
            max_tokens: options.max_tokens.unwrap_or(asked.most_tokens),
            tools: Some(asked.prompt.tools).filter(|tools| has_tools(tools)),
            system: if system.is_empty() { Vec::new() } else { vec![cached] },
            messages: messages.into_vec(),
            // No other number is taken.
            temperature: asked.temperature().map(|temperature| temperature.clamp(0.0, 1.0)),
            stop_sequences: asked.stop(),
            output_config: output_config(asked),
            stream: true,
        };
        Ok(Written { path: "v1/messages".to_owned(), body: serde_json::to_vec(&body)? })
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-api-key", key.to_owned()));
        key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(MessageAssembly::default())
    }
}

/// How much thought is put into the reply, and the JSON it consists of.
fn output_config(asked: Asked<'_>) -> Map<String, Value> {
    let format = asked.prompt.options.schema.as_ref();
    let format = format.map(|asked| json!({"type": "json_schema", "schema": asked.schema}));
    let all = [("effort", asked.effort().map(Value::from)), ("format", format)];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// A reply of its own, as it was. Arguments that were no JSON are kept as text, and not taken back so.
fn push_own(raw: &RawValue, messages: &mut Messages) -> serde_json::Result<()> {
    if !raw.get().contains("\"input\":\"") {
        messages.push_raw(raw);
        return Ok(());
    }
    let mut message: Value = serde_json::from_str(raw.get())?;
    for block in message["content"].as_array_mut().into_iter().flatten() {
        if let Some(text @ Value::String(_)) = block.get("input").cloned() {
            block["input"] = json!({ "unreadable": text });
        }
    }
    messages.push(&message)
}

fn mark_last_block(message: &mut Value) {
    let last = message.get_mut("content").and_then(Value::as_array_mut).and_then(|blocks| blocks.last_mut());
    if let Some(Value::Object(block)) = last {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// A reply as its pieces come in.
#[derive(Default)]
struct MessageAssembly {
    blocks: Vec<Block>,
    usage: Usage,
    stop: Option<String>,
    is_over: bool,
}

/// An object whose values are JSON text already.
struct InOrder<'a>(Vec<(&'a str, Box<RawValue>)>);

impl Serialize for InOrder<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// One block: as it began, and what was added.
struct Block {
    fields: Map<String, Value>,
    input: String,
}

impl Assembly for MessageAssembly {
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        let event: Value = serde_json::from_str(data)?;
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => self.count(event.pointer("/message/usage")),
            Some("content_block_start") => {
                let block =
                    event.get("content_block").and_then(Value::as_object).cloned().unwrap_or_default();
                self.begin(block, events);
            }
            Some("content_block_delta") => {
                let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
                let block = usize::try_from(index).ok().and_then(|index| self.blocks.get_mut(index));
                let Some(block) = block else {
                    return Err(Broken::Malformed("a delta belongs to no block".to_owned()));
                };
                block.add(event.get("delta").unwrap_or(&Value::Null), events);
            }
            Some("message_delta") => {
                self.stop = event.pointer("/delta/stop_reason").and_then(Value::as_str).map(str::to_owned);
                self.count(event.get("usage"));
            }
            Some("message_stop") => self.is_over = true,
            Some("error") => {
                let error = event.get("error").unwrap_or(&Value::Null);
                return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
            }
            Some("message") => self.whole(data, &event, events)?,
            Some(_) => {}
            None => return Err(Broken::Malformed("an event has no \"type\"".to_owned())),
        }
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Assembled, Broken> {
        if !self.is_over {
            return Err(Broken::Cut);
        }
        let stop = match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => Stop::Length,
            Some("refusal") => Stop::Filtered,
            _ => Stop::Finished,
        };
        let content: Vec<Box<RawValue>> = self
            .blocks
            .into_iter()
            .filter_map(|block| block.written().transpose())
            .collect::<Result<_, _>>()?;
        #[derive(Serialize)]
        struct Message {
            role: &'static str,
            content: Vec<Box<RawValue>>,
        }
        let raw = to_raw_value(&Message { role: "assistant", content })?;
        Ok(Assembled { raw, usage: self.usage, stop })
    }
}

impl MessageAssembly {
    fn begin(&mut self, mut fields: Map<String, Value>, events: &mut Vec<ModelEvent>) {
        if let Some(name) = fields.get("name").and_then(Value::as_str) {
            events.push(ModelEvent::Calling { tool: name.to_owned() });
        }
        let input =
            fields.shift_remove("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
        let input = input.map(|input| input.to_string()).unwrap_or_default();
        let mut block = Block { fields: Map::new(), input };
        let first = [("text", "text_delta"), ("thinking", "thinking_delta")];
        for (key, kind) in first {
            if let Some(text) = fields.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                block.add(&json!({"type": kind, key: text}), events);
            }
        }
        fields.extend(std::mem::take(&mut block.fields));
        self.blocks.push(Block { fields, ..block });
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let (read, made) =
            (count(usage, "/cache_read_input_tokens"), count(usage, "/cache_creation_input_tokens"));
        self.usage.input = self.usage.input.max(count(usage, "/input_tokens") + read + made);
        self.usage.cached = self.usage.cached.max(read);
        self.usage.output = self.usage.output.max(count(usage, "/output_tokens"));
    }

    /// A whole message, of a host that does not stream. Arguments keep all digits of their numbers.
    fn whole(&mut self, data: &str, message: &Value, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        #[derive(serde::Deserialize)]
        struct Whole<'a> {
            #[serde(borrow)]
            content: Vec<Inner<'a>>,
        }
        #[derive(serde::Deserialize)]
        struct Inner<'a> {
            #[serde(borrow, default)]
            input: Option<&'a RawValue>,
        }
        let exact: Whole<'_> = serde_json::from_str(data)?;
        self.count(message.get("usage"));
        self.stop = message.get("stop_reason").and_then(Value::as_str).map(str::to_owned);
        let blocks = message.get("content").and_then(Value::as_array);
        for (block, exact) in blocks.into_iter().flatten().zip(exact.content) {
            self.begin(block.as_object().cloned().unwrap_or_default(), events);
            if let (Some(block), Some(input)) = (self.blocks.last_mut(), exact.input) {
                block.input = input.get().to_owned();
            }
        }
        self.is_over = true;
        Ok(())
    }
}

impl Block {
    fn add(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (key, more) = match delta.get("type").and_then(Value::as_str) {
            Some("text_delta") => {
                events.push(ModelEvent::Text(text("text")));
                ("text", text("text"))
            }
            Some("thinking_delta") => {
                events.push(ModelEvent::Reasoning(text("thinking")));
                ("thinking", text("thinking"))
            }
            Some("signature_delta") => ("signature", text("signature")),
            Some("input_json_delta") => return self.input.push_str(&text("partial_json")),
            _ => return,
        };
        match self.fields.get_mut(key) {
            Some(Value::String(own)) => own.push_str(&more),
            _ => {
                self.fields.insert(key.to_owned(), more.into());
            }
        }
    }

    /// As it is sent back; nothing for a text without text, which would be refused.
    fn written(self) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        let kind = self.fields.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = self.fields.get("text").and_then(Value::as_str).unwrap_or_default();
        if kind == "text" && text.trim().is_empty() {
            return Ok(None);
        }
        if !kind.ends_with("tool_use") {
            return to_raw_value(&self.fields).map(Some);
        }
        let input = match self.input.trim() {
            "" => RawValue::from_string("{}".to_owned())?,
            text => match serde_json::from_str::<Box<RawValue>>(text) {
                Ok(raw) if text.starts_with('{') => raw,
                // Whoever reads the call says what is wrong with it.
                _ => to_raw_value(text)?,
            },
        };
        let fields = self.fields.iter().map(|(key, value)| Ok((key.as_str(), to_raw_value(value)?)));
        let fields = fields.chain([Ok(("input", input))]).collect::<serde_json::Result<Vec<_>>>()?;
        to_raw_value(&InOrder(fields)).map(Some)
    }
}
