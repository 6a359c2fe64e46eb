//! A request to a model as a host of models looks at it: calls and results belong together.

use serde_json::Value;

/// Whether each call in a request to a model has exactly one result right behind it, in their order, and each result has its
/// call; otherwise what is wrong.
///
pub fn check_calls(request: &Value) -> Result<(), String> {
    let body = &request["body"];
    let path = request["path"].as_str().unwrap_or_default();
    let mut open: Vec<String> = Vec::new();
    for (calls, results) in steps(path, body) {
        for result in results {
            if open.is_empty() || open.remove(0) != result {
                return Err(format!("a result without its call: {result}"));
            }
        }
        if !calls.is_empty() && !open.is_empty() {
            return Err(format!("calls without results: {open:?}"));
        }
        open.extend(calls);
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls without results at the end: {open:?}")) }
}

/// The calls and the results in each message. What is neither ends a group of results.
fn steps(path: &str, body: &Value) -> Vec<(Vec<String>, Vec<String>)> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let none = Vec::new;
    if path.contains("/messages") {
        let of = |message: &Value, kind: &str, id: &str| -> Vec<String> {
            list(&message["content"])
                .iter()
                .filter(|block| block["type"] == kind)
                .map(|block| text(&block[id]))
                .collect()
        };
        return list(&body["messages"])
            .iter()
            .map(|message| (of(message, "tool_use", "id"), of(message, "tool_result", "tool_use_id")))
            .collect();
    }
    if path.contains("/responses") {
        let items = list(&body["input"]);
        let groups =
            items.chunk_by(|one, next| one["type"] == "function_call" && next["type"] == "function_call");
        let of = |group: &[Value], kind: &str| -> Vec<String> {
            group.iter().filter(|item| item["type"] == kind).map(|item| text(&item["call_id"])).collect()
        };
        return groups.map(|group| (of(group, "function_call"), of(group, "function_call_output"))).collect();
    }
    if path.contains("enerateContent") {
        let of = |content: &Value, kind: &str| -> Vec<String> {
            list(&content["parts"])
                .iter()
                .filter(|part| part[kind].is_object())
                .map(|part| text(&part[kind]["name"]))
                .collect()
        };
        return list(&body["contents"])
            .iter()
            .map(|content| (of(content, "functionCall"), of(content, "functionResponse")))
            .collect();
    }
    let is_ollama = path.contains("/api/chat");
    let of = |message: &Value| {
        let calls = list(&message["tool_calls"]);
        let calls =
            calls.iter().map(|call| text(if is_ollama { &call["function"]["name"] } else { &call["id"] }));
        let result = (message["role"] == "tool")
            .then(|| text(&message[if is_ollama { "tool_name" } else { "tool_call_id" }]));
        (calls.collect(), result.map_or_else(none, |result| vec![result]))
    };
    list(&body["messages"]).iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A judge that finds nothing would prove nothing.
    #[test]
    fn calls_without_results_and_results_without_calls_are_found() {
        let chat = |messages: Value| json!({"path": "/v1/chat/completions", "body": {"messages": messages}});
        let call = json!({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id});
        assert_eq!(check_calls(&chat(json!([call, result("a"), result("b")]))), Ok(()));
        for bad in [
            json!([call]),
            json!([call, result("a")]),
            json!([call, result("b"), result("a")]),
            json!([result("a")]),
            json!([call, result("a"), result("b"), result("b")]),
            json!([call, result("a"), call, result("b")]),
        ] {
            assert!(check_calls(&chat(bad.clone())).is_err(), "{bad}");
        }
    }
}
