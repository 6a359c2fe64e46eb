//! Arguments, restored.

use super::*;

#[track_caller]
fn check(compiled: &Compiled, given: Value, own: Value) {
    let mut arguments = object(given);
    compiled.back.restore(&mut arguments);
    assert_eq!(Value::Object(arguments), own);
}

fn odd() -> Tool {
    with_input(json!({"type": "object", "properties": {
        "a b": {"type": "string"}, "a_b": {"type": "string"},
        "inner": {"type": "array", "items": {"$ref": "#/$defs/I"}},
        "free": {"type": "object"},
        "choice": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"$x": {"type": "integer"}}}]},
    }, "$defs": {"I": {"type": "object", "properties": {"c/d": {"type": "integer"}, "self": {"$ref": "#/$defs/I"}}}}}))
}

#[test]
fn names_come_back_wherever_they_stand() {
    for provider in [Provider::Anthropic, Provider::Gemini, Provider::GeminiOpenApi] {
        let compiled = made(&odd(), provider);
        let own = json!({"a b": "1", "a_b": "2", "inner": [{"c/d": 1, "self": {"c/d": 2}}],
            "free": {"c_d": 3, "c/d": 4}, "choice": {"$x": 5}});
        let mut shown = object(own.clone());
        compiled.back.apply(&mut shown);
        assert!(
            !shown.contains_key("a b") && shown["a_b"] == "2" && shown["inner"][0]["c_d"] == 1,
            "{shown:?}"
        );
        // Where the schema names nothing, nothing is renamed.
        assert_eq!(shown["free"], json!({"c_d": 3, "c/d": 4}));
        check(&compiled, Value::Object(shown), own.clone());
        // A model that saw through it is understood, too.
        check(&compiled, own.clone(), own);
    }
    assert!(made(&odd(), Provider::OpenAiChat).back.is_plain());
}

#[test]
fn wrapped_arguments_are_unwrapped() {
    let union = with_input(json!({"type": "object", "oneOf": [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}]}));
    for provider in
        [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic, Provider::GeminiOpenApi]
    {
        let compiled = made(&union, provider);
        let schema = schema_of(provider, &compiled.definition);
        assert_eq!(schema["required"], json!(["input"]), "{provider}: {schema}");
        check(&compiled, json!({"input": {"a": "x"}}), json!({"a": "x"}));
        check(&compiled, json!({"a": "x"}), json!({"a": "x"}));
        check(&compiled, json!({"input": "x"}), json!({"input": "x"}));
    }
}

#[test]
fn strict_nulls_are_taken_away_again() {
    let input = json!({"type": "object", "required": ["a", "n"], "properties": {
        "a": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"enum": [1, 2]}}, "required": ["x"]},
        "n": {"type": ["string", "null"]},
        "o": {"type": "integer", "default": 5, "minimum": 1},
        "list": {"type": "array", "items": {"$ref": "#/$defs/E"}},
        "pick": {"anyOf": [
            {"type": "object", "properties": {"kind": {"const": "p"}, "v": {"type": "integer"}}, "required": ["kind"]},
            {"type": "object", "properties": {"kind": {"const": "q"}, "w": {"type": ["integer", "null"]}}, "required": ["kind", "w"]},
        ]},
    }, "$defs": {"E": {"type": "object", "properties": {"e": {"type": "string"}, "next": {"$ref": "#/$defs/E"}}}}});
    let compiled = strict(&with_input(input), Provider::OpenAiChat);
    assert!(compiled.is_strict(), "{:?}", compiled.notes);
    assert_eq!(compiled.definition["function"]["strict"], true);
    check(
        &compiled,
        json!({"a": {"x": "1", "y": null}, "n": null, "list": [{"next": {"e": "z", "next": null}, "e": null}],
            "pick": {"kind": "q", "w": null}, "o": null}),
        json!({"a": {"x": "1"}, "n": null, "list": [{"next": {"e": "z"}}], "pick": {"kind": "q", "w": null}}),
    );
    check(
        &compiled,
        json!({"a": {"x": "1", "y": 2}, "n": null, "o": 3, "pick": {"kind": "p", "v": null}}),
        json!({"a": {"x": "1", "y": 2}, "n": null, "o": 3, "pick": {"kind": "p"}}),
    );
}

