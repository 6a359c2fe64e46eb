//! The events that Claude Code and Qwen Code write with `--output-format stream-json`.

use serde_json::Value;

use super::telling::{Telling, blocks, text};

pub(super) fn read(event: &Value, told: &mut Telling) {
    // What an agent of the agent says is its own business; what it calls and is refused is told at the end.
    if event["parent_tool_use_id"].is_string() {
        return;
    }
    match (text(&event["type"]), text(&event["subtype"])) {
        ("assistant", _) => content(event).for_each(|block| said(block, told)),
        ("user", _) => {
            for block in content(event).filter(|block| block["type"] == "tool_result") {
                told.result(
                    text(&block["tool_use_id"]),
                    &blocks(&block["content"]),
                    block["is_error"] == true,
                );
            }
        }
        ("system", "permission_denied") => told.denied(text(&event["tool_name"]), text(&event["message"])),
        ("result", _) => ended(event, told),
        _ => {}
    }
}

fn content(event: &Value) -> impl Iterator<Item = &Value> {
    event["message"]["content"].as_array().into_iter().flatten()
}

fn said(block: &Value, told: &mut Telling) {
    match text(&block["type"]) {
        "text" => told.say(text(&block["text"])),
        "thinking" => told.reason(text(&block["thinking"])),
        "tool_use" => told.call(text(&block["id"]), text(&block["name"]), &block["input"].to_string()),
        _ => {}
    }
}

fn ended(event: &Value, told: &mut Telling) {
    for denied in event["permission_denials"].as_array().into_iter().flatten() {
        told.denied(text(&denied["tool_name"]), "");
    }
    let count = |key: &str| event["usage"][key].as_u64().unwrap_or_default();
    let cached = count("cache_read_input_tokens");
    told.usage(count("input_tokens"), cached, count("output_tokens"));
    let said = text(&event["result"]);
    if event["is_error"] == true || event["subtype"] != "success" {
        let error = match &event["error"]["message"] {
            Value::String(message) => message.as_str(),
            _ if said.is_empty() => text(&event["subtype"]),
            _ => said,
        };
        return told.failed(error);
    }
    told.answer(said);
}
