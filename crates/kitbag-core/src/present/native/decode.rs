//! What a model's reply asks for, read from the shapes each provider sends. Only what was meant as a call is one;
//! what it says besides is said.

use serde_json::Value;

use super::Provider;
use crate::present::{Asked, Intent};

mod generic;

/// Reads a reply: the provider's whole answer, or the message in it.
pub fn decode(provider: Provider, reply: &Value) -> Vec<Asked> {
    let mut asked = Vec::new();
    match provider {
        Provider::OpenAiChat => chat(reply, &mut asked),
        Provider::OpenAiResponses => responses(reply, &mut asked),
        Provider::Anthropic => anthropic(reply, &mut asked),
        Provider::Gemini | Provider::GeminiOpenApi => gemini(reply, &mut asked),
        Provider::Generic => generic::read(reply, &mut asked),
    }
    asked
}

fn chat(reply: &Value, asked: &mut Vec<Asked>) {
    let first = reply.get("choices").and_then(|choices| choices.get(0));
    let message = first.and_then(|choice| choice.get("message")).unwrap_or(reply);
    texts(message.get("content"), asked);
    texts(message.get("refusal"), asked);
    for call in list(message.get("tool_calls")) {
        let function = call.get("function").unwrap_or(call);
        push(call.get("id"), function.get("name"), function.get("arguments"), asked);
    }
    // What came before `tool_calls`.
    if let Some(function) = message.get("function_call").filter(|function| function.is_object()) {
        push(None, function.get("name"), function.get("arguments"), asked);
    }
}

fn responses(reply: &Value, asked: &mut Vec<Asked>) {
    let output = reply.get("output").unwrap_or(reply);
    let one = std::slice::from_ref(output);
    for item in output.as_array().map_or(one, Vec::as_slice) {
        match item.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let id = item.get("call_id").or(item.get("id"));
                push(id, item.get("name"), item.get("arguments"), asked);
            }
            Some("message") => texts(item.get("content"), asked),
            _ => {}
        }
    }
}

fn anthropic(reply: &Value, asked: &mut Vec<Asked>) {
    let content = reply.get("content").unwrap_or(reply);
    if content.is_string() {
        return texts(Some(content), asked);
    }
    for block in list(Some(content)) {
        match block.get("type").and_then(Value::as_str) {
            Some("tool_use") => push(block.get("id"), block.get("name"), block.get("input"), asked),
            Some("text") => texts(block.get("text"), asked),
            _ => {}
        }
    }
}

fn gemini(reply: &Value, asked: &mut Vec<Asked>) {
    let candidate = reply.get("candidates").and_then(|candidates| candidates.get(0));
    let content = candidate.map_or(Some(reply), |candidate| candidate.get("content"));
    let parts = content.and_then(|content| content.get("parts"));
    for part in list(parts) {
        let call = part.get("functionCall").or(part.get("function_call"));
        if let Some(call) = call.filter(|call| call.is_object()) {
            push(call.get("id"), call.get("name"), call.get("args"), asked);
        } else if part.get("thought") != Some(&Value::Bool(true)) {
            texts(part.get("text"), asked);
        }
    }
    let ended = candidate.and_then(|candidate| candidate.get("finishReason")).and_then(Value::as_str);
    if matches!(ended, Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL")) {
        let repair = "The function call could not be read. Make it again: one call, by one of the names given, \
                      with arguments that fit its parameters.";
        asked.push(Asked::besides(Intent::Malformed { repair: repair.to_owned() }));
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Text, or blocks of it.
fn texts(content: Option<&Value>, asked: &mut Vec<Asked>) {
    match content {
        Some(Value::String(text)) if !text.trim().is_empty() => {
            asked.push(Asked::besides(Intent::Say(text.clone())))
        }
        Some(Value::Array(blocks)) => {
            for block in blocks {
                texts(block.get("text").or(block.get("refusal")), asked);
            }
        }
        _ => {}
    }
}

/// One call. One that does not say of what is answered, too.
fn push(id: Option<&Value>, name: Option<&Value>, arguments: Option<&Value>, asked: &mut Vec<Asked>) {
    let name = name.and_then(Value::as_str).map(str::trim).unwrap_or_default();
    // Namespaces that models make up for what they are given.
    let plain =
        ["functions.", "default_api.", "default_api:"].iter().find_map(|space| name.strip_prefix(space));
    let tool = plain.unwrap_or(name).to_owned();
    let id = id.and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
    let intent = if tool.is_empty() {
        let repair = "A tool call had no name. Make it again with the name of the tool.".to_owned();
        Intent::Malformed { repair }
    } else {
        Intent::Call { tool: tool.clone(), arguments: text_of(arguments) }
    };
    asked.push(Asked { id, tool, intent });
}

/// Arguments as text: some providers write them so, some as an object, some nothing, some text inside text.
fn text_of(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) if matches!(text.trim(), "" | "null") => "{}".to_owned(),
        Some(Value::String(text)) if text.trim_start().starts_with('"') => {
            match serde_json::from_str::<Value>(text) {
                Ok(inner @ Value::String(_)) => text_of(Some(&inner)),
                _ => text.clone(),
            }
        }
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}
