use serde_json::{Value, json};

use super::*;

#[test]
fn texts_become_strings_and_json_stays_as_given() {
    let check = |name: &str| {
        let params = [("name", Param::Text(name)), ("arguments", Param::Json("{\"a\":\n1.0}"))];
        let line = request(Vec::new(), 7, "tools/call", &params, Speech::from(Era::Legacy));
        let text = String::from_utf8(line.0).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1), "{text}");
        assert!(text.contains(r#""arguments":{"a": 1.0}"#), "{text}");
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read["params"]["name"], json!(name), "{text}");
    };
    check("echo");
    check("mem-agent_2.read");
    check("");
    check("a \"b\" \\ c");
    check("line\nend\r\t\u{1}");
    check("価格 / Märkte");
}

#[test]
fn ids_of_every_length() {
    for id in [0, 7, 10, 99, 1_000_000, u64::MAX] {
        let line = request(Vec::new(), id, "ping", &[], Speech::from(Era::Legacy));
        let read: Value = serde_json::from_slice(&line.0).unwrap();
        assert_eq!((&read["id"], &read["params"]["_meta"]["progressToken"]), (&json!(id), &json!(id)));
    }
}
