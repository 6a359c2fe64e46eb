//! The two eras over HTTP, by hand: sessions, streams, headers.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http_peer::HttpPeer;
use crate::peer::{Speech, text};

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

#[test]
fn legacy_sessions_open_serve_and_end() {
    for form in ["json", "sse", "auto"] {
        let mut peer = HttpPeer::start(&["--answer", form]);
        let opened = peer.initialize();
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25");
        assert!(peer.session.is_some());
        assert!(peer.listed().contains(&"echo".to_owned()));
        let call = peer.call("echo", json!({ "message": "hi" }));
        assert_eq!((call.status, call.is_events()), (200, form == "sse"), "{form}");
        assert_eq!(text(&call.answer().unwrap()), "hi");

        let session = peer.session.take();
        let missing = peer.ask("tools/list", json!({}));
        assert_eq!(missing.status, 400);
        assert_eq!(missing.json().unwrap()["error"]["code"], -32000);
        peer.session = Some("never-given".into());
        let unknown = peer.ask("tools/list", json!({}));
        assert_eq!(unknown.status, 404);
        assert_eq!(unknown.json().unwrap()["error"]["message"], "Session not found");
        peer.session = session;
        assert_eq!(peer.send("DELETE", "/mcp", &[], b"").unwrap().status, 204);
        assert_eq!(peer.ask("tools/list", json!({})).status, 404);
    }
}

#[test]
fn notifications_and_answers_get_202() {
    let mut peer = HttpPeer::legacy(&[]);
    let mut asked = peer.call("ask", json!({ "what": "roots" }));
    assert!(asked.is_events(), "the question comes first");
    let question = asked.message();
    assert_eq!(question["method"], "roots/list");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [] } });
    assert_eq!(peer.post(&answer, &[]).status, 202);
    assert_eq!(text(&asked.message()), "{\"roots\":[]}");
    assert_eq!(asked.event().unwrap(), None);
}

#[test]
fn what_is_no_request_of_ours_is_refused() {
    let peer = HttpPeer::legacy(&[]);
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    let both = pair("Accept", "application/json, text/event-stream");
    let json = pair("Content-Type", "application/json");
    let status = |method: &str, path: &str, headers: &[(String, String)], body: &str| {
        peer.send(method, path, headers, body.as_bytes()).unwrap().status
    };
    assert_eq!(status("POST", "/mcp", &[json.clone(), both.clone()], &body), 200);
    assert_eq!(status("POST", "/mcp", &[json.clone(), pair("Accept", "application/json")], &body), 406);
    assert_eq!(status("POST", "/mcp", &[json.clone(), pair("Accept", "text/event-stream")], &body), 406);
    assert_eq!(status("POST", "/mcp", std::slice::from_ref(&both), &body), 415);
    assert_eq!(status("POST", "/mcp", &[json.clone(), both.clone()], "{"), 400);
    assert_eq!(status("POST", "/else", &[json.clone(), both.clone()], &body), 404);
    assert_eq!(status("PUT", "/mcp", &[json.clone(), both.clone()], &body), 405);
    assert_eq!(status("GET", "/mcp", &[pair("Accept", "application/json")], ""), 406);
    let odd = pair("MCP-Protocol-Version", "1900-01-01");
    assert_eq!(status("POST", "/mcp", &[json, both, odd], &body), 400);
}

#[test]
fn progress_comes_on_the_stream_of_its_call() {
    for speech in [Speech::Legacy, Speech::Modern] {
        let mut peer = HttpPeer::legacy(&[]);
        peer.speech = speech;
        let call = peer.call("progress", json!({ "n": 3, "ms": 1 }));
        assert!(call.is_events());
        let (before, answer) = call.messages().unwrap();
        assert_eq!(before.len(), 3);
        assert!(before.iter().all(|note| note["method"] == "notifications/progress"));
        assert_eq!(text(&answer), "3 steps");
    }
}

