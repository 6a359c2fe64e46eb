//! Schemas and values of any shape: nothing panics or runs on, and what is promised of a result holds.

use jsonschema::{Draft, PatternOptions};
use kitbag_core::Limits;
use kitbag_core::schema::{Schema, coerce, example, neutral_schema, property, read_property, read_text};
use kitbag_core::text::is_hidden;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{config, size};

const CASES: u32 = size(1_500, 100_000);

fn scalar() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        "a",
        "b",
        "3",
        "3.0",
        "007",
        "1e400",
        "true",
        "null",
        "[1,\"2\"]",
        "{\"a\":\"1\"}",
        "x\u{200b}",
        "string",
        "integer",
        "object",
        "array",
        "number",
        "boolean",
        "any",
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/properties/a",
        "#/nowhere",
        "http://x.org/y",
        "^a+$",
        "(?=a)b",
        "(a{99}){99}",
        "[",
        "date",
    ];
    let numbers = [
        json!(0),
        json!(1),
        json!(-1),
        json!(2.5),
        json!(3.0),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        proptest::sample::select(numbers.to_vec()),
        proptest::sample::select(texts.to_vec()).prop_map(Value::from),
    ]
}

fn object(
    keys: &'static [&'static str],
    inner: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let pairs = proptest::collection::vec((proptest::sample::select(keys), inner), 0..4);
    pairs.prop_map(|pairs| {
        Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    })
}

/// Values that schemas made here are about.
fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object(&["a", "b", "c", "n"], inner),
        ]
    })
}

/// Any JSON with the keys of schemas, mostly at the wrong places.
pub(super) fn anything() -> impl Strategy<Value = Value> {
    const KEYS: &[&str] = &[
        "a",
        "b",
        "type",
        "properties",
        "items",
        "prefixItems",
        "$ref",
        "$defs",
        "$id",
        "$anchor",
        "$schema",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "enum",
        "const",
        "required",
        "pattern",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "dependentSchemas",
        "dependencies",
        "minimum",
        "maxLength",
        "minItems",
        "uniqueItems",
        "contains",
        "minContains",
        "multipleOf",
        "propertyNames",
        "exclusiveMinimum",
        "default",
        "examples",
        "format",
        "$dynamicRef",
        "$recursiveRef",
        "x\u{202e}",
    ];
    scalar().prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            1 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            4 => object(KEYS, inner),
        ]
    })
}

/// A keyword with a value that fits it.
fn keyword(inner: BoxedStrategy<Value>) -> impl Strategy<Value = (String, Value)> {
    let named = |name: &'static str, value: BoxedStrategy<Value>| {
        value.prop_map(move |value| (name.to_owned(), value))
    };
    let list = proptest::collection::vec(inner.clone(), 1..3).prop_map(Value::Array).boxed();
    let table = object(&["a", "b", "c"], inner.clone()).boxed();
    let small = (0u64..4).prop_map(Value::from).boxed();
    let kinds = ["string", "integer", "number", "object", "array", "boolean", "null"];
    let kind = proptest::sample::select(kinds.to_vec()).prop_map(Value::from).boxed();
    let some = proptest::collection::vec(scalar(), 1..3).prop_map(Value::Array).boxed();
    let names = proptest::sample::subsequence(vec!["a", "b", "c"], 0..3).prop_map(Value::from).boxed();
    let places = ["#", "#/$defs/a", "#/$defs/b"];
    prop_oneof![
        named("type", kind.clone()),
        named(
            "type",
            proptest::collection::hash_set(kind, 1..3).prop_map(|kinds| kinds.into_iter().collect()).boxed()
        ),
        named("properties", table.clone()),
        named("properties", table),
        named("items", inner.clone()),
        named("prefixItems", list.clone()),
        named("allOf", list.clone()),
        named("anyOf", list.clone()),
        named("oneOf", list),
        named("not", inner.clone()),
        named("if", inner.clone()),
        named("then", inner.clone()),
        named("additionalProperties", inner.clone()),
        named("unevaluatedProperties", inner.clone()),
        named("contains", inner.clone()),
        named("propertyNames", inner),
        named("enum", some),
        named("const", scalar().boxed()),
        named("required", names),
        named(
            "pattern",
            proptest::sample::select(vec!["^a", "^[a-z]+$", "\\d"]).prop_map(Value::from).boxed()
        ),
        named("minimum", small.clone()),
        named("exclusiveMinimum", small.clone()),
        named("minLength", small.clone()),
        named("maxLength", small.clone()),
        named("minItems", small.clone()),
        named("minProperties", small),
        named("uniqueItems", any::<bool>().prop_map(Value::Bool).boxed()),
        named("$ref", proptest::sample::select(places.to_vec()).prop_map(Value::from).boxed()),
    ]
}

/// Real schemas.
pub(super) fn schema() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![any::<bool>().prop_map(Value::Bool), Just(json!({})), Just(json!({ "type": "integer" }))];
    let part = leaf.prop_recursive(4, 24, 3, |inner| {
        proptest::collection::vec(keyword(inner), 0..4)
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
    });
    (part.clone(), part.clone(), part).prop_map(|(root, a, b)| {
        let mut root = match root {
            Value::Object(root) => root,
            _ => Map::new(),
        };
        root.insert("$defs".to_owned(), json!({ "a": a, "b": b }));
        Value::Object(root)
    })
}

fn use_it(raw: &Value, value: &Value) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let compiled = Schema::compile(raw, &limits);
    let mut changed = value.clone();
    let done = coerce(raw, &mut changed);
    prop_assert_eq!(done.is_empty(), changed == *value);
    let _ = (property(raw, "a"), read_text(raw, "3"), read_property(raw, "a", "[1]"));
    if let Ok(neutral) = neutral_schema(raw) {
        let text = neutral.to_string();
        prop_assert!(!text.chars().any(|c| is_hidden(c) || c.is_control()));
    }
    let made = example(raw);
    let Ok(compiled) = compiled else {
        prop_assert!(made.is_none());
        return Ok(());
    };
    if let Some(made) = made {
        prop_assert_eq!(compiled.check(&made), []);
    }
    let problems = compiled.check(value);
    if problems.is_empty() {
        prop_assert_eq!(compiled.check(&changed), [], "{} became {}", value, changed);
    }
    for problem in &problems {
        prop_assert!(!problem.message.is_empty() && problem.to_string().chars().count() < 900);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn t25_any_json_as_schema(raw in anything(), value in value()) {
        use_it(&raw, &value)?;
    }

    #[test]
    fn t25_any_schema(raw in schema(), value in value()) {
        use_it(&raw, &value)?;
    }

    /// The copy that is compiled means what the original means.
    #[test]
    fn t25_any_schema_keeps_its_meaning(raw in schema(), value in value()) {
        let Ok(ours) = Schema::compile(&raw, &Limits::default()) else { return Ok(()) };
        prop_assume!(ours.notes().is_empty());
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex())
            .should_validate_formats(false);
        let theirs = options.build(&raw).unwrap();
        prop_assert_eq!(ours.check(&value).is_empty(), theirs.is_valid(&value), "{} by {}", value, raw);
    }
}
