//! OpenAI's responses. Nothing is kept at the provider: reasoning comes encrypted, and goes back as it came.

use kitbag::Provider;
use kitbag_core::present::native;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::{ModelEvent, ReplySchema, Stop, Usage};
use super::{
    Asked, Assembled, Assembly, Broken, FORMAT_NAME, Messages, Part, WireFormat, Written, count, has_tools,
    is_busy, parts, said,
};

/// How it is spoken to.
pub(crate) struct ResponsesWire;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    input: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    stream: bool,
    store: bool,
    include: [&'static str; 1],
}

impl WireFormat for ResponsesWire {
    fn request(&self, asked: Asked<'_>) -> serde_json::Result<Written> {
        let mut input = Messages::default();
        for part in parts(asked.prompt, asked.model) {
            match part {
                Part::User(text) => input.push(&json!({"role": "user", "content": text}))?,
                Part::Own(raw) => {
                    let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                    items.into_iter().for_each(|item| input.push_raw(item));
                }
                Part::Other { text, calls } => {
                    if !text.is_empty() {
                        input.push(&json!({"role": "assistant", "content": text}))?;
                    }
                    for call in calls {
                        let (name, arguments) = (&call.tool, &call.arguments);
                        input.push(
                            &json!({"type": "function_call", "call_id": call.id, "name": name, "arguments": arguments}),
                        )?;
                    }
                }
                Part::Results(answers) => {
                    for item in native::encode(Provider::OpenAiResponses, &answers) {
                        input.push(&item)?;
                    }
                }
            }
        }
        let options = asked.prompt.options;
        let body = Body {
            model: &asked.model.name,
            instructions: asked.prompt.system,
            input: input.into_vec(),
            tools: Some(asked.prompt.tools).filter(|tools| has_tools(tools)),
            temperature: asked.temperature(),
            reasoning: asked.effort().map(|effort| json!({ "effort": effort })),
            max_output_tokens: options.max_tokens,
            text: options.schema.as_ref().map(format),
            stream: true,
            store: false,
            include: ["reasoning.encrypted_content"],
        };
        Ok(Written { path: "responses".to_owned(), body: serde_json::to_vec(&body)? })
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(ResponseAssembly::default())
    }
}

/// The JSON a reply consists of.
fn format(asked: &ReplySchema) -> Value {
    let (schema, strict) = (&asked.schema, asked.is_strict);
    json!({"format": {"type": "json_schema", "name": FORMAT_NAME, "schema": schema, "strict": strict}})
}

/// A reply as its pieces come in. The last event holds all of it again.
#[derive(Default)]
struct ResponseAssembly {
    items: Vec<Value>,
    usage: Usage,
    stop: Stop,
    is_over: bool,
}

impl Assembly for ResponseAssembly {
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut event: Value = serde_json::from_str(data)?;
        let delta = event.get("delta").and_then(Value::as_str).unwrap_or_default().to_owned();
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        match kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => events.push(ModelEvent::Text(delta)),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.push(ModelEvent::Reasoning(delta));
            }
            "response.output_item.added" if event.pointer("/item/type") == Some(&"function_call".into()) => {
                let name = event.pointer("/item/name").and_then(Value::as_str).unwrap_or_default();
                events.push(ModelEvent::Calling { tool: name.to_owned() });
            }
            "response.output_item.done" => self.items.extend(event.get_mut("item").map(Value::take)),
            "response.completed" | "response.incomplete" => {
                let response = event.get_mut("response").map(Value::take).unwrap_or_default();
                self.whole(response);
            }
            "response.failed" => {
                let error = event.pointer("/response/error").unwrap_or(&Value::Null);
                return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
            }
            "error" => return Err(Broken::Failed { said: said(&event), is_busy: is_busy(&event) }),
            // A host that does not stream gives the response itself.
            _ if event.get("object") == Some(&"response".into()) || event.get("output").is_some() => {
                if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
                    return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
                }
                self.whole(event);
                events.extend(self.items.iter().flat_map(texts).map(ModelEvent::Text));
            }
            _ if kind.is_empty() => return Err(Broken::Malformed("an event has no \"type\"".to_owned())),
            _ => {}
        }
        Ok(())
    }

    fn end(self: Box<Self>) -> Result<Assembled, Broken> {
        if !self.is_over {
            return Err(Broken::Cut);
        }
        Ok(Assembled { raw: to_raw_value(&self.items)?, usage: self.usage, stop: self.stop })
    }
}

impl ResponseAssembly {
    fn whole(&mut self, mut response: Value) {
        self.is_over = true;
        self.stop = match response.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Stop::Filtered,
            Some(_) => Stop::Length,
            None => Stop::Finished,
        };
        if let Some(usage) = response.get("usage") {
            self.usage = Usage {
                input: count(usage, "/input_tokens"),
                cached: count(usage, "/input_tokens_details/cached_tokens"),
                output: count(usage, "/output_tokens"),
            };
        }
        // Some hosts leave out of it what they sent before.
        if let Some(Value::Array(output)) = response.get_mut("output").map(Value::take)
            && !output.is_empty()
        {
            self.items = output;
        }
    }
}

fn texts(item: &Value) -> Vec<String> {
    let content = item.get("content").and_then(Value::as_array);
    let is_message = item.get("type").is_none_or(|kind| kind == "message");
    let text = |block: &Value| block.get("text").and_then(Value::as_str).map(str::to_owned);
    content.into_iter().flatten().filter(|_| is_message).filter_map(text).collect()
}
