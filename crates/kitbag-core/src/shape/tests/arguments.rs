use serde_json::Map;

use super::*;
use crate::schema::Schema;

/// The schema a model sees after some changes, and the tool.
fn apply(schema: Value, changes: &[(&str, ArgumentChange)]) -> Result<Tool, String> {
    let tool = tool(json!({"name": "t", "inputSchema": schema}));
    let changes = changes.iter().map(|(own, change)| ((*own).to_owned(), change.clone())).collect();
    let mut shaped = Shaper::default().with(ArgumentChanges(changes)).shape(tool);
    match shaped.trail.remove(0).outcome {
        RuleOutcome::Failed(why) => Err(why),
        _ => Ok(shaped.tool.unwrap()),
    }
}

fn two() -> Value {
    json!({"type": "object", "required": ["path"], "additionalProperties": false,
        "properties": {"path": {"type": "string", "description": "where"}, "depth": {"type": "integer"}}})
}

fn rename(to: &str) -> ArgumentChange {
    ArgumentChange::Rename(to.to_owned())
}

#[test]
fn s3_6_what_a_model_sees_of_arguments() {
    let check = |changes: &[(&str, ArgumentChange)], sees: Value| {
        let tool = apply(two(), changes).unwrap();
        // As text: the order of arguments counts, too.
        assert_eq!(tool.input.to_string(), sees.to_string(), "{changes:?}");
        assert_eq!(tool.raw["inputSchema"], two(), "{changes:?}");
    };
    let sees = |required: Value, properties: Value| json!({"type": "object", "required": required, "additionalProperties": false, "properties": properties});
    let (path, depth) = (json!({"type": "string", "description": "where"}), json!({"type": "integer"}));
    check(&[], two());
    check(&[("path", rename("file"))], sees(json!(["file"]), json!({"file": path, "depth": depth})));
    check(&[("depth", rename("levels"))], sees(json!(["path"]), json!({"path": path, "levels": depth})));
    check(&[("depth", ArgumentChange::Hide)], sees(json!(["path"]), json!({"path": path})));
    check(&[("path", ArgumentChange::Pin(json!("/srv")))], sees(json!([]), json!({"depth": depth})));
    check(
        &[("path", ArgumentChange::Default(json!("/srv")))],
        sees(
            json!([]),
            json!({"path": {"type": "string", "description": "where", "default": "/srv"}, "depth": depth}),
        ),
    );
    check(
        &[("path", ArgumentChange::Describe("which\u{200b} one".to_owned()))],
        sees(
            json!(["path"]),
            json!({"path": {"type": "string", "description": "which one"}, "depth": depth}),
        ),
    );
    check(
        &[
            ("path", ArgumentChange::Default(json!("/"))),
            ("path", ArgumentChange::Hide),
            ("depth", rename("path")),
        ],
        sees(json!([]), json!({"path": depth})),
    );
    // Names may be handed on, one after the other.
    check(
        &[("path", rename("where")), ("depth", rename("path"))],
        sees(json!(["where"]), json!({"where": path, "path": depth})),
    );
}

#[test]
fn an_argument_that_may_be_anything_takes_words_too() {
    let any = json!({"type": "object", "properties": {"x": true}});
    let changes =
        [("x", ArgumentChange::Describe("words".to_owned())), ("x", ArgumentChange::Default(json!(1)))];
    let tool = apply(any, &changes).unwrap();
    assert_eq!(tool.input["properties"]["x"], json!({"description": "words", "default": 1}));
}

