//! Schemas people write, as rows and as calls.

use serde_json::json;

use super::*;

#[track_caller]
fn check_kind(schema: &Value, expected: &str) {
    let root = json!({"type": "object", "properties": {"x": schema}, "$defs": {
        "unit": {"enum": ["C", "F"]}, "loop": {"$ref": "#/$defs/loop"}}});
    assert_eq!(of(&root)[0].kind, expected, "{schema}");
}

#[test]
fn kinds_in_a_few_words() {
    check_kind(&json!({"type": "string"}), "string");
    check_kind(&json!({"type": ["string", "null"]}), "string | null");
    check_kind(&json!({"type": "integer", "minimum": 1, "maximum": 10}), "integer 1..10");
    check_kind(&json!({"type": "number", "minimum": 0}), "number 0..");
    check_kind(&json!({"enum": ["a", 1, null]}), "\"a\" | 1 | null");
    check_kind(&json!({"type": "array", "items": {"type": "string"}}), "list of string");
    check_kind(&json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string | null");
    check_kind(&json!({"$ref": "#/$defs/unit"}), "\"C\" | \"F\"");
    check_kind(&json!({"$ref": "#/$defs/loop"}), "anything");
    check_kind(&json!(true), "anything");
    check_kind(&json!({"enum": [1, 2, 3, 4, 5, 6, 7, 8]}), "1 | 2 | 3 | 4 | 5 | 6 | …");
    check_kind(&json!({"const": "a\u{1b}[2J"}), "\"a\\u001b[2J\"");
}

#[test]
fn arguments_behind_references_and_in_parts() {
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/page"}, {"properties": {"q": {"type": "string"}}, "required": ["q"]}],
        "properties": {"deep": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "$defs": {"page": {"properties": {"n": {"type": "integer", "default": 1, "description": "Which"}}}},
    });
    let all = of(&schema);
    let names: Vec<(&str, bool)> = all.iter().map(|argument| (argument.name, argument.required)).collect();
    assert_eq!(names, [("n", false), ("q", true), ("deep", false)]);
    assert_eq!((all[0].default, all[0].description), (Some(&json!(1)), "Which"));
    assert!(all[2].nested.is_some() && all[0].nested.is_none());
}

#[track_caller]
fn check_command(arguments: &Value, expected: &str) {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "any": {}, "list": {"type": "array"}}});
    assert_eq!(command("t", &schema, arguments), format!("kitbag call t{expected}"));
}

#[test]
fn calls_ready_to_be_pasted() {
    check_command(&json!({}), "");
    check_command(&json!({"n": 3, "s": "3"}), " n=3 s=3");
    check_command(&json!({"any": 3}), " any:=3");
    check_command(&json!({"s": "@a"}), " s=@@a");
    check_command(&json!({"s": "it's"}), r" 's=it'\''s'");
    check_command(&json!({"list": [1, "a b"]}), r#" 'list=[1,"a b"]'"#);
    check_command(&json!({"s": "a\u{7f}b"}), r#" 's:="a\u007fb"'"#);
    check_command(&json!({"odd key": 1}), r#" --args '{"odd key":1}'"#);
}

#[track_caller]
fn check_read(key: &str, text: &str, expected: &Value) {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    let schema = json!({"type": "object", "properties": {"tags": strings, "s": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "integer"}}, "o": {"type": "object"},
        "rows": {"type": "array", "items": {"type": "object"}}}});
    let read = read::once(&schema, key, text).map(Value::from);
    assert_eq!(read.as_ref(), Ok(expected), "{key}={text}");
}

#[test]
fn f60_lists_are_typed_as_words() {
    check_read("tags", "a,b", &json!(["a", "b"]));
    check_read("tags", "a, b", &json!(["a", "b"]));
    check_read("tags", "a", &json!(["a"]));
    check_read("tags", "", &json!([]));
    check_read("tags", "[\"a,b\"]", &json!(["a,b"]));
    check_read("ids", "1,2", &json!([1, 2]));
    check_read("s", "a,b", &json!("a,b"));
    check_read("rows", "{\"a\": 1, \"b\": 2}", &json!([{"a": 1, "b": 2}]));
    check_read("rows", "x,y", &json!("x,y"));
    let schema = json!({"properties": {"o": {"type": "object"}}});
    let wrong = read::once(&schema, "o", "{bad").unwrap_err();
    assert!(wrong.starts_with("o is not valid JSON: key must be a string"), "{wrong}");
}
