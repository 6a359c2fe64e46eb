//! Arguments as a server wants them, as the model would give them, as the provider would send them, and back.

use kitbag_core::Limits;
use kitbag_core::present::native::{NativeRequest, Provider, Slim, Strict, compile_tool, decode};
use kitbag_core::present::{Intent, ModelRequest};
use kitbag_core::schema::{Schema, example};
use serde_json::{Map, Value, json};

use super::corpus::{live, servers, view};
use super::legal::given as given_by;
use super::requests;

/// The same schema with every property required, where that can be said.
fn demanding(schema: &Value, room: usize) -> Value {
    match schema {
        Value::Object(object) if 0 < room => {
            let mut all: Map<String, Value> =
                object.iter().map(|(key, inner)| (key.clone(), demanding(inner, room - 1))).collect();
            if let Some(Value::Object(named)) = object.get("properties") {
                let names: Vec<&String> = named.keys().collect();
                if !names.is_empty() && object.get("type").is_some_and(Value::is_string) {
                    all.insert("required".to_owned(), json!(names));
                }
            }
            Value::Object(all)
        }
        Value::Array(list) => Value::Array(list.iter().map(|inner| demanding(inner, room)).collect()),
        other => other.clone(),
    }
}

/// Arguments that a tool takes: the least, all at the root, all wherever possible.
pub(crate) fn arguments(input: &Value) -> Vec<Map<String, Value>> {
    let compiled = Schema::compile(input, &Limits::default());
    let tries = [input.clone(), demanding(input, 1), demanding(input, 20)];
    let mut made: Vec<Map<String, Value>> = Vec::new();
    for one in tries.iter().filter_map(example) {
        let valid = compiled.as_ref().is_ok_and(|schema| schema.check(&one).is_empty());
        let Value::Object(one) = one else { continue };
        if valid && !made.contains(&one) {
            made.push(one);
        }
    }
    made
}

/// What a provider's API sends for a call.
pub(crate) fn reply(provider: Provider, name: &str, arguments: &Map<String, Value>) -> Value {
    let text = Value::Object(arguments.clone()).to_string();
    match provider {
        Provider::OpenAiChat => {
            json!({"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": name, "arguments": text}}]}}]})
        }
        Provider::OpenAiResponses => json!({"output": [{"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "1", "name": name, "arguments": text}]}),
        Provider::Anthropic => {
            json!({"content": [{"type": "tool_use", "id": "1", "name": name, "input": arguments}]})
        }
        Provider::Gemini | Provider::GeminiOpenApi => {
            json!({"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": name, "args": arguments, "id": "1"}}]}}]})
        }
        Provider::Generic => json!({"tool": name, "arguments": arguments, "id": "1"}),
    }
}

pub(crate) fn schema_of(provider: Provider, definition: &Value) -> Option<&Value> {
    match provider {
        Provider::OpenAiChat => definition["function"].get("parameters"),
        Provider::Anthropic => definition.get("input_schema"),
        Provider::Gemini => definition.get("parametersJsonSchema"),
        _ => definition.get("parameters"),
    }
}

#[test]
fn arguments_come_back_as_they_were() {
    let (mut trips, mut without) = (0, 0);
    for parts in [servers(), live()] {
        let view = view(parts);
        for shown in view.tools() {
            let given = arguments(&shown.tool.input);
            without += usize::from(given.is_empty());
            for request in requests().into_iter().filter(|request| request.slim == Slim::On) {
                let Ok(compiled) = compile_tool(&shown.name, &shown.tool, &request) else { continue };
                let schema = schema_of(request.provider, &compiled.definition);
                let schema = schema.map(|schema| Schema::compile(schema, &Limits::default()).unwrap());
                for own in &given {
                    trips += 1;
                    let sent = given_by(&compiled, &request, own).unwrap();
                    check(&request, schema.as_ref(), &sent, shown.name.as_str());
                    let asked =
                        decode(request.provider, &reply(request.provider, shown.name.as_str(), &sent));
                    let [ModelRequest { id, intent: Intent::Call { tool, arguments }, .. }] =
                        asked.as_slice()
                    else {
                        panic!("{asked:?}")
                    };
                    assert_eq!((id.as_deref(), tool.as_str()), (Some("1"), shown.name.as_str()));
                    let back = compiled.back.restore_text(arguments).unwrap();
                    let back: Map<String, Value> = serde_json::from_str(&back).unwrap();
                    assert_eq!(&back, own, "{} for {}", shown.name, request.provider);
                }
            }
        }
    }
    assert!(10_000 < trips, "{trips}");
    assert!(without < 5, "{without} tools without an example");
}

/// What a server takes, the provider's schema takes.
#[track_caller]
fn check(request: &NativeRequest, schema: Option<&Schema>, sent: &Map<String, Value>, name: &str) {
    // `nullable` is no word of JSON Schema.
    let Some(schema) = schema.filter(|_| request.provider != Provider::GeminiOpenApi) else { return };
    let problems = schema.check(&Value::Object(sent.clone()));
    assert!(
        problems.is_empty(),
        "{name} for {} ({:?}): {problems:?}\n{sent:?}",
        request.provider,
        request.strict == Strict::Off
    );
}
