//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Piece, Wire};
use crate::script::{Stop, Turn};

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn pieces(&self, number: usize, turn: &Turn, model: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut add = |kind: &str, mut event: Value| {
            event["type"] = kind.into();
            pieces.push(Piece { event: kind.to_owned(), data: event.to_string() });
        };
        let mut message = self.whole(number, turn, model);
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        message["usage"]["output_tokens"] = 1.into();
        add("message_start", json!({"message": message}));
        add("ping", json!({}));
        let mut blocks: Vec<(Value, Vec<Value>)> = Vec::new();
        if !turn.reasoning.is_empty() {
            let thought =
                turn.reasoning.iter().map(|text| json!({"type": "thinking_delta", "thinking": text}));
            let signed = json!({"type": "signature_delta", "signature": format!("signed-{number}")});
            let empty = json!({"type": "thinking", "thinking": "", "signature": ""});
            blocks.push((empty, thought.chain([signed]).collect()));
        }
        if !turn.text.is_empty() {
            let deltas = turn.text.iter().map(|text| json!({"type": "text_delta", "text": text})).collect();
            blocks.push((json!({"type": "text", "text": ""}), deltas));
        }
        for (at, call) in turn.calls.iter().enumerate() {
            let id = format!("toolu_{number}_{at}");
            let deltas = call.pieces().map(|json| json!({"type": "input_json_delta", "partial_json": json}));
            blocks
                .push((json!({"type": "tool_use", "id": id, "name": call.name, "input": {}}), deltas.into()));
        }
        for (index, (block, deltas)) in blocks.into_iter().enumerate() {
            add("content_block_start", json!({"index": index, "content_block": block}));
            for delta in deltas {
                add("content_block_delta", json!({"index": index, "delta": delta}));
            }
            add("content_block_stop", json!({"index": index}));
        }
        let delta = json!({"stop_reason": stop(turn), "stop_sequence": null});
        add("message_delta", json!({"delta": delta, "usage": {"output_tokens": turn.usage[1]}}));
        add("message_stop", json!({}));
        pieces
    }

    fn whole(&self, number: usize, turn: &Turn, model: &str) -> Value {
        let mut content = Vec::new();
        if !turn.reasoning.is_empty() {
            let signature = format!("signed-{number}");
            content.push(
                json!({"type": "thinking", "thinking": turn.reasoning.concat(), "signature": signature}),
            );
        }
        if !turn.text.is_empty() {
            content.push(json!({"type": "text", "text": turn.text.concat()}));
        }
        for (at, call) in turn.calls.iter().enumerate() {
            let id = format!("toolu_{number}_{at}");
            content.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": call.object()}));
        }
        let [input, output] = turn.usage;
        json!({
            "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": stop(turn), "stop_sequence": null,
            "usage": {"input_tokens": input, "output_tokens": output},
        })
    }

    fn error(&self, status: u16, said: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            500.. => "overloaded_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": said}})
    }
}

fn stop(turn: &Turn) -> &'static str {
    match turn.stop {
        Some(Stop::Length) => "max_tokens",
        Some(Stop::Filter) => "refusal",
        None if turn.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}
