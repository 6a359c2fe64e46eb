use kitbag_core::Secret;

use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, Secret)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), Secret::new(*value))).collect()
}

#[test]
fn the_protocols_own_headers_cannot_be_configured() {
    for name in ["Accept", "HOST", "Mcp-Session-Id", "MCP-Protocol-Version", "mcp-param-x", "Content-Type"] {
        assert!(
            configured(&pairs(&[(name, "x")])).unwrap_err().root.contains("belongs to the protocol"),
            "{name}"
        );
    }
}

#[test]
fn a_value_that_cannot_be_sent_is_not_shown() {
    let why = configured(&pairs(&[("X-Key", "hunter22\r\nEvil: 1")])).unwrap_err();
    assert!(why.root.contains("X-Key") && !why.root.contains("hunter22"), "{why}");
    assert!(configured(&pairs(&[("X Key", "a")])).is_err());
    let both = configured(&pairs(&[("Authorization", "Basic a"), ("authorization", "Bearer b")])).unwrap();
    assert_eq!(both.len(), 1);
    assert_eq!(both["authorization"], "Bearer b");
}

#[test]
fn what_a_line_is() {
    let mirrors = Mirrors::default();
    let of = |line: &str| About::of(line.as_bytes(), &mirrors);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let call =
        of(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"é",{meta}}}}}"#));
    assert_eq!((call.id, call.is_modern), (Some(7), true));
    assert_eq!(call.headers[VERSION], "2026-07-28");
    assert_eq!(call.headers["mcp-method"], "tools/call");
    assert_eq!(call.headers["mcp-name"], "=?base64?w6k=?=");
    let old = of(r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"x","_meta":{}}}"#);
    assert!(!old.is_modern && old.headers.is_empty());
    let cancel = of(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    assert_eq!((cancel.id, cancel.takes_back), (None, Some(7)));
    assert_eq!(of(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).id, None);
}

#[test]
fn how_long_to_leave_a_server_alone() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    let check = |text: &str, seconds: Option<u64>| {
        assert_eq!(retry_after(text, now), seconds.map(Duration::from_secs), "{text:?}");
    };
    check("0", Some(0));
    check(" 120 ", Some(120));
    check("86400", Some(86_400));
    check("99999999999999999999999", Some(u64::MAX));
    check("Sun, 06 Nov 1994 08:49:47 GMT", Some(10));
    check("Sunday, 06-Nov-94 08:49:47 GMT", Some(10));
    check("Sun, 06 Nov 1994 08:49:07 GMT", Some(0));
    for garbage in ["", " ", "soon", "-1", "+5", "1.5", "1s", "1e9", "Sun, 31 Feb 1994 08:49:47 GMT", "١"] {
        check(garbage, None);
    }
}
