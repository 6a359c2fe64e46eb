use std::time::Duration;

use serde_json::{Value, json};

use super::*;

mod bombs;
mod coercions;
mod examples;
mod neutrality;
mod problems;

fn compiled(raw: &Value) -> Schema {
    Schema::compile(raw, &Limits::default()).unwrap()
}

#[track_caller]
fn valid(raw: &Value, value: Value) {
    assert_eq!(compiled(raw).check(&value), [], "{value} by {raw}");
}

#[track_caller]
fn invalid(raw: &Value, value: Value) {
    assert_ne!(compiled(raw).check(&value), [], "{value} by {raw}");
}

#[track_caller]
fn refused(raw: Value, error: &str) {
    let got = Schema::compile(&raw, &Limits::default()).err().map(|error| error.to_string());
    assert_eq!(got.as_deref(), Some(error), "{raw}");
}

#[test]
fn any_schema() {
    fn shared<T: Send + Sync + fmt::Debug>(_: &T) {}
    shared(&compiled(&json!({})));
    valid(&json!(true), json!(1));
    invalid(&json!(false), json!(1));
    valid(&json!({ "properties": { "a": {} } }), json!({ "a": 1 }));
    refused(json!("x"), "the schema is not valid at \"\": is not a schema");
    refused(
        json!({ "properties": { "a": "string" } }),
        "the schema is not valid at \"/properties/a\": is not a schema",
    );
    refused(json!({ "allOf": { "a": 1 } }), "the schema is not valid at \"/allOf\": does not hold schemas");
    let raw =
        json!({ "$defs": { "a": { "minLength": -1 } }, "properties": { "x": { "$ref": "#/$defs/a" } } });
    refused(raw, "the schema is not valid at \"/$defs/a/minLength\": -1 is less than the minimum 0");
}

#[test]
fn drafts() {
    let old = "http://json-schema.org/draft-04/schema#";
    let raw = json!({ "$schema": old, "minimum": 1, "exclusiveMinimum": true });
    invalid(&raw, json!(1));
    let raw = json!({ "minimum": 1, "exclusiveMinimum": true });
    invalid(&raw, json!(1));
    assert_eq!(compiled(&raw).notes(), ["the schema is read as draft 4"]);
    let raw = json!({ "items": [{ "type": "string" }, { "type": "integer" }], "additionalItems": false });
    valid(&raw, json!(["a", 1]));
    invalid(&raw, json!(["a", "b"]));
    invalid(&raw, json!(["a", 1, 2]));
    valid(&json!({ "$schema": "https://example.com/my-own", "type": "string" }), json!("a"));
    // Up to draft 7 nothing counts beside a reference.
    let beside = |draft: &str| json!({ "$schema": draft, "properties": { "a": { "$ref": "#/definitions/x", "type": "integer" } }, "definitions": { "x": {} } });
    valid(&beside("http://json-schema.org/draft-07/schema#"), json!({ "a": "x" }));
    invalid(&beside("https://json-schema.org/draft/2020-12/schema"), json!({ "a": "x" }));
}

#[test]
fn notes_about_a_schema_are_bounded() {
    let properties: serde_json::Map<String, Value> =
        (0..100).map(|number| (format!("p{number}"), json!({ "enum": [] }))).collect();
    let schema = compiled(&json!({ "properties": properties }));
    assert_eq!(schema.notes().len(), 17);
    assert_eq!(schema.notes()[16], "more of the schema is not checked");
}

#[test]
fn small_faults_cost_no_tool() {
    let check = |raw: Value, note: &str| assert_eq!(compiled(&raw).notes(), [note], "{raw}");
    check(
        json!({ "properties": { "a": { "required": true } } }),
        "/properties/a/required is not a list of names, it is not checked",
    );
    check(json!({ "type": "any" }), "/type is not a JSON type, it is not checked");
    check(json!({ "properties": [] }), "/properties is an empty list, it is not checked");
    check(json!({ "type": "array", "items": null }), "/items is null, it is not checked");
    check(json!({ "enum": [] }), "/enum is an empty list, it is not checked");
    let raw = json!({ "type": "string", "format": "date", "title": 5, "x-own": { "$ref": "http://x" }, "const": null });
    assert!(compiled(&raw).notes().is_empty());
    // A format is an annotation: the server knows better what it takes for a date.
    valid(&json!({ "type": "string", "format": "date" }), json!("tomorrow"));
}

