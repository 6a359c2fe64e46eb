//! Ollama's chat: a JSON value a line.

use serde_json::{Value, json};

use super::{Piece, Wire, piece};
use crate::script::{Stop, Turn};

pub(crate) struct Ollama;

const WHEN: &str = "2026-01-01T00:00:00Z";

impl Wire for Ollama {
    fn is_streamed(&self, _path: &str, body: &Value) -> bool {
        body["stream"] != false
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn framed(&self, _event: &str, data: &str) -> String {
        format!("{data}\n")
    }

    fn pieces(&self, _number: usize, turn: &Turn, model: &str) -> Vec<Piece> {
        let one = |message: Value| {
            piece(&json!({"model": model, "created_at": WHEN, "message": message, "done": false}))
        };
        let mut pieces = Vec::new();
        for text in &turn.reasoning {
            pieces.push(one(json!({"role": "assistant", "content": "", "thinking": text})));
        }
        for text in &turn.text {
            pieces.push(one(json!({"role": "assistant", "content": text})));
        }
        for call in calls(turn) {
            pieces.push(one(json!({"role": "assistant", "content": "", "tool_calls": [call]})));
        }
        pieces.push(piece(&end(turn, model, json!({"role": "assistant", "content": ""}))));
        pieces
    }

    fn whole(&self, _number: usize, turn: &Turn, model: &str) -> Value {
        let mut message = json!({"role": "assistant", "content": turn.text.concat()});
        if !turn.reasoning.is_empty() {
            message["thinking"] = turn.reasoning.concat().into();
        }
        if !turn.calls.is_empty() {
            message["tool_calls"] = calls(turn).collect();
        }
        end(turn, model, message)
    }

    fn error(&self, _status: u16, said: &str) -> Value {
        json!({ "error": said })
    }
}

fn calls(turn: &Turn) -> impl Iterator<Item = Value> {
    turn.calls.iter().map(|call| json!({"function": {"name": call.name, "arguments": call.object()}}))
}

fn end(turn: &Turn, model: &str, message: Value) -> Value {
    let [input, output] = turn.usage;
    let reason = if turn.stop == Some(Stop::Length) { "length" } else { "stop" };
    json!({
        "model": model, "created_at": WHEN, "message": message, "done": true, "done_reason": reason,
        "total_duration": 1, "load_duration": 1, "prompt_eval_count": input, "prompt_eval_duration": 1,
        "eval_count": output, "eval_duration": 1,
    })
}
