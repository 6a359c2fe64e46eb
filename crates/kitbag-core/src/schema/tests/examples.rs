use super::*;

#[track_caller]
fn check(raw: Value, want: Value) {
    assert_eq!(example(&raw), Some(want), "{raw}");
}

#[test]
fn what_is_required_and_nothing_else() {
    check(json!({ "type": "object" }), json!({}));
    check(
        json!({ "type": "object", "properties": { "a": { "type": "string" }, "b": { "type": "integer" }, "c": {} }, "required": ["b", "a"] }),
        json!({ "b": 1, "a": "text" }),
    );
    check(
        json!({ "type": "array", "minItems": 2, "items": { "enum": ["x", "y"] }, "uniqueItems": true }),
        json!(["x", "y"]),
    );
    check(
        json!({ "type": "object", "minProperties": 1, "properties": { "a": { "const": 5 } } }),
        json!({ "a": 5 }),
    );
    check(json!({ "examples": [{ "q": 1 }], "type": "object" }), json!({ "q": 1 }));
    check(json!({ "type": ["null", "boolean"] }), json!(true));
    check(json!(true), json!("text"));
}

#[test]
fn bounds_are_met() {
    check(json!({ "type": "integer", "minimum": 5, "multipleOf": 4 }), json!(8));
    check(json!({ "type": "integer", "exclusiveMinimum": 5 }), json!(6));
    check(json!({ "type": "integer", "maximum": -3 }), json!(-3));
    check(json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }), json!(0.5));
    check(json!({ "type": "string", "minLength": 6 }), json!("texttt"));
    check(json!({ "type": "string", "maxLength": 2 }), json!("te"));
    check(json!({ "type": "string", "pattern": "^[A-Z]{3}-\\d{2,}$" }), json!("AAA-00"));
    check(json!({ "type": "string", "pattern": "^(asc|desc)$" }), json!("asc"));
    check(json!({ "type": "string", "pattern": "^[a-z]*$", "minLength": 3 }), json!("aaa"));
    check(json!({ "type": "string", "format": "date" }), json!("2025-01-31"));
    check(json!({ "type": "array", "contains": { "type": "integer" } }), json!([1]));
}

#[test]
fn parts_and_choices() {
    check(
        json!({ "allOf": [{ "$ref": "#/$defs/a" }, { "properties": { "y": { "type": "integer" } }, "required": ["y"] }], "$defs": { "a": { "type": "object", "properties": { "x": { "type": "boolean" } }, "required": ["x"] } } }),
        json!({ "x": true, "y": 1 }),
    );
    check(json!({ "anyOf": [false, { "type": "integer" }] }), json!(1));
    check(json!({ "oneOf": [{ "type": "string", "minLength": 5000 }, { "type": "null" }] }), json!(null));
    // A default that is none.
    check(json!({ "type": "integer", "default": "ten" }), json!(1));
    let tree = json!({ "type": "object", "required": ["n", "kids"], "properties": { "n": { "type": "string" }, "kids": { "type": "array", "items": { "$ref": "#" } } } });
    check(tree, json!({ "n": "text", "kids": [] }));
}

#[test]
fn none_where_there_is_none() {
    for raw in [
        json!(false),
        json!({ "$ref": "https://example.com/x" }),
        json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#" } } }),
        json!({ "type": "integer", "minimum": 3, "maximum": 2 }),
        json!({ "type": "string", "not": { "type": "string" } }),
    ] {
        assert_eq!(example(&raw), None, "{raw}");
    }
}

#[test]
fn f60_lists_show_what_belongs_into_them() {
    let entity =
        json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } });
    let raw = json!({ "type": "object", "required": ["entities"], "properties": {
        "entities": { "type": "array", "items": entity } } });
    assert_eq!(example(&raw), Some(json!({ "entities": [] })));
    let filled = filled_example(&raw).unwrap();
    assert!(filled["entities"][0]["name"].is_string(), "{filled}");
    // Where no item may stand there, none does.
    let none = json!({ "type": "array", "maxItems": 0 });
    assert_eq!(filled_example(&none), Some(json!([])));
}
