//! Options for one provider.

use super::*;

fn with_options(options: Value) -> Tool {
    let input = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    Tool { options: object(options), ..with_input(input) }
}

#[test]
fn s3_8_options_reach_their_provider_only() {
    let tool = with_options(json!({
        "openai": {"function": {"strict": true, "x": {"a": 1}}},
        "anthropic": {"cache_control": {"type": "ephemeral"}, "defer_loading": true},
        "google": {"behavior": "NON_BLOCKING"},
        "gemini": {"own": {"deep": 1}},
    }));
    let chat = made(&tool, Provider::OpenAiChat).definition;
    assert_eq!(chat["function"]["strict"], true);
    assert_eq!(chat["function"]["x"], json!({"a": 1}));
    assert_eq!(chat["function"]["parameters"]["additionalProperties"], false);
    let responses = made(&tool, Provider::OpenAiResponses).definition;
    assert_eq!(
        (&responses["strict"], &responses["x"], responses.get("function")),
        (&json!(true), &json!({"a": 1}), None)
    );
    let anthropic = made(&tool, Provider::Anthropic).definition;
    assert_eq!(anthropic["cache_control"], json!({"type": "ephemeral"}));
    assert!(anthropic.get("strict").is_none() && anthropic.get("function").is_none());
    for provider in [Provider::Gemini, Provider::GeminiOpenApi] {
        let gemini = made(&tool, provider).definition;
        assert_eq!((&gemini["behavior"], &gemini["own"]["deep"]), (&json!("NON_BLOCKING"), &json!(1)));
    }
    let generic = made(&tool, Provider::Generic).definition;
    assert_eq!(
        generic.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["name", "description", "parameters"]
    );
}

#[test]
fn s3_8_name_and_schema_stay() {
    let tool = with_options(json!({
        "openai": {"type": "x", "name": "y", "function": {"name": "z", "parameters": {"properties": {"a": {"type": "integer"}}}, "description": "d"}},
        "anthropic": {"name": "z", "input_schema": {}},
        "google": {"parameters": {}, "parametersJsonSchema": {}},
        "generic": "all of it",
    }));
    let plain = with_input(Value::clone(&tool.input));
    for (provider, notes) in [
        (Provider::OpenAiChat, 5),
        (Provider::OpenAiResponses, 4),
        (Provider::Anthropic, 2),
        (Provider::Gemini, 2),
        (Provider::GeminiOpenApi, 2),
        (Provider::Generic, 1),
    ] {
        let compiled = made(&tool, provider);
        assert_eq!(compiled.definition, made(&plain, provider).definition, "{provider}");
        assert_eq!(compiled.notes.len(), notes, "{provider}: {:?}", compiled.notes);
    }
}

#[test]
fn s3_8_strict_by_option_is_strict_or_is_not_said() {
    let open = json!({"type": "object", "properties": {"a": {"type": "object"}}});
    let options = object(json!({"openai": {"strict": true}, "anthropic": {"strict": true}}));
    let tool = Tool { options, ..with_input(open) };
    assert_eq!(made(&tool, Provider::OpenAiChat).definition["function"]["strict"], false);
    assert_eq!(made(&tool, Provider::OpenAiResponses).definition["strict"], false);
    assert_eq!(made(&tool, Provider::Anthropic).definition["strict"], false);
    let loose = with_options(json!({"openai": {"strict": false}}));
    assert!(!strict(&loose, Provider::OpenAiChat).is_strict());
}