#[test]
fn in_json_alone_notifications_take_the_other_stream() {
    let mut peer = HttpPeer::legacy(&["--answer", "json"]);
    let call = peer.call("log", json!({ "n": 2 }));
    assert!(!call.is_events());
    assert_eq!(text(&call.answer().unwrap()), "logged 2");
    let mut stream = peer.listen(None);
    assert_eq!(stream.message()["params"]["data"], "note 1");
    assert_eq!(stream.message()["params"]["data"], "note 2");
}

#[test]
fn the_get_stream_says_what_changed() {
    let mut peer = HttpPeer::legacy(&[]);
    let mut stream = peer.listen(None);
    assert_eq!((stream.status, stream.is_events()), (200, true));
    assert_eq!(peer.text("grow", json!({})), "grown_1");
    assert_eq!(stream.message()["method"], "notifications/tools/list_changed");
    assert!(peer.listed().contains(&"grown_1".to_owned()));
    // Its end is the session's end.
    peer.send("DELETE", "/mcp", &[], b"").unwrap();
    assert!(stream.event().unwrap().is_none());
}

#[test]
fn a_broken_stream_can_be_resumed() {
    let mut peer = HttpPeer::legacy(&["--answer", "sse", "--retry", "7"]);
    let mut call = peer.call("progress", json!({ "n": 4, "ms": 30 }));
    let first = call.event().unwrap().unwrap();
    assert_eq!((first.data.as_deref(), first.retry.as_deref()), (Some(""), Some("7")));
    let second = call.event().unwrap().unwrap();
    drop(call);
    let (before, answer) = peer.listen(second.id.as_deref()).messages().unwrap();
    let steps: Vec<_> = before.iter().map(|note| note["params"]["progress"].as_u64().unwrap()).collect();
    assert_eq!(steps, [2, 3, 4]);
    assert_eq!(text(&answer), "4 steps");
    // Once more, from the start and after the end.
    let (again, answer) = peer.listen(first.id.as_deref()).messages().unwrap();
    assert_eq!((again.len(), text(&answer)), (4, "4 steps".to_owned()));
}

#[test]
fn a_cancelled_call_ends_without_an_answer() {
    let mut peer = HttpPeer::legacy(&["--answer", "sse"]);
    let mut call = peer.call("sleep", json!({ "ms": 60_000 }));
    assert!(call.event().unwrap().is_some(), "the empty event");
    let note = json!({ "method": "notifications/cancelled", "jsonrpc": "2.0", "params": { "requestId": 2 } });
    assert_eq!(peer.post(&note, &[]).status, 202);
    assert_eq!(call.event().unwrap(), None);
}

#[test]
fn without_sessions_there_are_none() {
    let mut peer = HttpPeer::start(&["--stateless"]);
    peer.initialize();
    assert_eq!(peer.session, None);
    peer.is_usable();
    assert_eq!(peer.listen(None).status, 405);
}

#[test]
fn modern_needs_no_handshake_and_no_session() {
    for era in ["modern", "both"] {
        for form in ["json", "sse"] {
            let mut peer = HttpPeer::modern(&["--era", era, "--answer", form]);
            let found = peer.ask("server/discover", json!({}));
            assert_eq!(found.header("mcp-session-id"), None);
            assert_eq!(found.answer().unwrap()["result"]["supportedVersions"], json!(["2026-07-28"]));
            let list = peer.ask("tools/list", json!({})).answer().unwrap();
            assert_eq!(list["result"]["resultType"], "complete");
            let mut call = peer.call("echo", json!({ "message": "hi" }));
            if form == "sse" {
                let event = call.event().unwrap().unwrap();
                assert_eq!((event.id, event.name.as_deref()), (None, Some("message")));
            } else {
                assert_eq!(text(&call.answer().unwrap()), "hi");
            }
            let unknown = peer.ask("ping", json!({}));
            assert_eq!(unknown.status, 404);
            assert_eq!(unknown.json().unwrap()["error"]["code"], -32601);
        }
    }
}

