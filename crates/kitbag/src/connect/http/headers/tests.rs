use kitbag_core::Secret;

use super::super::super::wire::{self, Param};
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

/// Of a request that somebody waits for.
fn about(method: &'static str, params: wire::Params<'_>, era: Era, mirrors: &Mirrors) -> About {
    let line = wire::request(Vec::new(), 7, method.into(), params, era.into(), "{}");
    About::of(&Outgoing { id: Some(7), line }, mirrors)
}

#[test]
fn f38_a_line_says_what_it_is_without_being_read() {
    let mirrors = Mirrors::default();
    let name = [("arguments", Param::Json("{\"name\":\"no\"}")), ("name", Param::Text("é"))];
    let call = about("tools/call", &name, Era::Modern, &mirrors);
    assert_eq!((call.id, call.is_request, call.is_modern), (Some(7), true, true));
    assert_eq!(call.headers[VERSION], "2026-07-28");
    assert_eq!(call.headers["mcp-method"], "tools/call");
    assert_eq!(call.headers["mcp-name"], "=?base64?w6k=?=");
    let read = about("resources/read", &[("uri", Param::Text("file:///a b"))], Era::Modern, &mirrors);
    assert_eq!(read.headers["mcp-name"], "file:///a b");
    let list = about("tools/list", &name, Era::Modern, &mirrors);
    assert_eq!((list.headers.len(), list.headers.get("mcp-name")), (2, None));
    let old = about("tools/call", &name, Era::Legacy, &mirrors);
    assert!(!old.is_modern && old.headers.is_empty());
    // Whatever the bytes say: what is told beside them counts.
    let kind = LineKind::Request { method: "ping".into(), era: Era::Modern, name: None, arguments: None };
    let ping =
        Outgoing { id: None, line: wire::Line { bytes: b"no JSON at all".to_vec(), kind, headers: None } };
    let ping = About::of(&ping, &mirrors);
    assert_eq!((ping.id, ping.is_request, &*ping.method), (None, true, "ping"));
    let cancel = About::of(&Outgoing { id: None, line: wire::cancelled(7) }, &mirrors);
    assert_eq!((cancel.id, cancel.is_request, cancel.takes_back), (None, false, Some(7)));
    let id = serde_json::value::RawValue::from_string("9".to_owned()).unwrap();
    let answer = About::of(&Outgoing { id: None, line: wire::answer(&id, Ok("{}")) }, &mirrors);
    assert_eq!((answer.id, answer.is_request, &*answer.method), (None, false, ""));
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
