//! Ollama's chat: a JSON value a line. Definitions are those of OpenAI's chat completions; calls have no ids of their own,
//! so results are told apart by the tool's name and their order.

use kitbag::Provider;
use kitbag_core::present::native;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::{ModelEvent, Stop, Usage};
use super::{
    Asked, Assembled, Assembly, Broken, Messages, Part, WireFormat, Written, has_tools, is_busy, parts, said,
};

/// How it is spoken to.
pub(crate) struct OllamaWire;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    options: Map<String, Value>,
    stream: bool,
}

impl WireFormat for OllamaWire {
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
                    let call = |call: &super::Call| json!({"function": {"name": call.tool, "arguments": call.object()}});
                    let mut message = json!({"role": "assistant", "content": text});
                    if !calls.is_empty() {
                        message["tool_calls"] = calls.iter().map(call).collect();
                    }
                    messages.push(&message)?;
                }
                Part::Results(answers) => {
                    let written = native::encode(Provider::OpenAiChat, &answers);
                    for (mut message, answer) in written.into_iter().zip(&answers) {
                        if let Some(fields) = message.as_object_mut().filter(|_| !answer.tool.is_empty()) {
                            fields.insert("tool_name".to_owned(), answer.tool.as_str().into());
                            if answer.id.is_none() {
                                fields.shift_remove("tool_call_id");
                            }
                        }
                        messages.push(&message)?;
                    }
                }
            }
        }
        let body = Body {
            model: &asked.model.name,
            messages: messages.into_vec(),
            tools: Some(asked.prompt.tools).filter(|tools| has_tools(tools)),
            think: asked.effort(),
            format: asked.prompt.options.schema.as_ref().map(|asked| &asked.schema),
            options: options(asked),
            stream: true,
        };
        Ok(Written { path: "api/chat".to_owned(), body: serde_json::to_vec(&body)? })
    }

    fn headers(&self, _: Option<&str>) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(LineAssembly::default())
    }
}

/// How the reply is to be made.
fn options(asked: Asked<'_>) -> Map<String, Value> {
    let stop = Some(asked.stop()).filter(|stop| !stop.is_empty());
    let all = [
        ("temperature", asked.temperature().map(Value::from)),
        ("stop", stop.map(|stop| json!(stop))),
        ("num_predict", asked.prompt.options.max_tokens.map(Value::from)),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    message: Option<Message>,
    done: bool,
    done_reason: Option<String>,
    prompt_eval_count: u64,
    eval_count: u64,
    error: Option<Value>,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Message {
    role: String,
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    thinking: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Box<RawValue>>,
}

/// A reply as its pieces come in.
#[derive(Default)]
struct LineAssembly {
    whole: Message,
    usage: Usage,
    stop: Stop,
    is_over: bool,
}

impl Assembly for LineAssembly {
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        let line: Line = serde_json::from_str(data)?;
        if let Some(error) = &line.error {
            return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
        }
        if line.message.is_none() && !line.done {
            return Err(Broken::Malformed("a line has no \"message\"".to_owned()));
        }
        let message = line.message.unwrap_or_default();
        if !message.thinking.is_empty() {
            self.whole.thinking.push_str(&message.thinking);
            events.push(ModelEvent::Reasoning(message.thinking));
        }
        if !message.content.is_empty() {
            self.whole.content.push_str(&message.content);
            events.push(ModelEvent::Text(message.content));
        }
        for call in message.tool_calls {
            let value: Value = serde_json::from_str(call.get())?;
            let name = value.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            events.push(ModelEvent::Calling { tool: name.to_owned() });
            self.whole.tool_calls.push(call);
        }
        if line.done {
            self.is_over = true;
            self.usage = Usage { input: line.prompt_eval_count, cached: 0, output: line.eval_count };
            self.stop =
                if line.done_reason.as_deref() == Some("length") { Stop::Length } else { Stop::Finished };
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<Assembled, Broken> {
        if !self.is_over {
            return Err(Broken::Cut);
        }
        "assistant".clone_into(&mut self.whole.role);
        Ok(Assembled { raw: to_raw_value(&self.whole)?, usage: self.usage, stop: self.stop })
    }
}
