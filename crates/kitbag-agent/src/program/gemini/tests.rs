use serde_json::json;

use super::settings;

#[test]
fn settings_are_read_as_people_write_them() {
    for (text, read) in [
        (r#"{"a": "x // y"}"#, json!({"a": "x // y"})),
        ("{// one\n\"a\": /* two */ \"\\\" /* \"}", json!({"a": "\" /* "})),
        ("[1]", json!({})),
        ("{", json!({})),
        ("{\"ä\": 1 /* open", json!({})),
        ("// ä", json!({})),
    ] {
        assert_eq!(settings(text), read, "{text}");
    }
}
