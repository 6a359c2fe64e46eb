//! Schemas that are wrong, odd or meant to hurt: repaired, or refused with a reason, and quickly.

use super::*;

fn each(input: Value) -> Vec<Result<Compiled, Unfit>> {
    let tool = with_input(input);
    let compile = |provider| compile_tool(&name(), &tool, &NativeRequest::new(provider));
    let strictly = |provider| {
        let request =
            NativeRequest { strict: Strict::WithinBudget, slim: Slim::Off, ..NativeRequest::new(provider) };
        compile_tool(&name(), &tool, &request)
    };
    Provider::ALL.into_iter().map(compile).chain(Provider::ALL.into_iter().map(strictly)).collect()
}

#[test]
fn small_faults_are_mended() {
    let input = json!({
        "type": "object",
        "properties": {
            "a": {"type": "any", "description": null},
            "b": {"type": "string", "required": true, "enum": [], "pattern": 3, "examples": "x"},
            "c": {"type": "array", "items": null, "minItems": "1"},
            "d": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "multipleOf": 0},
            "e": true,
            "f": {"enum": ["x", "x", "y"], "properties": []},
            "g": {"type": ["string", "string"]},
        },
        "required": ["a", "a", 3],
        "allOf": [],
    });
    for provider in [Provider::OpenAiChat, Provider::Anthropic] {
        let schema = schema_of(provider, &made(&with_input(input.clone()), provider).definition).clone();
        let items = if provider == Provider::OpenAiChat {
            json!({"type": "array", "items": {}})
        } else {
            json!({"type": "array"})
        };
        assert_eq!(
            schema,
            json!({"type": "object", "properties": {
            "a": {}, "b": {"type": "string"}, "c": items, "d": {"type": "number", "exclusiveMinimum": 0}, "e": {},
            "f": {"enum": ["x", "y"]}, "g": {"type": ["string"]},
        }, "required": ["a"]})
        );
    }
}

#[test]
fn what_nobody_could_call_is_refused_with_a_reason() {
    for (input, why) in [
        (json!({"type": "object", "properties": {"a": {"$ref": "https://x.org/s.json"}}}), "outside of it"),
        (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}), "does not have"),
        (json!({"type": "object", "properties": {"a": "string"}}), "is not a schema"),
        (json!({"type": "object", "properties": {"a": {"anyOf": ["x"]}}}), "is not a schema"),
    ] {
        for outcome in each(input.clone()) {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains(why), "{input}: {error}");
        }
    }
}

#[test]
fn bombs_are_defused() {
    let mut deep = json!({"type": "string"});
    for _ in 0..50 {
        deep = json!({"type": "array", "items": deep});
    }
    each(json!({"type": "object", "properties": {"deep": deep}}));
    // Each definition holds the next one ten times: 10^12 once written out.
    let mut bomb = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {}});
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let inner: Map<String, Value> = (0..10).map(|n| (format!("p{n}"), next.clone())).collect();
        bomb["$defs"][format!("d{level}")] = json!({"type": "object", "properties": inner});
    }
    bomb["$defs"]["d12"] = json!({"type": "string"});
    let outcomes = each(bomb);
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 2, "the two without references");
    assert!(outcomes[4].as_ref().unwrap_err().to_string().contains("once its references are written out"));
    // The same through choices.
    let mut choice = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {"d20": {"type": "string"}}});
    for level in 0..20 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        choice["$defs"][format!("d{level}")] =
            json!({"anyOf": [next.clone(), {"type": "array", "items": next}]});
    }
    each(choice);
    let mut parts =
        json!({"type": "object", "allOf": [{"$ref": "#/$defs/d0"}], "$defs": {"d12": {"type": "object"}}});
    for level in 0..12 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        parts["$defs"][format!("d{level}")] = json!({"allOf": vec![next; 10]});
    }
    each(parts);
    // References that go round.
    for round in [
        json!({"type": "object", "$ref": "#"}),
        json!({"type": "object", "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}),
        json!({"type": "object", "allOf": [{"$ref": "#"}]}),
        json!({"type": "object", "properties": {"a": {"allOf": [{"$ref": "#/properties/a"}, {"anyOf": [{"$ref": "#"}]}]}}}),
    ] {
        each(round);
    }
    let wide: Map<String, Value> = (0..30_000).map(|n| (format!("p{n}"), json!({}))).collect();
    assert!(each(json!({"type": "object", "properties": wide})).iter().all(Result::is_err));
}

#[test]
fn odd_names_never_meet() {
    let long = "x".repeat(80);
    let odd = [
        "",
        " ",
        "a b",
        "a_b",
        "a.b",
        "a-b",
        "a/b",
        "é",
        "漢",
        "1",
        "_1",
        "$ref",
        "properties",
        long.as_str(),
    ];
    let properties: Map<String, Value> =
        odd.iter().map(|key| ((*key).to_owned(), json!({"type": "string"}))).collect();
    for provider in Provider::ALL {
        let tool = with_input(json!({"type": "object", "properties": properties, "required": odd}));
        let compiled = made(&tool, provider);
        let shown = schema_of(provider, &compiled.definition)["properties"].as_object().unwrap();
        assert_eq!(shown.len(), odd.len(), "{provider}: {:?}", shown.keys());
        let own: Map<String, Value> = odd.iter().map(|key| ((*key).to_owned(), json!(key))).collect();
        let mut arguments = own.clone();
        compiled.back.apply(&mut arguments);
        assert!(arguments.keys().all(|key| shown.contains_key(key)), "{provider}");
        compiled.back.restore(&mut arguments);
        assert_eq!(arguments, own);
    }
}
