use serde_json::{Map, Value, json};

use super::*;
use crate::model::Limits;

mod answers;
mod calls;
mod golden;
mod hostile;
mod limits;
mod options;
mod ways_back;

pub(super) fn tool(definition: Value) -> Tool {
    Tool::parse(&ServerName::parse("s").unwrap(), definition, &Limits::default()).unwrap()
}

pub(super) fn with_input(input: Value) -> Tool {
    tool(json!({"name": "t", "description": "Does it.", "inputSchema": input}))
}

pub(super) fn name() -> ShownName {
    ShownName::parse("mcp_s_t").unwrap()
}

pub(super) fn made(tool: &Tool, provider: Provider) -> Compiled {
    compile_tool(&name(), tool, &NativeRequest::new(provider)).unwrap()
}

pub(super) fn strict(tool: &Tool, provider: Provider) -> Compiled {
    let request = NativeRequest { strict: Strict::WithinBudget, ..NativeRequest::new(provider) };
    compile_tool(&name(), tool, &request).unwrap()
}

pub(super) fn schema_of(provider: Provider, definition: &Value) -> &Value {
    match provider {
        Provider::OpenAiChat => &definition["function"]["parameters"],
        Provider::Anthropic => &definition["input_schema"],
        Provider::Gemini => &definition["parametersJsonSchema"],
        _ => &definition["parameters"],
    }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("{value}") };
    object
}

#[test]
fn providers_by_name() {
    for provider in Provider::ALL {
        assert_eq!(Provider::parse(provider.as_str()), Ok(provider));
    }
    let error = Provider::parse("antropic").unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no provider \"antropic\"; there are openai, openai-responses, anthropic, gemini, \
         gemini-openapi, generic; did you mean \"anthropic\"?"
    );
    assert!(Provider::parse("\u{202e}x").unwrap_err().to_string().contains("\\u{202e}"));
}

#[test]
fn descriptions_are_cut_at_a_sentence() {
    let long = "One sentence of forty characters, no less. ".repeat(40);
    let definition = json!({"name": "t", "description": long, "inputSchema": {"type": "object"}});
    let compiled = made(&tool(definition.clone()), Provider::OpenAiChat);
    let text = compiled.definition["function"]["description"].as_str().unwrap();
    assert!(text.ends_with("no less. [shortened]") && (900..=1024).contains(&text.len()), "{text}");
    assert_eq!(compiled.notes, ["its description is cut to 1024 characters"]);
    let whole = made(&tool(definition.clone()), Provider::Anthropic);
    assert_eq!(whole.definition["description"], long.trim());
    let describe = DescriptionLimit { longest: Some(60), pointer: "[see list]".into() };
    let request = NativeRequest { describe, ..NativeRequest::new(Provider::Anthropic) };
    let short = compile_tool(&name(), &tool(definition), &request).unwrap();
    assert_eq!(short.definition["description"], "One sentence of forty characters, no less. [see list]");
}

#[test]
fn no_words_are_better_than_empty_ones() {
    for provider in Provider::ALL {
        let bare = made(&tool(json!({"name": "t", "description": "  "})), provider).definition.to_string();
        assert!(!bare.contains("description"), "{bare}");
        let titled = made(&tool(json!({"name": "t", "title": "Does it"})), provider).definition.to_string();
        assert!(titled.contains(r#""description":"Does it""#), "{titled}");
    }
}

#[test]
fn an_empty_view_is_an_empty_list() {
    let view = View::empty(&crate::UserId::local());
    for provider in Provider::ALL {
        assert_eq!(compile(&view, &NativeRequest::new(provider)).tools, json!([]));
    }
}
