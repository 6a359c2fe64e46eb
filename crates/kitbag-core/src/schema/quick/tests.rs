use proptest::prelude::*;
use serde_json::json;

use super::super::Schema;
use super::*;
use crate::model::Limits;

fn quick() -> Value {
    json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
            "list": {"type": "array"}, "any": {}, "flag": {"type": "boolean"},
        },
        "required": ["text"],
        "additionalProperties": false,
    })
}

#[test]
fn only_schemas_of_bare_types_are_quick() {
    assert!(Quick::of(&quick()).is_some());
    for (key, value) in [
        ("enum", json!([1])),
        ("allOf", json!([])),
        ("additionalProperties", json!({"type": "string"})),
        ("required", json!(["unknown"])),
        ("type", json!(["object"])),
        ("properties", json!({"text": {"type": "string", "minLength": 1}})),
        ("properties", json!({"text": {"type": ["string", "null"]}})),
        ("properties", json!({"text": false})),
    ] {
        let mut schema = quick();
        schema[key] = value;
        assert!(Quick::of(&schema).is_none(), "{schema}");
    }
}

#[track_caller]
fn check(text: &str, accepted: bool) {
    let quick = Quick::of(&quick()).unwrap();
    assert_eq!(quick.accepts(text), accepted, "{text}");
}

#[test]
fn what_is_not_surely_valid_is_left_to_the_validator() {
    check(r#" {"text": "a", "count": 1, "ratio": 1.5, "list": [[1], {"a": null}], "any": {}} "#, true);
    check(r#"{"text": "a\u00e9"}"#, true);
    check(r#"{"count": 1}"#, false);
    check(r#"{"text": 1}"#, false);
    check(r#"{"text": "a", "count": 1.0}"#, false);
    check(r#"{"text": "a", "other": 1}"#, false);
    check(r#"{"text": 1, "text": "a"}"#, false);
    check(r#"{"text": "a"} {}"#, false);
    check(r#"{"text": "a", "any": [1e999]}"#, false);
    check(r#"{"text": "a", "any": "\ud800"}"#, false);
    check("[]", false);
    check("", false);
    check(r#"{"text": "a", "any": {"b": 1, "a": {}}}"#, false);
    check(r#"{"text": "a", "any": {"b": [{"c": 1}]}}"#, true);
    check(&format!(r#"{{"text": "a", "any": {}{}}}"#, "[".repeat(200), "]".repeat(200)), false);
}

#[test]
fn f26_a_key_twice_is_never_surely_valid() {
    let mut open = quick();
    open["additionalProperties"] = true.into();
    let open = Quick::of(&open).unwrap();
    assert!(open.accepts(r#"{"text": "a", "x": 1}"#));
    for text in [
        r#"{"text": "a", "text": "b"}"#,
        r#"{"text": "a", "\u0074ext": "b"}"#,
        r#"{"text": "a", "x": 1, "x": 2}"#,
        r#"{"text": "a", "any": {"x": 1, "x": 2}}"#,
        r#"{"text": "a", "list": [[{"x": 1, "\u0078": 2}]]}"#,
    ] {
        assert!(!open.accepts(text), "{text}");
        assert!(crate::schema::parse_unique(text).is_err(), "{text}");
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
    ];
    let list = |inner| proptest::collection::vec(inner, 0..3).prop_map(Value::from);
    leaf.prop_recursive(2, 8, 3, list)
}

proptest! {
    #[test]
    fn what_is_accepted_the_validator_accepts(
        fields in proptest::collection::hash_map("text|count|ratio|list|any|flag|other", value(), 0..7)
    ) {
        let fields: Map<String, Value> = fields.into_iter().collect();
        let value = Value::Object(fields);
        if Quick::of(&quick()).unwrap().accepts(&value.to_string()) {
            let schema = Schema::compile(&quick(), &Limits::default()).unwrap();
            prop_assert!(schema.check(&value).is_empty(), "{value}");
        }
    }
}