#[test]
fn t25_references_stay_inside() {
    for reference in
        ["https://example.com/a.json", "file:///etc/passwd", "other.json#/a", "http://127.0.0.1:1/x#"]
    {
        let raw = json!({ "properties": { "a": { "$ref": reference } } });
        refused(raw, &format!("the schema refers to {reference:?}, which is outside of it"));
    }
    refused(json!({ "$ref": "#/nowhere" }), "the schema refers to \"#/nowhere\", which it does not have");
    // Never asked for, so never followed.
    valid(&json!({ "$defs": { "a": { "$ref": "https://example.com/a" } } }), json!(1));
    // Data that looks like a reference is none.
    valid(
        &json!({ "enum": [{ "$ref": "https://example.com/a" }] }),
        json!({ "$ref": "https://example.com/a" }),
    );
    valid(
        &json!({ "properties": { "$ref": { "type": "string" } } }),
        json!({ "$ref": "https://example.com/a" }),
    );
}

#[test]
fn references_are_followed() {
    let by_id = json!({ "$id": "https://example.com/t", "properties": { "a": { "$ref": "https://example.com/t#/$defs/n" } }, "$defs": { "n": { "type": "integer" } } });
    let by_relative_id = json!({ "$id": "https://example.com/t", "properties": { "a": { "$ref": "n" } }, "$defs": { "n": { "$id": "n", "type": "integer" } } });
    let by_bare_id = json!({ "properties": { "a": { "$ref": "T0" } }, "$defs": { "n": { "$id": "T0", "type": "integer" } } });
    let by_anchor = json!({ "properties": { "a": { "$ref": "#n" } }, "$defs": { "n": { "$anchor": "n", "type": "integer" } } });
    let escaped = json!({ "properties": { "a": { "$ref": "#/$defs/x~1%79" } }, "$defs": { "x/y": { "type": "integer" } } });
    let into_place =
        json!({ "properties": { "a": { "$ref": "#/properties/b" }, "b": { "type": "integer" } } });
    for raw in [by_id, by_relative_id, by_bare_id, by_anchor, escaped, into_place] {
        valid(&raw, json!({ "a": 1 }));
        invalid(&raw, json!({ "a": "x" }));
    }
    // A part that references lead to counts where it stands, too.
    invalid(
        &json!({ "properties": { "a": { "$ref": "#/properties/b" }, "b": { "type": "integer" } } }),
        json!({ "b": "x" }),
    );
    let inner = json!({ "properties": { "a": { "$id": "in", "$ref": "#/$defs/n", "$defs": { "n": { "type": "integer" } } } }, "$defs": { "n": { "type": "string" } } });
    valid(&inner, json!({ "a": 1 }));
    invalid(&inner, json!({ "a": "x" }));
}

#[test]
fn t25_trees_work() {
    let whole = json!({ "type": "object", "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } }, "required": ["name"] });
    let part = json!({ "properties": { "root": { "$ref": "#/$defs/node" } }, "$defs": { "node": whole["properties"].clone() } });
    let node = json!({ "$ref": "#/$defs/node", "$defs": { "node": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } } });
    let typebox = json!({ "$id": "T0", "type": "object", "required": ["name"], "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "T0" } } } });
    compiled(&part);
    let tree = |leaf: Value| {
        (0..50).fold(leaf, |inner, _| json!({ "name": "n", "children": [inner, { "name": "m" }] }))
    };
    for raw in [whole, node, typebox] {
        valid(&raw, tree(json!({ "name": "leaf" })));
        invalid(&raw, tree(json!({ "name": 1 })));
    }
    let problems = compiled(&json!({ "properties": { "a": { "$ref": "#" }, "n": { "type": "integer" } } }))
        .check(&json!({ "a": { "a": { "n": "x" } } }));
    assert_eq!(problems[0].to_string(), "a.a.n: is string, expected integer");
}

#[test]
fn t25_patterns_of_another_engine_are_noted() {
    let raw = json!({ "properties": { "a": { "type": "string", "pattern": "^(?!x).*$" }, "b": { "pattern": "(a)\\1" }, "c": { "pattern": "^a+$" } }, "patternProperties": { "(?<=a)b": { "type": "integer" } } });
    let schema = compiled(&raw);
    let why = "uses look-around or a back-reference, it is not checked";
    let notes = ["/properties/a/pattern", "/properties/b/pattern", "/patternProperties/(?<=a)b"]
        .map(|at| format!("{at} {why}"));
    assert_eq!(schema.notes(), notes);
    assert_eq!(schema.check(&json!({ "a": "x", "b": "b" })), []);
    assert_eq!(schema.check(&json!({ "a": 1 })).len(), 1);
    assert_eq!(schema.check(&json!({ "c": "b" })).len(), 1);
}
