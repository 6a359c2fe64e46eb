use proptest::prelude::*;
use serde_json::{Value, json};

use super::inline::{code, inline};
use super::*;
use crate::present::tests::fixture::{recorded_view, view};

fn tool(name: &str, about: &str, input: Value) -> Value {
    json!({"name": name, "description": about, "inputSchema": input})
}

#[track_caller]
fn check(input: Value, expected: &str) {
    let view = view([("s", json!([tool("t", "Does it. And more.", input)]))]);
    assert_eq!(signatures(&view), format!("mcp_s_t({expected}) # Does it"));
}

#[test]
fn a_word_without_end_and_parts_without_end_take_no_time() {
    assert_eq!(super::inline::inline(&"x".repeat(1 << 20)).len(), 1 << 20);
    let loops: Vec<Value> = (0..2_000).map(|_| json!({"$ref": "#"})).collect();
    let output = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "anyOf": loops});
    let view = view([("s", json!([{"name": "a", "outputSchema": output}]))]);
    assert!(signatures(&view).starts_with("mcp_s_a()"));
}

#[test]
fn types_are_told_in_few_characters() {
    check(json!({"type": "object"}), "");
    let one = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
    check(one(json!({"type": "string"})), "a: string");
    check(one(json!({})), "a: any");
    check(one(json!(true)), "a: any");
    check(one(json!({"enum": ["x", "y", 1, null]})), r#"a: "x"|"y"|1"#);
    check(one(json!({"const": "x"})), r#"a: "x""#);
    check(one(json!({"type": ["null", "string"]})), "a: string");
    check(one(json!({"type": "null"})), "a: null");
    check(one(json!({"type": "array", "items": {"type": ["string", "integer"]}})), "a: (string|integer)[]");
    check(one(json!({"type": "array"})), "a: array");
    check(
        one(json!({"properties": {"x": {"type": "integer"}, "y z": {}}, "required": ["x"]})),
        r#"a: {x: integer, "y z"?: any}"#,
    );
    check(one(json!({"type": "object", "additionalProperties": {"type": "number"}})), "a: {[key]: number}");
    check(one(json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]})), "a: string");
    check(one(json!({"allOf": [{"type": "string"}, {}]})), "a: string");
    check(
        one(json!({"type": "object", "properties": {"deep": {"properties": {"x": {}}}}})),
        "a: {deep?: object}",
    );
    check(
        json!({"type": "object", "properties": {
        "q": {"type": "string"}, "n": {"type": "integer", "default": 10}, "f": {"type": "boolean", "default": false}},
        "required": ["q"]}),
        "q: string, n?: integer = 10, f?: boolean",
    );
}

/// What is asked of a value besides its type: in a line that has to be short, and in a line of its own.
#[track_caller]
fn check_bounds(schema: Value, short: &str, told: &str) {
    for (detail, expected) in [(Detail::TIGHT, short), (Detail::WIDE, told)] {
        assert_eq!(kind(&schema, &schema, detail), expected, "{schema}");
    }
}

#[test]
fn f62_formats_ranges_and_patterns_are_told() {
    check_bounds(json!({"type": "string", "format": "date-time"}), "date-time", "string(date-time)");
    check_bounds(json!({"type": "integer", "format": "int32"}), "integer(int32)", "integer(int32)");
    let number = |least: &str, most: &str, short: &str, told: &str| {
        let mut schema = json!({"type": "number", least: 2, most: 5.5});
        schema["x"] = json!(0);
        check_bounds(schema, short, told);
    };
    number("minimum", "maximum", "number(2..5.5)", "number(2..5.5)");
    number("minimum", "x", "number>=2", "number(>=2)");
    number("x", "maximum", "number<=5.5", "number(<=5.5)");
    number("exclusiveMinimum", "maximum", "number(>2, <=5.5)", "number(>2, <=5.5)");
    number("minimum", "exclusiveMaximum", "number(>=2, <5.5)", "number(>=2, <5.5)");
    let same = |schema: Value, text: &str| check_bounds(schema, text, text);
    check_bounds(
        json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
        "integer",
        "integer(>0)",
    );
    same(json!({"type": "number", "multipleOf": 0.5}), "number(multiple of 0.5)");
    same(json!({"type": "string", "minLength": 1, "maxLength": 64}), "string(length 1..64)");
    same(json!({"type": "string", "minLength": 0, "maxLength": 64}), "string(length <=64)");
    same(json!({"type": "string", "minLength": 2, "maxLength": 2}), "string(length 2)");
    same(json!({"type": "array", "items": {"type": "string"}, "minItems": 1}), "string[](>=1 items)");
    same(json!({"type": "array", "maxItems": 10}), "array(<=10 items)");
    check_bounds(json!({"type": "string", "pattern": "^[a-z]+$"}), "/^[a-z]+$/", "string(/^[a-z]+$/)");
    check_bounds(
        json!({"type": "string", "pattern": "^[a-z]+$", "format": "slug", "maxLength": 9}),
        "slug(length <=9, /^[a-z]+$/)",
        "string(slug, length <=9, /^[a-z]+$/)",
    );
    let long = "^[A-Z][A-Z0-9_]+-\\d+$";
    check_bounds(json!({"type": "string", "pattern": long}), "string(pattern)", &format!("string(/{long}/)"));
    // Deeper, beside others, and of several types.
    check_bounds(
        json!({"anyOf": [{"type": "string", "format": "uuid"}, {"type": ["integer", "string"], "minimum": 3}]}),
        "uuid|integer>=3|string",
        "string(uuid)|integer(>=3)|string",
    );
    // What every number of JavaScript is says nothing.
    same(
        json!({"type": "integer", "minimum": -9007199254740991i64, "maximum": 9007199254740991i64}),
        "integer",
    );
    same(json!({"type": "string", "minLength": 0}), "string");
    // Keywords of another type, and of no type at all.
    same(json!({"type": "string", "minimum": 1, "format": 5}), "string");
}

