use serde_json::{Value, json};

use super::*;

const CLIENT: &str = r#"{"name":"kitbag","version":"1"}"#;

#[test]
fn texts_become_strings_and_json_stays_as_given() {
    let check = |name: &str| {
        let params = [("name", Param::Text(name)), ("arguments", Param::Json("{\"a\":\n1.0}"))];
        let line = request(Vec::new(), 7, "tools/call".into(), &params, Speech::from(Era::Legacy), CLIENT);
        let text = String::from_utf8(line.bytes).unwrap();
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
        let line = request(Vec::new(), id, "ping".into(), &[], Speech::from(Era::Legacy), CLIENT);
        let read: Value = serde_json::from_slice(&line.bytes).unwrap();
        assert_eq!((&read["id"], &read["params"]["_meta"]["progressToken"]), (&json!(id), &json!(id)));
    }
}

#[test]
fn f26_our_own_meta_wins_and_the_callers_other_keys_stay() {
    let meta = r#"{"progressToken":"mine","io.modelcontextprotocol/protocolVersion":"1","a":1.0,
        "io.modelcontextprotocol/clientInfo":{},"progress\u0054oken":2,
        "io.modelcontextprotocol/clientCapabilities":{"sampling":{}},"b \" c":{"x":[1]}}"#;
    for (era, own) in [(Era::Legacy, 1), (Era::Modern, 4)] {
        let line = request(
            Vec::new(),
            7,
            "tools/call".into(),
            &[("_meta", Param::Json(meta))],
            Speech::from(era),
            CLIENT,
        );
        let text = String::from_utf8(line.bytes).unwrap();
        assert_eq!(text.find('\n'), Some(text.len() - 1), "{text}");
        for key in OWN_META {
            let times = text.matches(&format!("\"{key}\":")).count();
            assert_eq!(times, usize::from(era == Era::Modern || key == "progressToken"), "{key}: {text}");
        }
        let read: Value = serde_json::from_str(&text).unwrap();
        let read = &read["params"]["_meta"];
        assert_eq!(read.as_object().unwrap().len(), own + 2, "{text}");
        assert_eq!((&read["progressToken"], &read["b \" c"]), (&json!(7), &json!({"x": [1]})));
        assert!(text.contains(r#""a":1.0"#), "as given: {text}");
    }
}

#[test]
fn meta_that_is_no_object_is_left_out() {
    for meta in ["", "[]", "null", "7", "{", "{}", " { } "] {
        let line = request(
            Vec::new(),
            7,
            "x".into(),
            &[("_meta", Param::Json(meta))],
            Speech::from(Era::Legacy),
            CLIENT,
        );
        let read: Value = serde_json::from_slice(&line.bytes).unwrap();
        assert_eq!(read["params"]["_meta"], json!({"progressToken": 7}), "{meta}");
    }
}