#[track_caller]
fn refused(peer: &HttpPeer, message: &Value, headers: &[(String, String)], code: i64) {
    let refusal = peer.post(message, headers);
    assert_eq!(refusal.status, 400, "{headers:?}");
    let body = refusal.json().unwrap();
    assert_eq!((&body["error"]["code"], &body["id"]), (&json!(code), &message["id"]), "{headers:?}: {body}");
}

#[test]
fn modern_headers_must_say_what_the_body_says() {
    let peer = HttpPeer::modern(&[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "echo", "arguments": { "message": "hi" }, "_meta": meta });
    let message = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
    let usual = peer.usual(&message);
    assert_eq!(peer.post(&message, &usual).status, 200);
    for at in 0..usual.len() {
        let mut without = usual.clone();
        without.remove(at);
        refused(&peer, &message, &without, -32020);
        let mut wrong = usual.clone();
        wrong[at].1 = "other".into();
        refused(&peer, &message, &wrong, -32020);
    }
    let mut encoded = usual.clone();
    encoded[2].1 = "=?base64?ZWNobw==?=".into();
    assert_eq!(peer.post(&message, &encoded).status, 200);
    encoded[2].1 = "=?base64?ZWNob==?=".into();
    refused(&peer, &message, &encoded, -32020);

    let mut old = message.clone();
    old["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-01-01");
    let mut headers = usual;
    headers[0].1 = "2026-01-01".into();
    refused(&peer, &old, &headers, -32022);
}

#[test]
fn modern_alone_refuses_the_older_ways() {
    let mut peer = HttpPeer::start(&["--era", "modern"]);
    let refused = peer.ask("initialize", json!({ "protocolVersion": "2025-11-25" }));
    assert_eq!(refused.status, 400);
    let error = refused.json().unwrap();
    assert_eq!(error["error"]["code"], -32022);
    assert_eq!(error["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(peer.listen(None).status, 405);
    assert_eq!(peer.send("DELETE", "/mcp", &[], b"").unwrap().status, 405);
}

#[test]
fn legacy_alone_refuses_the_newer_way() {
    let mut peer = HttpPeer::modern(&["--era", "legacy"]);
    let refused = peer.ask("server/discover", json!({}));
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json().unwrap()["error"]["code"], -32000);
    peer.speech = Speech::Legacy;
    peer.initialize();
    peer.is_usable();
}

#[test]
fn modern_subscriptions_are_streams_of_their_own() {
    // Also where all other answers are JSON.
    let mut peer = HttpPeer::modern(&["--answer", "json"]);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = peer.ask("subscriptions/listen", filter.clone());
    let mut other = peer.ask("subscriptions/listen", filter);
    let tag = "io.modelcontextprotocol/subscriptionId";
    assert_eq!(stream.message()["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(other.message()["params"]["_meta"][tag], 2);
    assert!(stream.is_silent_for(Duration::from_millis(50)));
    peer.text("grow", json!({}));
    for (stream, id) in [(&mut stream, 1), (&mut other, 2)] {
        let note = stream.message();
        assert_eq!(note["method"], "notifications/tools/list_changed");
        assert_eq!(note["params"]["_meta"][tag], id);
    }
}

#[test]
fn modern_cancels_by_hanging_up() {
    let folder = tempfile::TempDir::new().unwrap();
    let events = folder.path().join("events").display().to_string();
    let mut peer = HttpPeer::modern(&["--answer", "sse", "--events", &events]);
    drop(peer.call("sleep", json!({ "ms": 60_000 })));
    let noted = || std::fs::read_to_string(&events).unwrap().contains("cancelled 1\n");
    assert!(testkit::wait_until(Duration::from_secs(10), noted));
    peer.is_usable();
}