#[test]
fn s3_6_what_cannot_be_done_to_arguments() {
    let check = |schema: Value, changes: &[(&str, ArgumentChange)], words: &[&str]| {
        let why = apply(schema, changes).unwrap_err();
        assert!(words.iter().all(|word| why.contains(word)), "{changes:?}: {why}");
    };
    let pin = || ArgumentChange::Pin(json!(1));
    check(two(), &[("pahth", ArgumentChange::Hide)], &["pahth", "did you mean \"path\"?"]);
    check(two(), &[("other", ArgumentChange::Hide)], &["it has no argument \"other\""]);
    check(json!({"type": "object"}), &[("x", pin())], &["no arguments"]);
    check(two(), &[("path", ArgumentChange::Hide)], &["path", "required", "without a value"]);
    check(two(), &[("path", rename("depth"))], &["depth", "already"]);
    check(two(), &[("path", rename("path"))], &["path", "already"]);
    for bad in ["", "a\u{200b}", "a\nb", "a\tb", "\u{1b}"] {
        check(two(), &[("path", rename(bad))], &["cannot be the name"]);
    }
    // Gone is gone.
    check(two(), &[("depth", ArgumentChange::Hide), ("depth", rename("x"))], &["depth", "hidden already"]);
    let taken_over = [("depth", ArgumentChange::Hide), ("path", rename("depth")), ("depth", pin())];
    check(two(), &taken_over, &["depth", "hidden already"]);
    // A new name is no name of the server's.
    check(two(), &[("path", rename("x")), ("x", pin())], &["no argument \"x\""]);
    // Required without being described.
    let loose = json!({"type": "object", "properties": {"a": {}}, "required": ["b"]});
    check(loose, &[("a", rename("b"))], &["\"b\" already"]);
}

#[test]
fn arguments_that_other_keywords_speak_of_are_left_alone() {
    let with = |key: &str, value: Value| {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}},
            "$defs": {"needs_a": {"required": ["a"]}}});
        schema[key] = value;
        schema
    };
    let spoken = [
        ("allOf", json!([{"required": ["a"]}])),
        ("anyOf", json!([{"required": ["a"]}, {"required": ["b"]}])),
        ("oneOf", json!([{"properties": {"a": {"const": 1}}}])),
        ("not", json!({"required": ["a"]})),
        ("if", json!({"properties": {"a": {"const": "x"}}})),
        ("then", json!({"required": ["a"]})),
        ("else", json!({"required": ["a"]})),
        ("dependentRequired", json!({"b": ["a"]})),
        ("dependentRequired", json!({"a": ["b"]})),
        ("dependentSchemas", json!({"a": {"required": ["b"]}})),
        ("dependencies", json!({"b": ["a"]})),
        // By way of a definition.
        ("allOf", json!([{"$ref": "#/$defs/needs_a"}])),
        ("dependentSchemas", json!({"b": {"$ref": "#/$defs/needs_a"}})),
        ("$ref", json!("#/$defs/needs_a")),
    ];
    for (key, value) in spoken {
        for change in [
            rename("x"),
            ArgumentChange::Pin(json!("v")),
            ArgumentChange::Hide,
            ArgumentChange::Default(json!("v")),
        ] {
            let why = apply(with(key, value.clone()), &[("a", change.clone())]).unwrap_err();
            assert!(why.contains(key) && why.contains("\"a\""), "{key} {value}, {change:?}: {why}");
        }
        let words = ArgumentChange::Describe("words".to_owned());
        apply(with(key, value.clone()), &[("a", words)]).unwrap_or_else(|why| panic!("{key} {value}: {why}"));
        // Nor may another argument take its name.
        let why = apply(with(key, value), &[("b", rename("a"))]).unwrap_err();
        assert!(why.contains("already"), "{why}");
    }
    // Whom they do not speak of may be changed.
    apply(with("allOf", json!([{"required": ["b"]}])), &[("a", rename("x"))]).unwrap();
    apply(with("anyOf", json!([{"$ref": "#/$defs/needs_a"}])), &[("b", ArgumentChange::Hide)]).unwrap();
    // A name that only they speak of is not free.
    let why = apply(with("allOf", json!([{"required": ["z"]}])), &[("a", rename("z"))]).unwrap_err();
    assert!(why.contains("\"z\"") && why.contains("allOf"), "{why}");
    // Names and numbers of arguments may be spoken of in general.
    for key in ["patternProperties", "propertyNames"] {
        let why = apply(with(key, json!({})), &[("a", rename("x"))]).unwrap_err();
        assert!(why.contains(key), "{why}");
    }
    for change in [ArgumentChange::Pin(json!("v")), ArgumentChange::Default(json!("v"))] {
        let why = apply(with("maxProperties", json!(1)), &[("a", change)]).unwrap_err();
        assert!(why.contains("maxProperties"), "{why}");
    }
}

