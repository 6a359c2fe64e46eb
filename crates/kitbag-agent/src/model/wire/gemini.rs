//! Google's Gemini. What the model thought is signed in the parts of its reply, which go back as they came.

use kitbag::Provider;
use kitbag_core::present::native;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::super::{ModelEvent, Stop, Usage};
use super::{
    Asked, Assembled, Assembly, Broken, Messages, Part, WireFormat, Written, count, has_tools, is_busy,
    parts, said,
};

/// How it is spoken to.
pub(crate) struct GeminiWire;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    contents: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    generation_config: Map<String, Value>,
}

impl WireFormat for GeminiWire {
    fn request(&self, asked: Asked<'_>) -> serde_json::Result<Written> {
        let mut contents = Messages::default();
        for part in parts(asked.prompt, asked.model) {
            match part {
                Part::User(text) => contents.push(&json!({"role": "user", "parts": [{"text": text}]}))?,
                Part::Own(raw) => {
                    let reply: OwnReply<'_> = serde_json::from_str(raw.get())?;
                    if let Some(content) = reply.candidates.first().and_then(|candidate| candidate.content) {
                        contents.push_raw(content);
                    }
                }
                Part::Other { text, calls } => {
                    let text = (!text.is_empty()).then(|| json!({"text": text}));
                    let calls = calls
                        .iter()
                        .map(|call| json!({"functionCall": {"name": call.tool, "args": call.object()}}));
                    let parts: Vec<Value> = text.into_iter().chain(calls).collect();
                    if !parts.is_empty() {
                        contents.push(&json!({"role": "model", "parts": parts}))?;
                    }
                }
                Part::Results(answers) => {
                    for message in native::encode(Provider::Gemini, &answers) {
                        contents.push(&message)?;
                    }
                }
            }
        }
        let system = asked.prompt.system;
        let body = Body {
            contents: contents.into_vec(),
            tools: Some(asked.prompt.tools).filter(|tools| has_tools(tools)),
            system_instruction: (!system.is_empty()).then(|| json!({"parts": [{"text": system}]})),
            generation_config: generation_config(asked),
        };
        let path = format!("v1beta/models/{}:streamGenerateContent?alt=sse", asked.model.name);
        Ok(Written { path, body: serde_json::to_vec(&body)? })
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect()
    }

    fn assembly(&self) -> Box<dyn Assembly> {
        Box::new(ContentAssembly::default())
    }
}

/// How the reply is to be made.
fn generation_config(asked: Asked<'_>) -> Map<String, Value> {
    let options = asked.prompt.options;
    let stop = Some(asked.stop()).filter(|stop| !stop.is_empty());
    let schema = options.schema.as_ref();
    let all = [
        ("temperature", asked.temperature().map(Value::from)),
        ("stopSequences", stop.map(|stop| json!(stop))),
        ("maxOutputTokens", options.max_tokens.map(Value::from)),
        ("thinkingConfig", asked.effort().map(|effort| json!({ "thinkingLevel": effort }))),
        ("responseMimeType", schema.map(|_| "application/json".into())),
        ("responseJsonSchema", schema.map(|asked| asked.schema.clone())),
    ];
    all.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

#[derive(Deserialize)]
struct OwnReply<'a> {
    #[serde(borrow)]
    candidates: Vec<OwnCandidate<'a>>,
}

#[derive(Deserialize)]
struct OwnCandidate<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Piece {
    candidates: Vec<Candidate>,
    usage_metadata: Option<Value>,
    prompt_feedback: Option<Value>,
    error: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    parts: Vec<Box<RawValue>>,
}

/// A reply as its pieces come in.
#[derive(Default)]
struct ContentAssembly {
    parts: Vec<Box<RawValue>>,
    /// Plain text that is not in `parts` yet.
    text: String,
    usage: Usage,
    finish: Option<String>,
}

impl Assembly for ContentAssembly {
    fn take(&mut self, data: &str, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        // A host that does not stream events gives a list of all pieces.
        if data.trim_start().starts_with('[') {
            let pieces: Vec<Piece> = serde_json::from_str(data)?;
            return pieces.into_iter().try_for_each(|piece| self.piece(piece, events));
        }
        self.piece(serde_json::from_str(data)?, events)
    }

    fn end(mut self: Box<Self>) -> Result<Assembled, Broken> {
        self.settle()?;
        let Some(finish) = self.finish else { return Err(Broken::Cut) };
        let stop = match finish.as_str() {
            "MAX_TOKENS" => Stop::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" => {
                Stop::Filtered
            }
            _ => Stop::Finished,
        };
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Whole {
            candidates: [One; 1],
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct One {
            #[serde(skip_serializing_if = "Option::is_none")]
            content: Option<Said>,
            finish_reason: String,
        }
        #[derive(Serialize)]
        struct Said {
            role: &'static str,
            parts: Vec<Box<RawValue>>,
        }
        let content = (!self.parts.is_empty()).then_some(Said { role: "model", parts: self.parts });
        let raw = to_raw_value(&Whole { candidates: [One { content, finish_reason: finish }] })?;
        Ok(Assembled { raw, usage: self.usage, stop })
    }
}

impl ContentAssembly {
    fn piece(&mut self, piece: Piece, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        if let Some(error) = &piece.error {
            return Err(Broken::Failed { said: said(error), is_busy: is_busy(error) });
        }
        if let Some(usage) = &piece.usage_metadata {
            self.usage = Usage {
                input: count(usage, "/promptTokenCount"),
                cached: count(usage, "/cachedContentTokenCount"),
                output: count(usage, "/candidatesTokenCount") + count(usage, "/thoughtsTokenCount"),
            };
        }
        if piece.prompt_feedback.as_ref().and_then(|feedback| feedback.get("blockReason")).is_some() {
            self.finish = Some("SAFETY".to_owned());
        }
        let Some(candidate) = piece.candidates.into_iter().next() else { return Ok(()) };
        for part in candidate.content.unwrap_or_default().parts {
            self.part(part, events)?;
        }
        self.finish = candidate.finish_reason.or(self.finish.take());
        Ok(())
    }

    fn part(&mut self, part: Box<RawValue>, events: &mut Vec<ModelEvent>) -> Result<(), Broken> {
        let value: Value = serde_json::from_str(part.get())?;
        let text = value.get("text").and_then(Value::as_str);
        if let Some(text) = text {
            let is_thought = value.get("thought") == Some(&Value::Bool(true));
            let event = if is_thought { ModelEvent::Reasoning } else { ModelEvent::Text };
            events.push(event(text.to_owned()));
        }
        if let Some(name) = value.pointer("/functionCall/name").and_then(Value::as_str) {
            events.push(ModelEvent::Calling { tool: name.to_owned() });
        }
        match text {
            // Plain pieces of one text are one part.
            Some(text) if value.as_object().is_some_and(|part| part.len() == 1) => self.text.push_str(text),
            _ => {
                self.settle()?;
                self.parts.push(part);
            }
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), Broken> {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.parts.push(to_raw_value(&json!({ "text": text }))?);
        }
        Ok(())
    }
}