#[test]
fn strict_only_where_it_can_be_undone() {
    for (input, why) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "object"}}}),
            "takes properties that are not named",
        ),
        (json!({"type": "object", "properties": {"a": {"type": "array"}}}), "takes any items"),
        (json!({"type": "object", "properties": {"a": {}}}), "takes any value"),
        (
            json!({"type": "object", "properties": {}, "additionalProperties": true}),
            "takes properties that are not named",
        ),
    ] {
        let compiled = strict(&with_input(input), Provider::OpenAiChat);
        assert!(!compiled.is_strict() && compiled.notes[0].contains(why), "{:?}", compiled.notes);
        assert!(compiled.definition["function"].get("strict").is_none());
    }
    assert!(strict(&with_input(json!({"type": "object"})), Provider::OpenAiChat).is_strict());
}

fn with_properties(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

/// Strict for a provider, or why not.
#[track_caller]
fn not_strict(provider: Provider, input: Value, why: &str) {
    let compiled = strict(&with_input(input), provider);
    assert!(!compiled.is_strict(), "{}", compiled.definition);
    assert!(
        compiled.notes.iter().any(|note| note.starts_with("is not strict: ") && note.contains(why)),
        "{:?}",
        compiled.notes
    );
}

#[test]
fn f95_digits_survive_every_way_back() {
    let input = json!({"type": "object", "properties": {"a b": {"type": "number"}, "o": {"type": "string"},
        "in": {"type": "object", "properties": {"c/d": {"type": "integer"}}}}});
    let text = |name: &str, inner: &str| {
        format!(
            r#"{{"{name}":0.1000000000000000055511151231257827,"in":{{"{inner}":123456789012345678901}},"o":null}}"#
        )
    };
    for (provider, shown, own) in [
        (Provider::OpenAiChat, text("a b", "c/d"), text("a b", "c/d").replace(r#","o":null"#, "")),
        (Provider::Anthropic, text("a_b", "c_d"), text("a b", "c/d")),
        (Provider::Gemini, text("a_b", "c_d"), text("a b", "c/d")),
    ] {
        let back = strict(&with_input(input.clone()), provider).back;
        assert_eq!(back.restore_text(&shown), Some(own), "{provider}");
    }
    let wrapped = made(
        &with_input(json!({"type": "object", "oneOf": [{"required": ["a"]}, {"maxProperties": 1}]})),
        Provider::OpenAiChat,
    );
    assert_eq!(wrapped.back.restore_text(r#"{"input":{"a":1e400}}"#).as_deref(), Some(r#"{"a":1e400}"#));
}

#[test]
fn f96_strict_only_where_every_argument_can_be_given() {
    let closed = |more: Value| {
        let mut input = object(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
        );
        input.extend(object(more));
        Value::Object(input)
    };
    let with_b = json!({"properties": {"b": {"type": "string"}}, "required": ["b"]});
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses, Provider::Anthropic] {
        for keyword in ["then", "else"] {
            let open = json!({"if": {"required": ["a"]}, keyword: with_b, "additionalProperties": null});
            not_strict(provider, closed(open), "`b` is only named under a condition");
        }
        for keyword in ["dependentSchemas", "dependencies"] {
            not_strict(
                provider,
                closed(json!({keyword: {"a": with_b}})),
                "`b` is only named under a condition",
            );
        }
        not_strict(
            provider,
            closed(json!({"dependentRequired": {"a": ["b"]}})),
            "`b` is only named under a condition",
        );
        for open in [json!(true), json!({})] {
            not_strict(
                provider,
                closed(json!({"additionalProperties": open})),
                "properties that are not named",
            );
        }
        // What only narrows what is named goes into words.
        let narrowed = strict(
            &with_input(closed(
                json!({"if": {"required": ["a"]}, "then": {"properties": {"a": {"minLength": 2}}}}),
            )),
            provider,
        );
        assert!(narrowed.is_strict(), "{:?}", narrowed.notes);
        let unsaid = strict(&with_input(with_properties(json!({"a": {"type": "string"}}))), provider);
        assert!(
            unsaid.is_strict() && unsaid.notes[0].contains("only arguments that its schema names"),
            "{:?}",
            unsaid.notes
        );
    }
}

#[test]
fn f98_a_null_that_means_something_is_kept() {
    let nullable = || json!({"type": ["string", "null"]});
    not_strict(
        Provider::OpenAiChat,
        with_properties(json!({"a": nullable()})),
        "`a` may be null or left out",
    );
    let referred =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": nullable()}});
    not_strict(Provider::OpenAiChat, referred, "`a` may be null or left out");
    let both = with_properties(json!({"o": {"type": "object", "properties": {"v": {"type": "integer"}}},
        "n": {"type": "object", "properties": {"v": nullable()}, "required": ["v"]}}));
    not_strict(Provider::OpenAiChat, both, "`v` may be left out in one place");
    // Anthropic's optional arguments stay optional.
    assert!(strict(&with_input(with_properties(json!({"a": nullable()}))), Provider::Anthropic).is_strict());
    let required = json!({"type": "object", "properties": {"a": nullable(), "b": {"type": "string"}}, "allOf": [{"required": ["a"]}]});
    let compiled = strict(&with_input(required), Provider::OpenAiChat);
    assert!(compiled.is_strict(), "{:?}", compiled.notes);
    check(&compiled, json!({"a": null, "b": null}), json!({"a": null}));
    let by_default = with_properties(json!({"a": {"type": ["string", "null"], "default": null}}));
    check(&strict(&with_input(by_default), Provider::OpenAiChat), json!({"a": null}), json!({}));
}

#[test]
fn f99_names_under_a_condition_come_back() {
    let odd =
        || json!({"properties": {"c d": {"type": "object", "properties": {"e/f": {"type": "integer"}}}}});
    let own = json!({"a": "x", "c d": {"e/f": 1}});
    for (keyword, value) in [
        ("if", odd()),
        ("then", odd()),
        ("else", odd()),
        ("dependentSchemas", json!({"a": odd()})),
        ("dependencies", json!({"a": odd()})),
        ("not", json!({"not": odd()})),
        ("anyOf", json!([{"type": "object"}, odd()])),
    ] {
        let input = json!({"type": "object", "properties": {"a": {"type": "string"}, "in": {"type": "object", keyword: value}}});
        for provider in [Provider::Anthropic, Provider::Gemini] {
            let compiled = made(&with_input(input.clone()), provider);
            check(&compiled, json!({"in": {"a": "x", "c_d": {"e_f": 1}}}), json!({"in": own}));
        }
    }
}

#[test]
fn f100_what_is_too_long_to_be_said_is_reported() {
    let long = "x".repeat(130);
    let compiled = strict(
        &with_input(with_properties(json!({
            "d": {"type": "string", "default": long},
            "n": {"type": "string", "not": {"const": long}},
            "i": {"type": "string", "if": {"const": "x"}, "then": {"const": long}},
            "s": {"type": "string", "minLength": 2, "deprecated": true},
        }))),
        Provider::OpenAiChat,
    );
    let text = compiled.definition.to_string();
    assert!(compiled.is_strict() && !text.contains("if:") && text.contains("minLength: 2"), "{text}");
    let has = |note: &str| compiled.notes.iter().any(|one| one == note);
    assert!(
        has("strict definitions do not take, so it is left out: default, if, not, then"),
        "{:?}",
        compiled.notes
    );
    assert!(
        has("strict definitions do not take, so its descriptions say: deprecated, minLength"),
        "{:?}",
        compiled.notes
    );
}

/// A property table has names for keys, also where a property is called as a keyword is.
#[test]
fn f102_a_property_called_properties_is_a_property() {
    let a_schema = json!({"$ref": "#/$defs/x"});
    let named = json!({"properties": a_schema, "$ref": a_schema, "unevaluatedItems": {"type": "string"}});
    let input = json!({
        "type": "object",
        "properties": {"properties": a_schema, "filter": {"type": "object", "properties": {"properties": a_schema}}},
        "default": {"properties": {"not a schema": 1}},
        "$defs": {"x": {"type": "object", "properties": {"id": {"type": "string"}}}},
    });
    let odd = json!({"type": "object", "properties": named, "$defs": {"x": {"type": "string"}}});
    for provider in Provider::ALL {
        let notes = made(&with_input(input.clone()), provider).notes;
        assert!(!notes.iter().any(|note| note.contains("other names")), "{provider}: {notes:?}");
        let renamed = made(&with_input(odd.clone()), provider).notes;
        let renamed: Vec<&String> = renamed.iter().filter(|note| note.contains("other names")).collect();
        let is_refused = matches!(provider, Provider::Anthropic | Provider::Gemini | Provider::GeminiOpenApi);
        assert_eq!(renamed.len(), usize::from(is_refused), "{provider}: {renamed:?}");
        assert!(renamed.iter().all(|note| note.ends_with("\"$ref\" is _ref")), "{renamed:?}");
    }
}