#[test]
fn a_schema_that_contains_itself_keeps_its_arguments() {
    let tree = |reference: &str| {
        json!({"$id": "urn:tree", "$anchor": "tree", "type": "object", "properties": {
            "label": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": reference}}}})
    };
    for reference in ["#", "urn:tree", "urn:tree#", "#tree"] {
        for change in [
            rename("x"),
            ArgumentChange::Hide,
            ArgumentChange::Pin(json!("v")),
            ArgumentChange::Default(json!("v")),
        ] {
            let why = apply(tree(reference), &[("label", change)]).unwrap_err();
            assert!(why.contains("contains itself"), "{reference}: {why}");
        }
    }
    // The same word as data is none.
    let data = json!({"type": "object", "properties": {"enum": {"const": {"$ref": "#"}}, "a": {}}});
    apply(data, &[("a", rename("x"))]).unwrap();
    let named_enum = json!({"type": "object", "properties": {"enum": {"$ref": "#"}, "a": {}}});
    apply(named_enum, &[("a", rename("x"))]).unwrap_err();
}

/// Generators write `#/properties/a` where a shape occurs twice.
#[test]
fn references_follow_an_argument() {
    let schema = json!({"type": "object", "properties": {
        "from/to": {"type": "object", "properties": {"x": {"type": "integer"}}, "default": {"x": 0}},
        "until": {"$ref": "#/properties/from~1to"},
        "at": {"type": "array", "items": {"$ref": "#/properties/from%7E1to/properties/x"}}}});
    let limits = Limits::default();
    let good = |first: &str| json!({first: {"x": 1}, "until": {"x": 2}, "at": [3]});
    let check = |change: ArgumentChange, shown: Option<&str>| {
        let tool = apply(schema.clone(), &[("from/to", change.clone())]).unwrap();
        let compiled =
            Schema::compile(&tool.input, &limits).unwrap_or_else(|why| panic!("{change:?}: {why}"));
        let mut arguments = good(shown.unwrap_or("gone"));
        assert_eq!(compiled.check(&arguments), [], "{}", tool.input);
        assert_ne!(compiled.check(&json!({"until": {"x": "text"}})), [], "{}", tool.input);
        assert_ne!(compiled.check(&json!({"at": ["text"]})), [], "{}", tool.input);
        restore(&tool.undo, arguments.as_object_mut().unwrap());
        let own = Schema::compile(tool.own_input().unwrap(), &limits).unwrap();
        assert_eq!(own.check(&arguments), [], "{arguments}");
        tool
    };
    check(rename("start"), Some("start"));
    check(rename("a%b#c~d/e"), Some("a%b#c~d/e"));
    let hidden = check(ArgumentChange::Hide, None);
    assert!(!hidden.input.to_string().contains("default"), "nothing shows what stands in for it");
    check(ArgumentChange::Pin(json!({"x": 9})), None);
    // Nobody else refers to it: nothing is left.
    let alone = json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {"inner": {"$ref": "#/properties/a"}}}, "b": {}}});
    let tool = apply(alone, &[("a", ArgumentChange::Hide)]).unwrap();
    assert_eq!(*tool.input, json!({"type": "object", "properties": {"b": {}}}));
    // A definition of the same name stays what it is.
    let both = json!({"type": "object", "$defs": {"a": {"type": "boolean"}}, "properties": {
        "a": {"type": "string"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#/$defs/a"}}});
    let tool = apply(both, &[("a", ArgumentChange::Hide)]).unwrap();
    let compiled = Schema::compile(&tool.input, &limits).unwrap();
    assert_eq!(compiled.check(&json!({"b": "text", "c": true})), []);
    assert_eq!(compiled.check(&json!({"b": true, "c": "text"})).len(), 2);
}

#[test]
fn s3_6_the_server_gets_its_own_arguments() {
    let check = |changes: &[(&str, ArgumentChange)], given: &str, sent: &str| {
        let tool = apply(two(), changes).unwrap();
        let mut arguments: Map<String, Value> = serde_json::from_str(given).unwrap();
        restore(&tool.undo, &mut arguments);
        // As text: keys stay where they were.
        assert_eq!(Value::Object(arguments).to_string(), sent, "{changes:?} of {given}");
    };
    let pin = |value: &str| ArgumentChange::Pin(value.into());
    check(&[], r#"{"depth":1,"path":"/"}"#, r#"{"depth":1,"path":"/"}"#);
    check(&[("path", rename("file"))], r#"{"depth":1,"file":"/"}"#, r#"{"depth":1,"path":"/"}"#);
    check(&[("path", rename("file"))], r#"{"file":"/","depth":1}"#, r#"{"path":"/","depth":1}"#);
    check(&[("path", rename("file"))], "{}", "{}");
    // Both: what was asked for counts.
    check(&[("path", rename("file"))], r#"{"path":"no","file":"/"}"#, r#"{"path":"/"}"#);
    check(&[("path", rename("file"))], r#"{"file":"/","path":"no"}"#, r#"{"path":"/"}"#);
    check(&[("path", pin("/srv"))], r#"{"depth":1}"#, r#"{"depth":1,"path":"/srv"}"#);
    check(&[("path", pin("/srv"))], r#"{"path":"/etc","depth":1}"#, r#"{"path":"/srv","depth":1}"#);
    let default = || ArgumentChange::Default("/srv".into());
    check(&[("path", default())], r#"{"depth":1}"#, r#"{"depth":1,"path":"/srv"}"#);
    check(&[("path", default())], r#"{"path":"/etc"}"#, r#"{"path":"/etc"}"#);
    check(&[("path", default())], r#"{"path":null}"#, r#"{"path":null}"#);
    check(&[("path", default()), ("path", rename("p"))], "{}", r#"{"path":"/srv"}"#);
    check(&[("path", default()), ("path", rename("p"))], r#"{"p":"/etc"}"#, r#"{"path":"/etc"}"#);
    check(&[("depth", ArgumentChange::Hide)], r#"{"depth":9,"path":"/"}"#, r#"{"path":"/"}"#);
    check(&[("path", default()), ("path", ArgumentChange::Hide)], r#"{"path":"/etc"}"#, r#"{"path":"/srv"}"#);
    // The server's own name is meant, whoever has it meanwhile.
    check(&[("path", rename("x")), ("path", pin("/srv"))], r#"{"x":"/etc"}"#, r#"{"path":"/srv"}"#);
    let handed_on = [("path", rename("x")), ("depth", rename("path")), ("path", pin("/srv"))];
    check(&handed_on, r#"{"path":2}"#, r#"{"depth":2,"path":"/srv"}"#);
    // Names that were handed on.
    let swapped = [("path", rename("where")), ("depth", rename("path"))];
    check(&swapped, r#"{"path":2,"where":"/"}"#, r#"{"depth":2,"path":"/"}"#);
    let pinned = [("path", pin("/srv")), ("depth", rename("path"))];
    check(&pinned, r#"{"path":2}"#, r#"{"depth":2,"path":"/srv"}"#);
    let hidden = [("depth", ArgumentChange::Hide), ("path", rename("depth"))];
    check(&hidden, r#"{"depth":"/"}"#, r#"{"path":"/"}"#);
    // Numbers are not touched.
    check(
        &[("path", rename("file"))],
        r#"{"file":1.0,"depth":12345678901234567890,"x":[1e3,{"file":1}]}"#,
        r#"{"path":1.0,"depth":12345678901234567890,"x":[1000.0,{"file":1}]}"#,
    );
}
