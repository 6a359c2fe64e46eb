//! What providers take at most of a strict definition: a tool with more is not strict, and costs nobody else anything.

use super::*;

fn listed(count: usize, length: usize) -> Value {
    let values: Vec<String> = (0..count).map(|n| format!("{n:0length$}")).collect();
    json!({"type": "string", "enum": values})
}

fn named(count: usize, length: usize) -> Value {
    let properties = (0..count).map(|n| (format!("p{n:0length$}"), json!({"type": "string"})));
    Value::Object(properties.collect())
}

#[track_caller]
fn check(properties: Value, why: Option<&str>) {
    let names: Vec<String> = properties.as_object().unwrap().keys().cloned().collect();
    let input = json!({"type": "object", "properties": properties, "required": names});
    for provider in [Provider::OpenAiChat, Provider::OpenAiResponses] {
        let compiled = strict(&with_input(input.clone()), provider);
        let said = compiled.notes.iter().find_map(|note| note.strip_prefix("is not strict: "));
        assert_eq!((compiled.is_strict(), said), (why.is_none(), why));
    }
}

#[test]
fn f97_openai_limits_of_strict_definitions() {
    check(json!({"a": listed(250, 100)}), None);
    check(
        json!({"a": listed(251, 100)}),
        Some("one of its enums has more than 250 values and 15000 characters"),
    );
    check(json!({"a": listed(1_000, 4)}), None);
    check(json!({"a": listed(600, 4), "b": listed(401, 4)}), Some("its enums have more than 1000 values"));
    check(named(5_001, 1), Some("its schema has more than 5000 properties"));
    check(named(1_300, 100), Some("its names and values have more than 120000 characters"));
    check(named(1_000, 100), None);
    let deep = (0..11).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
    );
    check(json!({"a": deep}), Some("its schema is nested deeper than 10 levels"));
}

#[test]
fn f97_patterns_that_providers_refuse_become_words() {
    let of = |pattern: &str, provider| {
        let input = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
        let compiled = strict(&with_input(input), provider);
        assert!(compiled.is_strict(), "{:?}", compiled.notes);
        schema_of(provider, &compiled.definition).to_string().contains("\"pattern\"")
    };
    for provider in [Provider::OpenAiChat, Provider::Anthropic] {
        for pattern in ["\\bword\\b", "(a)\\1", "(?=a)b", "(?<!a)b", "(?<n>a)\\k<n>", "\\p{L}+", "\\Bx"] {
            assert!(!of(pattern, provider), "{pattern} for {provider}");
        }
        for pattern in ["^[a-z]+$", "(?:a|b)*", "\\d{3}-\\w+", "a\\.b\\\\c", "^\\s*$"] {
            assert!(of(pattern, provider), "{pattern} for {provider}");
        }
    }
}
