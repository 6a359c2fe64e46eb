//! Google's Gemini.

use serde_json::{Value, json};

use super::{Piece, Wire, piece};
use crate::script::{Quirk, Stop, Turn};

pub(crate) struct Gemini;

impl Wire for Gemini {
    fn model(&self, path: &str, _body: &Value) -> String {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.split(':').next().unwrap_or_default().to_owned()
    }

    fn is_streamed(&self, path: &str, _body: &Value) -> bool {
        path.contains(":streamGenerateContent")
    }

    fn pieces(&self, number: usize, turn: &Turn, model: &str) -> Vec<Piece> {
        if turn.quirk == Some(Quirk::MalformedCall) {
            let candidate =
                json!({"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "not a call", "index": 0});
            return vec![piece(
                &json!({"candidates": [candidate], "modelVersion": model, "responseId": "r"}),
            )];
        }
        let parts = parts(number, turn);
        let one = |part: Value| piece(&response(turn, model, json!([part]), Value::Null));
        let mut pieces: Vec<Piece> = parts.into_iter().map(one).collect();
        pieces.push(piece(&response(turn, model, json!([{"text": ""}]), finish(turn).into())));
        pieces
    }

    fn whole(&self, number: usize, turn: &Turn, model: &str) -> Value {
        response(turn, model, parts(number, turn).into(), finish(turn).into())
    }

    fn error(&self, status: u16, said: &str) -> Value {
        let kind = match status {
            401 => "UNAUTHENTICATED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            500.. => "UNAVAILABLE",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": status, "message": said, "status": kind}})
    }
}

fn parts(number: usize, turn: &Turn) -> Vec<Value> {
    let thoughts = turn.reasoning.iter().map(|text| json!({"text": text, "thought": true}));
    let texts = turn.text.iter().map(|text| json!({ "text": text }));
    let calls = turn.calls.iter().map(|call| {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.object()}});
        if !turn.reasoning.is_empty() {
            // Base64, as it is bytes.
            part["thoughtSignature"] = format!("c2lnbmVk{number:04}").into();
        }
        part
    });
    thoughts.chain(texts).chain(calls).collect()
}

fn response(turn: &Turn, model: &str, parts: Value, finish: Value) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if !finish.is_null() {
        candidate["finishReason"] = finish;
    }
    let [input, output] = turn.usage;
    let usage =
        json!({"promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output});
    json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": "r"})
}

fn finish(turn: &Turn) -> &'static str {
    match turn.stop {
        Some(Stop::Length) => "MAX_TOKENS",
        Some(Stop::Filter) => "SAFETY",
        None => "STOP",
    }
}
