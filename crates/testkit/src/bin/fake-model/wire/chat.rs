//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Piece, Wire, piece};
use crate::script::{Quirk, Stop, Turn};

pub(crate) struct Chat;

impl Wire for Chat {
    fn pieces(&self, number: usize, turn: &Turn, model: &str) -> Vec<Piece> {
        let one = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            piece(&chunk(number, model, json!([choice]), Value::Null))
        };
        let mut pieces = vec![one(json!({"role": "assistant", "content": ""}), Value::Null)];
        for text in &turn.reasoning {
            pieces.push(one(json!({"reasoning_content": text}), Value::Null));
        }
        for text in &turn.text {
            let parts = turn.quirk == Some(Quirk::Parts);
            let content = if parts { json!([{"type": "text", "text": text}]) } else { json!(text) };
            pieces.push(one(json!({ "content": content }), Value::Null));
        }
        for (at, call) in turn.calls.iter().enumerate() {
            let id = format!("call_{number}_{at}");
            let at = if turn.quirk == Some(Quirk::OneIndex) { 0 } else { at };
            let function = json!({"name": call.name, "arguments": ""});
            let first = json!({"index": at, "id": id, "type": "function", "function": function});
            pieces.push(one(json!({"tool_calls": [first]}), Value::Null));
            for arguments in call.pieces() {
                let more = json!({"index": at, "function": {"arguments": arguments}});
                pieces.push(one(json!({"tool_calls": [more]}), Value::Null));
            }
        }
        pieces.push(one(json!({}), finish(turn).into()));
        pieces.push(piece(&chunk(number, model, json!([]), usage(turn))));
        pieces.push(Piece { event: String::new(), data: "[DONE]".to_owned() });
        pieces
    }

    fn whole(&self, number: usize, turn: &Turn, model: &str) -> Value {
        let text = turn.text.concat();
        let mut message =
            json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { text.into() }});
        if !turn.calls.is_empty() {
            let call = |(at, call): (usize, &crate::script::Call)| {
                let function = json!({"name": call.name, "arguments": call.text()});
                json!({"id": format!("call_{number}_{at}"), "type": "function", "function": function})
            };
            message["tool_calls"] = turn.calls.iter().enumerate().map(call).collect();
        }
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 0, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish(turn)}], "usage": usage(turn),
        })
    }
}

fn chunk(number: usize, model: &str, choices: Value, usage: Value) -> Value {
    let id = format!("chatcmpl-{number}");
    json!({
        "id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices, "usage": usage,
    })
}

fn finish(turn: &Turn) -> &'static str {
    match turn.stop {
        Some(Stop::Length) => "length",
        Some(Stop::Filter) => "content_filter",
        None if turn.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}

fn usage(turn: &Turn) -> Value {
    let [input, output] = turn.usage;
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}
