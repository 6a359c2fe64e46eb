use super::*;

#[track_caller]
fn check(raw: &Value, mut value: Value, want: Value, changes: &[(&str, &str, &str)]) {
    let shown = value.to_string();
    let done = coerce(raw, &mut value);
    assert_eq!(value, want, "{shown}");
    let done: Vec<_> = done.iter().map(|done| (done.path.as_str(), done.from, done.to)).collect();
    assert_eq!(done, changes, "{shown}");
}

fn tool() -> Value {
    json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer" }, "x": { "type": "number" }, "b": { "type": "boolean" },
            "s": { "type": "string" }, "any": {}, "either": { "type": ["string", "integer"] },
            "list": { "type": "array", "items": { "type": "integer" } },
            "o": { "$ref": "#/$defs/o" },
            "m": { "anyOf": [{ "$ref": "#/$defs/o" }, { "type": "null" }] },
            "e": { "enum": [1, 2] },
            "map": { "type": "object", "additionalProperties": { "type": "boolean" } },
        },
        "$defs": { "o": { "type": "object", "properties": { "n": { "type": "integer" } } } },
    })
}

#[test]
fn texts_become_what_is_asked() {
    let tool = tool();
    check(&tool, json!({ "n": "3" }), json!({ "n": 3 }), &[("n", "string", "integer")]);
    check(&tool, json!({ "n": 3.0 }), json!({ "n": 3 }), &[("n", "number", "integer")]);
    check(&tool, json!({ "n": "3.0" }), json!({ "n": 3 }), &[("n", "string", "integer")]);
    check(&tool, json!({ "x": "2.5" }), json!({ "x": 2.5 }), &[("x", "string", "number")]);
    check(&tool, json!({ "b": "true" }), json!({ "b": true }), &[("b", "string", "boolean")]);
    check(&tool, json!({ "e": "2" }), json!({ "e": 2 }), &[("e", "string", "integer")]);
    check(
        &tool,
        json!({ "list": "[1,\"2\"]" }),
        json!({ "list": [1, 2] }),
        &[("list", "string", "array"), ("list[1]", "string", "integer")],
    );
    check(
        &tool,
        json!({ "o": "{\"n\":\"1\"}" }),
        json!({ "o": { "n": 1 } }),
        &[("o", "string", "object"), ("o.n", "string", "integer")],
    );
    check(&tool, json!({ "m": { "n": "1" } }), json!({ "m": { "n": 1 } }), &[("m.n", "string", "integer")]);
    check(&tool, json!({ "m": "null" }), json!({ "m": null }), &[("m", "string", "null")]);
    check(
        &tool,
        json!({ "map": { "a b": "false" } }),
        json!({ "map": { "a b": false } }),
        &[("map[\"a b\"]", "string", "boolean")],
    );
}

#[test]
fn the_whole_arguments() {
    let tool = tool();
    check(&tool, json!(""), json!({}), &[("", "string", "object")]);
    check(&tool, json!(null), json!({}), &[("", "null", "object")]);
    check(&tool, json!("{\"n\": 1}"), json!({ "n": 1 }), &[("", "string", "object")]);
    check(&tool, json!("{\"n\": "), json!("{\"n\": "), &[]);
    check(&json!({ "type": "string" }), json!(""), json!(""), &[]);
    check(&json!({ "type": ["object", "null"] }), json!(null), json!(null), &[]);
}

#[test]
fn what_may_be_text_or_would_lose_stays() {
    for value in [
        json!({ "s": "3" }),
        json!({ "any": "3" }),
        json!({ "either": "3" }),
        json!({ "unknown": "3" }),
        json!({ "n": "007" }),
        json!({ "n": "1e400" }),
        json!({ "n": "3.5" }),
        json!({ "n": "three" }),
        json!({ "n": true }),
        json!({ "n": "123456789012345678901234567890" }),
        json!({ "x": "0.12345678901234567890" }),
        json!({ "b": "yes" }),
        json!({ "b": "1" }),
        json!({ "list": "1,2" }),
        json!({ "list": "{}" }),
        json!({ "n": 3.5 }),
    ] {
        check(&tool(), value.clone(), value, &[]);
    }
}

