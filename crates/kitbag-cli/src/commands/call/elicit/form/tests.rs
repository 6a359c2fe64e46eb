use serde_json::json;

use super::*;

fn form(schema: &Value) -> Form {
    Form::of(schema, schema, &Limits::default())
}

fn field(schema: Value) -> Field {
    let mut all = form(&json!({"properties": {"f": schema}})).fields;
    all.pop().unwrap()
}

#[track_caller]
fn check(schema: Value, typed: &str, expected: Value) {
    assert_eq!(
        field(schema.clone()).read(typed, &Limits::default()),
        Typed::Value(expected),
        "{schema} {typed:?}"
    );
}

#[track_caller]
fn wrong(schema: Value, typed: &str, why: &str) {
    match field(schema.clone()).read(typed, &Limits::default()) {
        Typed::Wrong(said) => assert!(said.contains(why), "{schema} {typed:?}: {said}"),
        other => panic!("{schema} {typed:?}: {other:?}"),
    }
}

#[test]
fn f65_lines_are_read_by_the_type_of_their_field() {
    check(json!({"type": "string"}), "7", json!("7"));
    check(json!({"type": "integer"}), "7", json!(7));
    check(json!({"type": "number"}), "-1.5", json!(-1.5));
    check(json!({"type": "boolean"}), "Yes", json!(true));
    check(json!({"type": "boolean"}), "n", json!(false));
    wrong(json!({"type": "integer"}), "seven", "not a number");
    wrong(json!({"type": "integer"}), "1.5", "integer");
    wrong(json!({"type": "integer", "minimum": 3}), "2", "3");
    wrong(json!({"type": "string", "minLength": 3}), "ab", "3");
    wrong(json!({"type": "boolean"}), "maybe", "y or n");
    for (format, right, bad) in [
        ("email", "ada@example.com", "ada"),
        ("uri", "https://example.com", "example"),
        ("date", "2026-07-28", "28.7.2026"),
        ("date-time", "2026-07-28T10:00:00Z", "2026-07-28"),
    ] {
        check(json!({"type": "string", "format": format}), right, json!(right));
        wrong(json!({"type": "string", "format": format}), bad, format);
    }
}

#[test]
fn f65_choices_are_taken_by_number_and_by_word() {
    let plain = json!({"type": "string", "enum": ["red", "green"]});
    let named = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]});
    let titled = json!({"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]});
    check(plain.clone(), "2", json!("green"));
    check(plain.clone(), "red", json!("red"));
    check(named.clone(), "2", json!("g"));
    check(named, "Red", json!("r"));
    check(titled.clone(), "1", json!("r"));
    wrong(plain, "3", "none of the choices");
    assert_eq!(field(titled).introduction(), "  1) Red\n  2) Green\n");
    let many = json!({"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2});
    check(many.clone(), "1, c", json!(["a", "c"]));
    wrong(many.clone(), "1,2,3", "2");
    wrong(many, "x", "none of the choices");
}

#[test]
fn f65_an_empty_line_takes_the_default_leaves_out_or_declines() {
    let schema = json!({"properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "integer", "default": 4}}, "required": ["b", "c"]});
    let read: Vec<Typed> =
        form(&schema).fields.iter().map(|field| field.read("", &Limits::default())).collect();
    assert_eq!(read, [Typed::LeftOut, Typed::Declined, Typed::Value(json!(4))]);
}

#[test]
fn f65_prompts_say_what_is_asked_for() {
    let prompt = |schema: Value| field(schema).prompt();
    assert_eq!(prompt(json!({"type": "string", "title": "Your name"})), "Your name (text, optional): ");
    assert_eq!(prompt(json!({"type": "string", "format": "email"})), "f (email, optional): ");
    assert_eq!(prompt(json!({"type": "boolean", "default": true})), "f (y/n, default y): ");
    assert_eq!(prompt(json!({"enum": ["a", "b"], "default": "b"})), "f (1-2, default b): ");
    // What would move the cursor is shown as text.
    assert_eq!(prompt(json!({"title": "a\u{1b}[2J\nb"})), "a\\u{1b}[2J b (text, optional): ");
}

/// A secret of the server is shown as `***`, and goes back as it came.
#[test]
fn f65_a_masked_default_is_sent_unmasked() {
    let schema = json!({"properties": {"f": {"type": "string", "default": "hunter2"}}});
    let shown = json!({"properties": {"f": {"type": "string", "default": "***"}}});
    let field = Form::of(&schema, &shown, &Limits::default()).fields.pop().unwrap();
    assert_eq!(field.prompt(), "f (text, default ***): ");
    assert_eq!(field.read("", &Limits::default()), Typed::Value(json!("hunter2")));
}

#[test]
fn f65_what_a_question_shows_is_bounded() {
    let mut limits = Limits::default();
    limits.error = 100;
    let long = "x".repeat(10_000);
    let field =
        json!({"type": "string", "title": long, "description": long, "default": long, "enum": [long]});
    let schema = json!({"properties": {"f": field}});
    let field = Form::of(&schema, &schema, &limits).fields.pop().unwrap();
    assert!(field.prompt().len() < 400, "{}", field.prompt());
    assert!(field.introduction().len() < 400, "{}", field.introduction());
    assert_eq!(field.read("1", &limits), Typed::Value(json!(long)), "what is sent is whole");
}