#[test]
fn f62_a_pattern_forges_no_structure() {
    for pattern in ["a`b", "# x", "a\n- b", "<!-- x", "![i](u)", "```", " a"] {
        let schema = json!({"type": "string", "pattern": pattern, "format": pattern});
        for detail in [Detail::TIGHT, Detail::WIDE] {
            let text = kind(&schema, &schema, detail);
            let words = ["`", "\n", "<!--", "!["];
            assert!(!words.iter().any(|word| text.contains(word)), "{pattern:?}: {text}");
        }
    }
    let long = json!({"type": "string", "pattern": "é".repeat(100_000)});
    assert!(kind(&long, &long, Detail::WIDE).len() < 200);
}

#[test]
fn f62_what_comes_back_is_told_by_its_type_alone() {
    let output = json!({"type": "object", "properties": {"id": {"type": "integer", "minimum": 1}, "at": {"type": "string",
        "format": "date"}}});
    let view = view([("s", json!([{"name": "t", "outputSchema": output}]))]);
    assert_eq!(signatures(&view), "mcp_s_t() -> {id?: integer, at?: string}");
}

#[test]
fn references_are_followed_and_those_in_a_circle_end() {
    check(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"enum": [1, 2]}}}),
        "a?: 1|2",
    );
    check(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object",
            "properties": {"next": {"$ref": "#/$defs/N"}}}}}),
        "a?: {next?: object}",
    );
    check(
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}, "$defs": {"N":
            {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/N"}}]}}}),
        "a?: string|array",
    );
}

#[test]
fn parameters_of_several_parts_are_gathered() {
    check(
        json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}],
            "anyOf": [{"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}),
        "a: string, b: integer",
    );
}

#[test]
fn f101_a_root_choice_shows_all_branches_with_what_each_requires() {
    let branch = |kind: &str, own: &str, takes: &str| {
        json!({"type": "object", "required": ["kind", own], "properties": {"kind": {"const": kind},
            own: {"type": takes}, "note": {"type": "string"}}})
    };
    let (circle, square) = (branch("circle", "radius", "number"), branch("square", "side", "integer"));
    for keyword in ["oneOf", "anyOf"] {
        check(
            json!({"type": "object", keyword: [circle, square]}),
            r#"note?: string, ...({kind: "circle", radius: number}|{kind: "square", side: integer})"#,
        );
    }
    // What only one of several branches says, and what the branches say of parameters beside them.
    let two = json!({"id": {"type": "integer"}, "name": {"type": "string"}, "all": {"type": "boolean"}});
    check(
        json!({"type": "object", "properties": two, "required": ["all"], "anyOf": [{"required": ["id"]}, {"required": ["name"]}]}),
        "id?: integer, name?: string, all: boolean, ...({id: integer}|{name: string})",
    );
    check(
        json!({"type": "object", "properties": two, "oneOf": [{"required": ["id", "all"]}, {"required": ["name", "all"]}]}),
        "id?: integer, name?: string, all: boolean, ...({id: integer}|{name: string})",
    );
    // A branch of branches, by reference, beside null.
    check(
        json!({"oneOf": [{"type": "null"}, {"$ref": "#/$defs/S"}, {"properties": {"c": {}}, "required": ["c"]}],
            "$defs": {"S": {"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]},
                {"properties": {"b": {"type": "integer"}}, "required": ["b"]}]}}}),
        "...({a?: string, ...({a: string}|{b: integer})}|{c: any})",
    );
}

