use std::borrow::Cow;

use super::*;

#[test]
fn t20_schemas_lose_what_cannot_be_seen() {
    let raw = json!({ "description": "reads\u{200b} a\u{202e} file\r\nfast", "properties": { "enum": { "title": "a\u{e0041}", "default": "\u{1b}[31m" } } });
    let want = json!({ "description": "reads a file\nfast", "properties": { "enum": { "title": "a", "default": "[31m" } } });
    assert_eq!(neutral_schema(&raw).unwrap().into_owned(), want);
    let raw = json!({ "pattern": "^[^\u{0}-\u{1f}]+$" });
    assert_eq!(neutral_schema(&raw).unwrap().into_owned(), json!({ "pattern": "^[^\\u0000-\\u001f]+$" }));
    let plain = json!({ "description": "a\n\tb", "enum": ["a\tb\n"] });
    assert!(matches!(neutral_schema(&plain), Ok(Cow::Borrowed(_))));
}

#[test]
fn t20_what_would_be_sent_back_changed_is_refused() {
    let check = |raw: Value, what: &str| {
        let error = neutral_schema(&raw).unwrap_err();
        assert_eq!(error, format!("the {what} holds a control or invisible character"));
    };
    check(json!({ "properties": { "a\u{200b}": {} } }), "property \"a\\u{200b}\"");
    check(json!({ "enum": ["ok", "a\u{feff}"] }), "enum \"a\\u{feff}\"");
    check(json!({ "properties": { "x": { "const": { "k": ["\u{7}"] } } } }), "const \"\\u{7}\"");
    check(json!({ "required": ["a\u{2066}"] }), "required \"a\\u{2066}\"");
    let deep = (0..1000).fold(json!("x"), |inner, _| Value::Array(vec![inner]));
    assert!(neutral_schema(&deep).is_err());
}
