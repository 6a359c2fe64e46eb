use super::*;

#[track_caller]
fn check(raw: &Value, value: Value, want: &[&str]) {
    let got: Vec<String> = compiled(raw).check(&value).iter().map(ToString::to_string).collect();
    assert_eq!(got, want, "{value} by {raw}");
}

#[test]
fn every_problem_says_what_would_be_right() {
    let raw = json!({
        "type": "object",
        "required": ["query"],
        "additionalProperties": false,
        "properties": {
            "query": { "type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$" },
            "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
            "sort": { "enum": ["up", "down", null] },
            "mode": { "const": "fast" },
            "filters": { "type": "object", "properties": { "tags": { "type": "array", "maxItems": 3, "uniqueItems": true, "items": { "type": "string" } } } },
        }
    });
    check(&raw, json!({ "query": "abc" }), &[]);
    check(&raw, json!([]), &["is array, expected object"]);
    check(&raw, json!({}), &["the required property \"query\" is missing"]);
    check(&raw, json!({ "query": 1 }), &["query: is integer, expected string"]);
    check(&raw, json!({ "query": "a" }), &["query: \"a\" is shorter than 2 characters"]);
    check(&raw, json!({ "query": "ABC" }), &["query: \"ABC\" does not match the pattern ^[a-z]+$"]);
    check(&raw, json!({ "query": "ab", "limit": 0 }), &["limit: 0 is less than the minimum 1"]);
    check(&raw, json!({ "query": "ab", "limit": 1.5 }), &["limit: is number, expected integer"]);
    check(
        &raw,
        json!({ "query": "ab", "sort": "sideways" }),
        &["sort: \"sideways\" is not allowed, expected one of \"up\", \"down\", null"],
    );
    check(
        &raw,
        json!({ "query": "ab", "mode": "slow" }),
        &["mode: \"slow\" is not allowed, expected \"fast\""],
    );
    check(
        &raw,
        json!({ "query": "ab", "limt": 1 }),
        &["the property \"limt\" is not known, did you mean \"limit\""],
    );
    check(
        &raw,
        json!({ "query": "ab", "zebra": 1 }),
        &[
            "the property \"zebra\" is not known; allowed: \"query\", \"limit\", \"sort\", \"mode\", \"filters\"",
        ],
    );
    check(
        &raw,
        json!({ "query": "ab", "filters": { "tags": ["a", "b", 3] } }),
        &["filters.tags[2]: is integer, expected string"],
    );
    check(
        &raw,
        json!({ "query": "ab", "filters": { "tags": ["a", "a"] } }),
        &["filters.tags: has an item twice"],
    );
}

#[test]
fn a_choice_is_explained_by_the_branch_that_was_meant() {
    let nullable = json!({ "properties": { "n": { "anyOf": [{ "type": "integer" }, { "type": "null" }] } } });
    check(&nullable, json!({ "n": "x" }), &["n: is \"x\", expected integer or null"]);
    let tagged = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "a" }, "x": { "type": "integer" } }, "required": ["kind", "x"] },
        { "type": "object", "properties": { "kind": { "const": "b" }, "y": { "type": "string" } }, "required": ["kind", "y"] },
        { "type": "string" },
    ] });
    check(&tagged, json!({ "kind": "a", "x": "1" }), &["x: is string, expected integer"]);
    check(&tagged, json!({ "kind": "b" }), &["the required property \"y\" is missing"]);
    check(&tagged, json!(1), &["is 1, expected object or string"]);
    let one = json!({ "anyOf": [{ "type": "object", "required": ["a"] }, { "type": "null" }] });
    check(&one, json!({}), &["the required property \"a\" is missing"]);
}

#[test]
fn problems_are_few_short_and_visible() {
    let raw = json!({ "items": { "type": "integer" }, "properties": { "a": { "maxLength": 1 }, "e": { "enum": (0..500).collect::<Vec<_>>() } }, "additionalProperties": { "type": "integer" } });
    let schema = compiled(&raw);
    assert_eq!(schema.check(&json!(vec!["x"; 1000])).len(), 8);
    let long = "secret ".repeat(1000);
    for value in [
        json!({ "a": long }),
        json!({ "e": long }),
        json!({ long: "x" }),
        json!({ "a\u{202e}\u{1b}[31m\nb": "\u{200b}\u{7}" }),
    ] {
        for problem in schema.check(&value) {
            let text = problem.to_string();
            assert!(text.chars().count() < 900, "{text}");
            assert!(!text.chars().any(|c| c.is_control() || crate::text::is_hidden(c)), "{text:?}");
            assert!(!text.ends_with('.'), "{text}");
        }
    }
}