#[test]
fn f101_the_text_form_lists_the_branches_of_a_root_choice() {
    use crate::present::text::{DeclaredServer, DeclaredState, Toolbelt, listing};
    let input = json!({"type": "object", "oneOf": [
        {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
        {"properties": {"name": {"type": "string"}}, "required": ["name"]}]});
    let view = view([("s", json!([tool("t", "d", input)]))]);
    let servers = [DeclaredServer { name: "s", standing: DeclaredState::Ready }];
    let belt = Toolbelt { view: &view, local: None, servers: &servers, others: &[] };
    assert_eq!(listing(&belt), "mcp_s_t: d Arguments: {id: integer}|{name: string}");
}

#[test]
fn f101_tuples_are_told_item_by_item() {
    let one = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
    let pair = json!([{"type": "string"}, {"type": "integer"}]);
    check(one(json!({"type": "array", "prefixItems": pair, "items": false})), "a: [string, integer]");
    check(
        one(json!({"prefixItems": pair, "items": {"type": ["number", "string"]}})),
        "a: [string, integer, ...(number|string)[]]",
    );
    check(one(json!({"prefixItems": pair, "minItems": 1, "maxItems": 2})), "a: [string, integer?]");
    check(one(json!({"type": "array", "prefixItems": pair})), "a: [string, integer, ...]");
    check(
        one(json!({"items": pair, "additionalItems": {"type": "boolean"}})),
        "a: [string, integer, ...boolean[]]",
    );
    check(
        one(json!({"type": "array", "items": {"prefixItems": pair, "maxItems": 2}})),
        "a: [string, integer][]",
    );
}

#[test]
fn f101_encoded_and_chained_references_are_resolved() {
    let with = |reference: &str, definitions: Value| json!({"type": "object", "properties": {"a": {"$ref": reference}}, "$defs": definitions});
    check(with("#/$defs/My%20Type", json!({"My Type": {"type": "integer"}})), "a?: integer");
    check(with("#/%24defs/x~1y", json!({"x/y": {"type": "integer"}})), "a?: integer");
    let chain = json!({"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/C"}, "C": {"enum": ["x", "y"]}});
    check(with("#/$defs/A", chain.clone()), r#"a?: "x"|"y""#);
    check(
        json!({"type": "object", "properties": {"a": {"properties": {"b": {"$ref": "#/$defs/A"}}}}, "$defs": chain}),
        r#"a?: {b?: "x"|"y"}"#,
    );
    // No tool with such a schema is listed; here it only has to end.
    let circle = with("#/$defs/A", json!({"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}));
    assert_eq!(kind(&circle, &circle["properties"]["a"], Detail::TIGHT), "any");
}

#[test]
fn f101_what_stands_beside_a_choice_inside_is_told_too() {
    let one = |schema: Value| json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
    let both = json!({"b": {"type": "string"}, "c": {"type": "string"}});
    check(
        one(
            json!({"type": "object", "properties": both, "anyOf": [{"required": ["b"]}, {"required": ["c"]}]}),
        ),
        "a: {b?: string, c?: string}",
    );
    check(
        one(json!({"type": "object", "properties": {"b": {"type": "string"}}, "oneOf": [
            {"properties": {"x": {"type": "integer"}}}, {"properties": {"y": {"type": "integer"}}}]})),
        "a: {b?: string}&({x?: integer}|{y?: integer})",
    );
}

#[test]
fn a_sentence_ends_where_it_ends() {
    let about = |text: &str| inline::sentence(text, 40);
    assert_eq!(about("Reads a file (e.g. a log). Then more."), "Reads a file (e.g. a log)");
    assert_eq!(about("\n  First line\nsecond"), "First line");
    assert_eq!(about("Version 1.2 of it. Yes"), "Version 1.2 of it");
    assert_eq!(about(""), "");
    assert_eq!(
        about("word word word word word word word word word"),
        "word word word word word word word word…"
    );
    assert_eq!(about("ääääääääääääääääääääääääääääääääääää"), "ääääääääääääääääääää…");
}

#[test]
fn s2_11_the_recorded_tools_fit_a_tight_budget() {
    let view = recorded_view();
    let text = signatures(&view);
    assert_eq!(text.lines().count(), 305);
    // 12.8k tokens of o200k; bytes stand in for them here.
    assert!(text.len() <= 53_000, "{}", text.len());
    insta::assert_snapshot!("recorded", text.lines().step_by(15).collect::<Vec<_>>().join("\n"));
}

#[test]
fn backticks_end_no_code() {
    assert_eq!(code("plain name"), "`plain name`");
    assert_eq!(code("a`b\nc"), "`\"a\\u0060b\\nc\"`");
    assert_eq!(code(""), "`\"\"`");
    assert_eq!(inline("```sh\n# x\n```\n![i](u) <!-- c -->"), "`sh \\# x ` ! [i](u) <! -- c -->");
}

proptest! {
    #[test]
    fn any_words_stay_on_one_line(text in "\\PC{0,40}[\n\r\t #`<!\\[-]{0,10}\\PC{0,40}") {
        let line = inline(&text);
        prop_assert!(!line.contains('\n') && !line.contains("```") && !line.contains("<!--") && !line.contains("!["));
        prop_assert!(!line.starts_with('#'));
        prop_assert_eq!(line.trim(), line.as_str());
    }
}
