use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{is_readable, result};

#[track_caller]
fn check(given: Value, expected: Value) {
    let given = RawValue::from_string(given.to_string()).unwrap();
    let found: Value = serde_json::from_str(result(given).unwrap().get()).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn structured_content_of_older_clients_is_an_object() {
    let text = json!([{"type": "text", "text": "one"}]);
    let good = json!({"content": [], "structuredContent": {"a": 1}, "isError": false});
    check(good.clone(), good);
    for odd in [json!([1, 2]), json!("text"), json!(1), Value::Null] {
        check(
            json!({"content": text, "structuredContent": odd, "_meta": {"k": 1}}),
            json!({"content": text, "_meta": {"k": 1}}),
        );
    }
    // What a model would not have seen otherwise.
    let written = json!([{"type": "text", "text": "[1,2]"}]);
    check(json!({"content": [], "structuredContent": [1, 2]}), json!({ "content": written }));
    check(json!({"structuredContent": [1, 2]}), json!({ "content": written }));
    check(json!({"structuredContent": null}), json!({"content": []}));
    let spoken_of = json!({"content": [{"type": "text", "text": "structuredContent"}]});
    check(spoken_of.clone(), spoken_of);
}

#[test]
fn schemas_of_older_clients_are_those_of_objects() {
    assert!(is_readable(&json!({})));
    assert!(is_readable(&json!({"outputSchema": {"type": "object"}})));
    for odd in [
        json!({"type": "array"}),
        json!({}),
        json!({"anyOf": []}),
        json!(true),
        json!({"type": ["object", "null"]}),
    ] {
        assert!(!is_readable(&json!({"outputSchema": odd})), "{odd}");
    }
}
