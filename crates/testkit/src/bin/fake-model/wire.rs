//! The wire formats, one file each.

use serde_json::{Value, json};

use crate::script::Turn;

mod anthropic;
mod chat;
mod gemini;
mod ollama;
mod responses;

/// One piece of a stream: the kind of event, where there are kinds, and its JSON.
pub(crate) struct Piece {
    pub(crate) event: String,
    pub(crate) data: String,
}

/// How one API answers.
pub(crate) trait Wire: Sync {
    /// Which model is asked for.
    fn model(&self, _path: &str, body: &Value) -> String {
        body["model"].as_str().unwrap_or_default().to_owned()
    }

    fn is_streamed(&self, _path: &str, body: &Value) -> bool {
        body["stream"] == true
    }

    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// A piece as it is written.
    fn framed(&self, event: &str, data: &str) -> String {
        let event = if event.is_empty() { String::new() } else { format!("event: {event}\n") };
        format!("{event}data: {data}\n\n")
    }

    fn pieces(&self, number: usize, turn: &Turn, model: &str) -> Vec<Piece>;

    fn whole(&self, number: usize, turn: &Turn, model: &str) -> Value;

    fn error(&self, status: u16, said: &str) -> Value {
        let kind = match status {
            401 => "invalid_api_key",
            404 => "model_not_found",
            429 => "rate_limit_exceeded",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": said, "type": kind, "param": null, "code": kind}})
    }
}

/// By the path of a request.
pub(crate) fn of(path: &str) -> Option<&'static dyn Wire> {
    if path.ends_with("/chat/completions") {
        Some(&chat::Chat)
    } else if path.ends_with("/responses") {
        Some(&responses::Responses)
    } else if path.ends_with("/messages") {
        Some(&anthropic::Anthropic)
    } else if path.ends_with("enerateContent") {
        Some(&gemini::Gemini)
    } else if path.ends_with("/api/chat") {
        Some(&ollama::Ollama)
    } else {
        None
    }
}

fn piece(value: &Value) -> Piece {
    Piece { event: String::new(), data: value.to_string() }
}
