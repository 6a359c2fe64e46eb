//! Replies of models, decoded.

use super::*;
use crate::present::{Intent, ModelRequest};

fn call(id: Option<&str>, tool: &str, arguments: &str) -> ModelRequest {
    let intent = Intent::Call { tool: tool.to_owned(), arguments: arguments.to_owned() };
    ModelRequest { id: id.map(str::to_owned), tool: tool.to_owned(), intent }
}

fn say(text: &str) -> ModelRequest {
    ModelRequest::besides(Intent::Say(text.to_owned()))
}

/// What is wrong with a call, if that is all there is.
fn repair(asked: &[ModelRequest]) -> Option<&str> {
    match asked {
        [ModelRequest { intent: Intent::Malformed { repair }, .. }] => Some(repair),
        _ => None,
    }
}

#[track_caller]
fn check(provider: Provider, reply: Value, asked: &[ModelRequest]) {
    assert_eq!(decode(provider, &reply), asked, "{reply}");
}

#[test]
fn openai_chat() {
    let calls = json!([
        {"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}},
        {"id": "c2", "type": "function", "function": {"name": "functions.b", "arguments": ""}},
        {"id": "c3", "type": "function", "function": {"name": "c", "arguments": {"y": 2}}},
        {"id": "c4", "type": "function", "function": {"name": "d", "arguments": "\"{\\\"z\\\":3}\""}},
        {"id": "c5", "type": "function", "function": {"name": "e", "arguments": "{\"cut"}},
    ]);
    let all = [
        say("Well."),
        call(Some("c1"), "a", "{\"x\":1}"),
        call(Some("c2"), "b", "{}"),
        call(Some("c3"), "c", "{\"y\":2}"),
        call(Some("c4"), "d", "{\"z\":3}"),
        call(Some("c5"), "e", "{\"cut"),
    ];
    let message = json!({"role": "assistant", "content": "Well.", "tool_calls": calls});
    check(
        Provider::OpenAiChat,
        json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}),
        &all,
    );
    check(Provider::OpenAiChat, message, &all);
    check(
        Provider::OpenAiChat,
        json!({"content": null, "function_call": {"name": "old", "arguments": "{}"}}),
        &[call(None, "old", "{}")],
    );
    check(
        Provider::OpenAiChat,
        json!({"content": [{"type": "text", "text": "Hi"}], "refusal": "No"}),
        &[say("Hi"), say("No")],
    );
    for nothing in
        [json!({}), json!(null), json!([]), json!("x"), json!({"choices": []}), json!({"tool_calls": {}})]
    {
        check(Provider::OpenAiChat, nothing, &[]);
    }
}

#[test]
fn openai_responses() {
    let output = json!([
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Hi"}, {"type": "refusal", "refusal": "No"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "a", "arguments": "{}"},
    ]);
    let all = [say("Hi"), say("No"), call(Some("c1"), "a", "{}")];
    check(Provider::OpenAiResponses, json!({"output": output}), &all);
    check(Provider::OpenAiResponses, output, &all);
}

#[test]
fn anthropic() {
    let content = json!([
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "Hi"},
        {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": [1]}},
        {"type": "tool_use", "id": "t2", "name": "b", "input": {}},
    ]);
    check(
        Provider::Anthropic,
        json!({"content": content, "stop_reason": "tool_use"}),
        &[say("Hi"), call(Some("t1"), "a", "{\"x\":[1]}"), call(Some("t2"), "b", "{}")],
    );
    check(Provider::Anthropic, json!({"content": "Hi"}), &[say("Hi")]);
}

#[test]
fn gemini() {
    let parts = json!([
        {"text": "hm", "thought": true}, {"text": "Hi"},
        {"functionCall": {"name": "default_api.a", "args": {"x": 1}}},
        {"functionCall": {"id": "g2", "name": "b"}},
    ]);
    let all = [say("Hi"), call(None, "a", "{\"x\":1}"), call(Some("g2"), "b", "{}")];
    check(Provider::Gemini, json!({"candidates": [{"content": {"parts": parts}}]}), &all);
    check(Provider::GeminiOpenApi, json!({"parts": parts}), &all);
    let broken =
        decode(Provider::Gemini, &json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}));
    assert!(repair(&broken).is_some());
}

#[test]
fn generic() {
    let one = [call(None, "a", "{\"x\":1}")];
    for reply in [
        json!({"tool": "a", "arguments": {"x": 1}}),
        json!({"name": "a", "args": "{\"x\":1}"}),
        json!([{"tool": "a", "input": {"x": 1}}]),
        json!({"tool_calls": [{"name": "a", "arguments": {"x": 1}}]}),
        json!("{\"tool\": \"a\", \"arguments\": {\"x\": 1}}"),
        json!("```json\n{\"tool\": \"a\", \"arguments\": {\"x\": 1}}\n```"),
    ] {
        check(Provider::Generic, reply, &one);
    }
    check(Provider::Generic, json!("Just words"), &[say("Just words")]);
    check(Provider::Generic, json!("{\"not\": \"a call\"}"), &[say("{\"not\": \"a call\"}")]);
    check(Provider::Generic, json!({"content": "Hi", "tool": "a"}), &[call(None, "a", "{}"), say("Hi")]);
    let odd = decode(Provider::Generic, &json!({"foo": 1}));
    assert!(repair(&odd).is_some_and(|repair| repair.contains("\"tool\"")));
}

#[test]
fn an_answer_that_only_has_a_name_is_no_call() {
    for text in [r#"{"name": "Bob", "age": 5}"#, r#"[{"name": "Bob"}, {"name": "Eve"}]"#] {
        check(Provider::Generic, json!(text), &[say(text)]);
    }
    check(Provider::Generic, json!({"role": "assistant", "name": "bob", "content": "Hi"}), &[say("Hi")]);
    let nested = json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{}"}});
    check(
        Provider::Generic,
        json!({"tool_calls": [nested, {"name": "b"}]}),
        &[call(Some("c1"), "a", "{}"), call(None, "b", "{}")],
    );
}

#[test]
fn a_call_of_nothing_can_be_repaired_under_its_own_id() {
    for (provider, reply, id) in [
        (
            Provider::OpenAiChat,
            json!({"tool_calls": [{"id": "1", "function": {"arguments": "{}"}}]}),
            "tool_call_id",
        ),
        (
            Provider::OpenAiResponses,
            json!([{"type": "function_call", "call_id": "1", "arguments": "{}"}]),
            "call_id",
        ),
        (
            Provider::Anthropic,
            json!([{"type": "tool_use", "id": "1", "name": "", "input": {}}]),
            "tool_use_id",
        ),
        (Provider::Gemini, json!({"parts": [{"functionCall": {"args": {}}}]}), ""),
        (Provider::Gemini, json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}), ""),
        (Provider::Generic, json!({"tool": 3}), ""),
    ] {
        let asked = decode(provider, &reply);
        assert!(repair(&asked).is_some(), "{reply}");
        let blocks = vec![json!({"type": "text", "text": "again"})];
        let answer =
            ToolAnswer { id: asked[0].id.clone(), tool: asked[0].tool.clone(), blocks, is_error: true };
        let told = json!(encode(provider, &[answer])).to_string();
        assert!(id.is_empty() || told.contains(&format!("\"{id}\":\"1\"")), "{told}");
        // What has neither id nor name is no result of anything: providers refuse it.
        assert!(!told.contains("\"\"") && told.contains("again"), "{told}");
    }
}