#[test]
fn f102_a_number_keeps_its_digits_or_stays_text() {
    for text in [
        "1e-400",
        "-1e-400",
        "0.99999999999999999",
        "0.9999999999999999999e0",
        "3.00000000000000000001",
        "9007199254740993.0",
        "0.1000000000000000055",
        "1e-99999999999999999999",
    ] {
        for name in ["n", "x"] {
            check(&tool(), json!({ name: text }), json!({ name: text }), &[]);
        }
    }
    for list in ["[1, 1e-400]", "[0.99999999999999999]", "[123456789012345678901]"] {
        check(&tool(), json!({ "list": list }), json!({ "list": list }), &[]);
    }
    for (text, want) in [("0.30000000000000004", 0.30000000000000004), ("1.50", 1.5), ("25e-1", 2.5)] {
        check(&tool(), json!({ "x": text }), json!({ "x": want }), &[("x", "string", "number")]);
    }
    for (text, want) in [("-0.0", 0), ("1e3", 1000), ("0.5e1", 5), ("100.00", 100)] {
        check(&tool(), json!({ "n": text }), json!({ "n": want }), &[("n", "string", "integer")]);
    }
    // Digits inside of strings are no numbers.
    check(
        &tool(),
        json!({ "o": "{\"1e-400 \\\"0.99999999999999999\": \"2.\", \"n\": 7}" }),
        json!({ "o": { "1e-400 \"0.99999999999999999": "2.", "n": 7 } }),
        &[("o", "string", "object")],
    );
}

#[test]
fn texts_of_the_command_line() {
    let check = |name: &str, text: &str, want: Value| {
        assert_eq!(read_property(&tool(), name, text), want, "{name}={text}")
    };
    check("n", "3", json!(3));
    check("s", "3", json!("3"));
    check("either", "3", json!("3"));
    check("n", "three", json!("three"));
    check("b", "true", json!(true));
    check("list", "[1]", json!([1]));
    check("list", "1,2", json!("1,2"));
    check("o", "{\"n\":1}", json!({ "n": 1 }));
    check("m", "{\"n\":1}", json!({ "n": 1 }));
    check("unknown", "3", json!("3"));
    assert_eq!(read_text(&json!({ "type": "integer" }), "3"), json!(3));
}

#[test]
fn properties_are_found() {
    let raw = json!({ "allOf": [{ "$ref": "#/$defs/a" }, { "properties": { "y": { "title": "y" } } }], "$defs": { "a": { "properties": { "x": { "title": "x" } } } } });
    assert_eq!(property(&raw, "x"), Some(&json!({ "title": "x" })));
    assert_eq!(property(&raw, "y"), Some(&json!({ "title": "y" })));
    assert_eq!(property(&raw, "z"), None);
    assert_eq!(property(&json!({ "$ref": "#" }), "z"), None);
}

#[test]
fn f60_items_of_lists_that_are_typed() {
    let raw = json!({ "properties": {
        "tags": { "type": "array", "items": { "type": "string" } },
        "ids": { "$ref": "#/$defs/ids" },
        "rows": { "type": "array", "items": { "type": "object" } },
        "either": { "type": ["string", "array"], "items": { "type": "integer" } },
        "bare": { "type": "array" }, "s": { "type": "string" }, "any": {},
    }, "$defs": { "ids": { "type": "array", "items": { "type": "integer" } } } });
    let check = |name: &str, text: &str, want: Option<Value>| {
        assert_eq!(read_item(&raw, name, text), want, "{name}={text}");
    };
    check("tags", "3", Some(json!("3")));
    check("ids", "3", Some(json!(3)));
    check("ids", "x", Some(json!("x")));
    check("rows", "{\"a\":1}", Some(json!({ "a": 1 })));
    check("rows", "a", None);
    check("either", "4", Some(json!(4)));
    check("bare", "4", Some(json!("4")));
    check("s", "a", None);
    check("any", "a", None);
    check("unknown", "a", None);
}
