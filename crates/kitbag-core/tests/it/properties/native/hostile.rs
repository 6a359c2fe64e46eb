//! Tools that are wrong, odd or hostile: each costs itself.

use kitbag_core::Limits;
use kitbag_core::present::native::{NativeRequest, Provider, compile, compile_tool};
use kitbag_core::schema::Schema;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{config, schemas, size};
use super::corpus::{part, view};
use super::legal::given;
use super::round_trip::{arguments, schema_of};
use super::{definitions, requests, rules};

/// Tools that not every provider can be shown, or none.
pub(super) fn bad() -> Vec<Value> {
    let bomb = |n: usize| json!({"type": "object", "properties": {"a": {"$ref": format!("#/$defs/d{n}")}}});
    vec![
        json!({"name": "a_external", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "http://x.org/"}}}}),
        json!({"name": "b_missing", "inputSchema": bomb(9)}),
        json!({"name": "c_no_schema", "inputSchema": {"type": "object", "properties": {"a": 3}}}),
        json!({"name": "d_weird", "description": "", "inputSchema": {"type": "object", "properties": {"": {}, "a b": {}}}}),
        json!({"name": "e_round", "inputSchema": {"type": "object", "$ref": "#"}}),
        json!({"name": "f_fans_out", "inputSchema": fan_out()}),
    ]
}

/// Small with its references, and of many thousand values without them.
fn fan_out() -> Value {
    let twice = |n: usize| json!({"$ref": format!("#/$defs/d{n}")});
    let level = |n: usize| {
        let inner = if n == 0 {
            json!({"type": "string"})
        } else {
            json!({"type": "object", "properties": {"a": twice(n - 1), "b": twice(n - 1)}})
        };
        (format!("d{n}"), inner)
    };
    let levels: serde_json::Map<String, Value> = (0..20).map(level).collect();
    json!({"type": "object", "properties": {"a": twice(19)}, "$defs": levels})
}

#[test]
fn one_tools_trouble_stays_its_own() {
    let good = json!({"name": "good", "description": "Fine.", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}});
    let mut all = bad();
    all.push(good.clone());
    let (with, without) = (view(vec![part("s", &all)]), view(vec![part("s", &[good])]));
    for request in requests() {
        let native = compile(&with, &request);
        let alone = compile(&without, &request);
        let (mixed, alone) = (definitions(&native), definitions(&alone));
        assert!(mixed.contains(&alone[0]), "{request:?}");
        assert!(mixed.iter().all(|one| rules::broken(&request, one).is_empty()));
        let left: Vec<&str> = native.quarantined.iter().map(|one| one.tool.as_str()).collect();
        assert!(!left.contains(&"d_weird"), "{left:?}");
        // What no schema can be made of does not get as far as this; given directly, it is refused.
        for raw in bad().into_iter().take(3) {
            let server = kitbag_core::ServerName::parse("s").unwrap();
            let tool = kitbag_core::catalog::Tool::parse(&server, raw, &Limits::default()).unwrap();
            assert!(with.tools().iter().all(|shown| shown.tool.name != tool.name), "{}", tool.name);
            let name = kitbag_core::ShownName::parse(tool.name.as_str()).unwrap();
            assert!(compile_tool(&name, &tool, &request).is_err(), "{}", tool.name);
        }
    }
}

const CASES: u32 = size(600, 50_000);

proptest! {
    #![proptest_config(config(CASES))]

    /// Whatever a schema is, a definition made from it keeps the rules.
    #[test]
    fn any_schema_is_survived(schema in schemas::schema()) {
        let mut input = schema;
        if let Value::Object(input) = &mut input {
            input.insert("type".to_owned(), "object".into());
        }
        let part = part("s", &[json!({"name": "t", "inputSchema": input})]);
        for tool in &part.tools {
            let name = kitbag_core::ShownName::parse("t").unwrap();
            for request in requests() {
                if let Ok(compiled) = compile_tool(&name, tool, &request) {
                    let found = rules::broken(&request, &compiled.definition);
                    prop_assert!(found.is_empty(), "{:?}\n{}\n{}\n{:?}", request.provider, tool.input, compiled.definition, found);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(CASES))]

    /// What any schema takes comes back from any provider's form, and that form takes it.
    #[test]
    fn any_arguments_come_back(schema in schemas::schema()) {
        // One of its properties gets a name that not every provider takes.
        let mut input: Value = serde_json::from_str(&schema.to_string().replace("\"c\"", "\"c d\"")).unwrap();
        if let Value::Object(input) = &mut input {
            input.insert("type".to_owned(), "object".into());
        }
        let part = part("s", &[json!({"name": "t", "inputSchema": input})]);
        for tool in &part.tools {
            let name = kitbag_core::ShownName::parse("t").unwrap();
            for own in arguments(&tool.input) {
                for request in requests() {
                    let Ok(compiled) = compile_tool(&name, tool, &request) else { continue };
                    let sent = given(&compiled, &request, &own);
                    prop_assert!(sent.is_some(), "{:?}\n{}\n{}\n{own:?}", request.provider, tool.input, compiled.definition);
                    let Some(mut sent) = sent else { continue };
                    if !compiled.is_strict() && request.provider != Provider::GeminiOpenApi {
                        let theirs = schema_of(request.provider, &compiled.definition).unwrap();
                        let theirs = Schema::compile(theirs, &Limits::default());
                        let problems = theirs.map(|theirs| theirs.check(&Value::Object(sent.clone())));
                        let fits = problems.as_ref().is_ok_and(Vec::is_empty);
                        // Names are not matched against patterns of names again.
                        let text = tool.input.to_string();
                        // What Gemini's form leaves out is missed where the opposite is asked for.
                        let turned = ["\"not\"", "\"if\"", "\"oneOf\"", "\"contains\""].iter().any(|word| text.contains(word));
                        let named = text.contains("propertyNames") || turned && request.provider == Provider::Gemini;
                        prop_assert!(fits || named, "{:?}\n{}\n{}\n{sent:?}\n{problems:?}", request.provider, tool.input, compiled.definition);
                    }
                    compiled.back.restore(&mut sent);
                    prop_assert_eq!(&sent, &own, "{:?}\n{}\n{}", request.provider, &tool.input, compiled.definition);
                }
            }
        }
    }
}

#[test]
fn the_limit_on_tools_is_reported() {
    let many: Vec<Value> = (0..129).map(|n| json!({"name": format!("t{n}")})).collect();
    let view = view(vec![part("s", &many)]);
    for (provider, notes) in [
        (Provider::OpenAiChat, 1),
        (Provider::OpenAiResponses, 1),
        (Provider::Anthropic, 0),
        (Provider::Gemini, 0),
    ] {
        assert_eq!(compile(&view, &NativeRequest::new(provider)).notes.len(), notes, "{provider}");
    }
}
