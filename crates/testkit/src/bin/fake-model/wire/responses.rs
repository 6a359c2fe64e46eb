//! OpenAI's responses.

use serde_json::{Value, json};

use super::{Piece, Wire};
use crate::script::{Quirk, Stop, Turn};

pub(crate) struct Responses;

impl Wire for Responses {
    fn pieces(&self, number: usize, turn: &Turn, model: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut add = |kind: &str, mut event: Value| {
            event["type"] = kind.into();
            event["sequence_number"] = pieces.len().into();
            pieces.push(Piece { event: kind.to_owned(), data: event.to_string() });
        };
        let whole = self.whole(number, turn, model);
        let mut begun = whole.clone();
        begun["output"] = json!([]);
        begun["status"] = "in_progress".into();
        begun["usage"] = Value::Null;
        add("response.created", json!({"response": begun}));
        for (at, item) in whole["output"].as_array().into_iter().flatten().enumerate() {
            let id = item["id"].clone();
            let mut empty = item.clone();
            match item["type"].as_str() {
                Some("reasoning") => {
                    empty["summary"] = json!([]);
                    add("response.output_item.added", json!({"output_index": at, "item": empty}));
                    for text in &turn.reasoning {
                        let place =
                            json!({"item_id": id, "output_index": at, "summary_index": 0, "delta": text});
                        add("response.reasoning_summary_text.delta", place);
                    }
                }
                Some("message") => {
                    empty["content"] = json!([]);
                    add("response.output_item.added", json!({"output_index": at, "item": empty}));
                    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
                    let place = |more: Value| {
                        let mut place = json!({"item_id": id, "output_index": at, "content_index": 0});
                        place.as_object_mut().into_iter().for_each(|fields| {
                            fields.extend(more.as_object().cloned().unwrap_or_default());
                        });
                        place
                    };
                    add("response.content_part.added", place(json!({"part": part("")})));
                    for text in &turn.text {
                        add("response.output_text.delta", place(json!({"delta": text, "logprobs": []})));
                    }
                    let text = turn.text.concat();
                    add("response.output_text.done", place(json!({"text": text, "logprobs": []})));
                    add("response.content_part.done", place(json!({"part": part(&text)})));
                }
                _ => {
                    empty["arguments"] = "".into();
                    add("response.output_item.added", json!({"output_index": at, "item": empty}));
                    let arguments = item["arguments"].as_str().unwrap_or_default();
                    let place = json!({"item_id": id, "output_index": at, "delta": arguments});
                    add("response.function_call_arguments.delta", place);
                    let name = item["name"].clone();
                    let done =
                        json!({"item_id": id, "output_index": at, "arguments": arguments, "name": name});
                    add("response.function_call_arguments.done", done);
                }
            }
            add("response.output_item.done", json!({"output_index": at, "item": item}));
        }
        let end = if turn.stop.is_some() { "response.incomplete" } else { "response.completed" };
        add(end, json!({"response": whole}));
        pieces
    }

    fn whole(&self, number: usize, turn: &Turn, model: &str) -> Value {
        let mut output = Vec::new();
        if !turn.reasoning.is_empty() {
            let summary = json!([{"type": "summary_text", "text": turn.reasoning.concat()}]);
            let sealed = (turn.quirk != Some(Quirk::Unsealed)).then(|| format!("sealed-{number}"));
            output.push(json!({
                "type": "reasoning", "id": format!("rs_{number}"), "summary": summary,
                "encrypted_content": sealed,
            }));
        }
        if !turn.text.is_empty() {
            let content = json!([{"type": "output_text", "text": turn.text.concat(), "annotations": []}]);
            let id = format!("msg_{number}");
            output.push(json!({
                "type": "message", "id": id, "role": "assistant", "status": "completed", "content": content,
            }));
        }
        for (at, call) in turn.calls.iter().enumerate() {
            let (id, call_id) = (format!("fc_{number}_{at}"), format!("call_{number}_{at}"));
            output.push(json!({
                "type": "function_call", "id": id, "call_id": call_id, "name": call.name, "arguments": call.text(),
                "status": "completed",
            }));
            if let (Some(namespace), Some(item)) = (&call.namespace, output.last_mut()) {
                item["namespace"] = namespace.as_str().into();
            }
        }
        let why = turn.stop.map(|stop| match stop {
            Stop::Length => "max_output_tokens",
            Stop::Filter => "content_filter",
        });
        let [input, out] = turn.usage;
        json!({
            "id": format!("resp_{number}"), "object": "response", "created_at": 0, "model": model,
            "status": if why.is_some() { "incomplete" } else { "completed" }, "error": null,
            "incomplete_details": why.map(|why| json!({"reason": why})), "instructions": null, "metadata": {},
            "output": output, "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [],
            "top_p": 1.0,
            "usage": {
                "input_tokens": input, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": out, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input + out,
            },
        })
    }

    fn error(&self, status: u16, said: &str) -> Value {
        let code = if 500 <= status { "server_error" } else { "invalid_request_error" };
        json!({
            "type": "error", "code": code, "message": said, "param": null, "sequence_number": 0,
            "error": {"message": said, "type": code, "param": null, "code": code},
        })
    }
}
