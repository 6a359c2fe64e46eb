use super::*;

fn kind(line: &str) -> String {
    match decode(line.as_bytes()) {
        Ok(Message::Answer { id, outcome }) => {
            format!("answer {id} {}", if outcome.is_ok() { "result" } else { "error" })
        }
        Ok(Message::Request { method, .. }) => format!("request {method}"),
        Ok(Message::Notification { method, .. }) => format!("notification {method}"),
        Err(why) => why.to_string(),
    }
}

#[test]
fn t14_messages_and_what_is_none() {
    let check = |line: &str, want: &str| assert_eq!(kind(line), want, "{line}");
    check(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "answer 7 result");
    check(r#"{"result":{"id":9},"jsonrpc":"2.0","id":7}"#, "answer 7 result");
    check(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":7.0,"result":{}}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":1.5,"result":{}}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":""}}"#, "answer 7 error");
    check(r#"{"jsonrpc":"2.0","id":7,"result":1,"error":{}}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":null,"result":1}"#, "not a JSON-RPC message");
    check(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#, "request ping");
    check(r#"{"method":"notifications/x","params":[1]}"#, "notification notifications/x");
    check(r#"[{"jsonrpc":"2.0"}]"#, "not a JSON-RPC message");
    check("42", "not a JSON-RPC message");
    check("Server listening on stdio", "not JSON");
    check(r#"{"id":7,"result":"#, "not JSON");
}

#[test]
fn t06_deep_and_badly_encoded_lines() {
    let deep = format!(r#"{{"id":3,"result":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    assert_eq!(kind(&deep), "answer 3 result", "its call looks how deep it is");
    assert_eq!(sniff_id(deep.as_bytes(), deep.as_bytes()), Some(3));
    let wide = format!(r#"{{"id":3,"result":[{}]}}"#, "[],".repeat(500) + "1");
    assert_eq!(kind(&wide), "answer 3 result");
    let text = format!(r#"{{"id":3,"result":"{}"}}"#, "[".repeat(500));
    assert_eq!(kind(&text), "answer 3 result");
    assert!(matches!(decode(b"{\"id\":3,\"result\":\"\xff\xfe\"}"), Err(NotAMessage::Encoding)));
    assert_eq!(sniff_id(b"{\"id\":3,\"result\":\"\xff\xfe\"}", b""), Some(3));
}

#[test]
fn a_line_is_too_deep_by_one_level() {
    for most in [1, 8, 128] {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(!is_too_deep(nested(most).as_bytes(), most), "{most}");
        assert!(is_too_deep(nested(most + 1).as_bytes(), most), "{most}");
    }
}

#[test]
fn ids_of_lines_that_cannot_be_read() {
    let check = |head: &str, tail: &str, want: Option<u64>| {
        assert_eq!(sniff_id(head.as_bytes(), tail.as_bytes()), want, "{head} … {tail}")
    };
    check(r#"{"jsonrpc":"2.0","id":12,"result":{"id":99,"#, "xxxx", Some(12));
    check(r#"{"result":{"id":99,"text":"xxx"#, r#"xxx"},"jsonrpc":"2.0","id":12}"#, Some(12));
    check(r#"{"result":{"text":"xxx"#, r#"xxx"},"id":12,"jsonrpc":"2.0"}"#, Some(12));
    check(r#"{"result":{"text":"xxx"#, r#"{"id":5}},"jsonrpc":"2.0"}"#, None);
    check(r#"{ "id" : 12 , "result""#, "", Some(12));
    check(r#"{ "id" : "12" , "result""#, "", None);
    check(r#"{"id":1.5,"result""#, "", None);
    check(r#"{"id":-1,"result""#, "", None);
    check(r#"xxxxxxxx"id":3"#, r#"xxxxx"#, None);
    check("", "", None);
}

#[test]
fn f72_only_what_means_to_be_an_answer_fails_a_call() {
    let check = |line: &str, want: bool| assert_eq!(is_answer_like(line.as_bytes()), want, "{line}");
    check(r#"{"jsonrpc":"2.0","id":1,"result":{"method":"#, true);
    check(r#" {"id":1,"result":{},"error":{}}"#, true);
    check(r#"{"jsonrpc":"2.0","id":1,"result":{"name":"method"}"#, true);
    check(r#"[DEBUG] received: {"jsonrpc":"2.0","id":1,"result":{}}"#, false);
    check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","par"#, false);
    check(r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#, false);
    check("Server listening", false);
}

/// Whatever comes in, taking it apart ends, and an id that is found was there.
#[test]
fn generated_lines_are_survived() {
    let mut random = fastrand::Rng::with_seed(11);
    let words = [
        "{",
        "}",
        "[",
        "]",
        "\"id\"",
        "\"result\"",
        "\"error\"",
        "\"method\"",
        "\"params\"",
        ":",
        ",",
        "1",
        "7",
        "\"x\"",
        "null",
        "\\",
        "\"",
        " ",
        "\u{fffd}",
        "\"jsonrpc\":\"2.0\"",
        "-1",
        "1e9",
        "18446744073709551616",
        "true",
    ];
    for _ in 0..crate::GENERATED {
        let line: String =
            (0..random.usize(0..24)).map(|_| *random.choice(words.iter()).unwrap_or(&"")).collect();
        let mut line = line.into_bytes();
        if random.u8(0..10) == 0 && !line.is_empty() {
            let at = random.usize(0..line.len());
            line[at] = random.u8(..);
        }
        let _ = decode(&line);
        let cut = random.usize(0..=line.len());
        if let Some(id) = sniff_id(&line[..cut], &line[cut..]) {
            let text = String::from_utf8_lossy(&line).into_owned();
            assert!(text.contains(&id.to_string()), "{id} is not in {text}");
        }
    }
}
