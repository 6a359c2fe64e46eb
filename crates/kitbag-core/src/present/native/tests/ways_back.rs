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
            {"type": "object", "properties": {"kind": {"const": "q"}, "v": {"type": ["integer", "null"]}}, "required": ["kind", "v"]},
        ]},
    }, "$defs": {"E": {"type": "object", "properties": {"e": {"type": "string"}, "next": {"$ref": "#/$defs/E"}}}}});
    let compiled = strict(&with_input(input), Provider::OpenAiChat);
    assert!(compiled.is_strict(), "{:?}", compiled.notes);
    assert_eq!(compiled.definition["function"]["strict"], true);
    let own =
        json!({"a": {"x": "1"}, "n": null, "list": [{"next": {"e": "z"}}], "pick": {"kind": "q", "v": null}});
    let mut shown = object(own.clone());
    compiled.back.apply(&mut shown);
    assert_eq!(
        Value::Object(shown.clone()),
        json!({"a": {"x": "1", "y": null}, "n": null, "list": [{"next": {"e": "z", "next": null}, "e": null}],
            "pick": {"kind": "q", "v": null}, "o": null})
    );
    check(&compiled, Value::Object(shown), own);
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
