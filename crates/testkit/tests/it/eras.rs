//! How a conversation opens, by hand.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::{Peer, Speech, text};

#[track_caller]
fn answers_version(args: &[&str], asked: &str, expected: &str) {
    let mut peer = Peer::start(args);
    let answer = peer.initialize(asked);
    assert_eq!(answer["result"]["protocolVersion"], expected, "{args:?} {asked}");
    assert_eq!(peer.text("add", json!({ "a": 1, "b": 2.5 })), "3.5");
}

#[test]
fn legacy_versions() {
    for era in ["legacy", "both"] {
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            answers_version(&["--era", era], version, version);
        }
        answers_version(&["--era", era], "1999-01-01", "2025-11-25");
        answers_version(&["--era", era, "--version", "2024-11-05"], "2025-11-25", "2024-11-05");
    }
}

#[test]
fn modern_without_a_handshake() {
    for era in ["modern", "both"] {
        let mut peer = Peer::start(&["--era", era]);
        peer.speech = Speech::Modern;
        let list = peer.request("tools/list", json!({}));
        assert_eq!(list["result"]["resultType"], "complete");
        assert_eq!(list["result"]["cacheScope"], "public");
        assert_eq!(list["result"]["ttlMs"], 60000);
        let call = peer.call("echo", json!({ "message": "hi", "token": "t" }));
        assert_eq!(call["result"]["resultType"], "complete");
        assert_eq!(peer.request("ping", json!({}))["error"]["code"], -32601);
    }
}

#[test]
fn discover_answers_and_binds() {
    let mut peer = Peer::start(&["--name", "tester"]);
    peer.speech = Speech::Modern;
    let found = peer.request("server/discover", json!({}));
    let result = &found["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["capabilities"], json!({ "tools": { "listChanged": true } }));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tester");
    assert_eq!(result["resultType"], "complete");
    let refused = peer.initialize("2025-11-25");
    assert_eq!(refused["error"]["code"], -32022);
    peer.speech = Speech::Legacy;
    assert_eq!(
        peer.request("tools/list", json!({}))["error"]["code"],
        -32602,
        "discovered, so meta is needed"
    );
}

#[test]
fn modern_refuses_what_is_not_modern() {
    let mut peer = Peer::start(&["--era", "modern"]);
    let refused = peer.initialize("2025-11-25");
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(peer.request("tools/list", json!({}))["error"]["code"], -32602);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "1900-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let refused = peer.request("tools/list", json!({ "_meta": meta }));
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "1900-01-01");
}

#[test]
fn legacy_servers_meet_the_probe() {
    let mut error = Peer::start(&["--era", "legacy"]);
    assert_eq!(error.request("server/discover", json!({}))["error"]["code"], -32601);
    assert!(error.initialize("2025-11-25")["result"].is_object(), "usable afterwards");

    let mut silent = Peer::start(&["--era", "legacy", "--legacy-probe", "silent"]);
    silent.ask("server/discover", json!({}));
    assert!(silent.is_silent_for(Duration::from_millis(100)));
    assert!(silent.initialize("2025-11-25")["result"].is_object());

    let mut exit = Peer::start(&["--era", "legacy", "--legacy-probe", "exit"]);
    exit.ask("server/discover", json!({}));
    assert_eq!(exit.line(), None);
    assert_eq!(exit.ended().0.code(), Some(1));

    let mut empty = Peer::start(&["--era", "legacy", "--legacy-probe", "empty"]);
    assert_eq!(empty.request("server/discover", json!({}))["result"], json!({}));
    assert!(empty.initialize("2025-11-25")["result"]["protocolVersion"].is_string());

    let mut invalid = Peer::start(&["--era", "legacy", "--legacy-probe", "invalid"]);
    assert_eq!(invalid.request("server/discover", json!({}))["error"]["code"], -32602);
    assert_eq!(invalid.end().1.lines().count(), 90);
}

#[test]
fn subscriptions_are_acknowledged_and_tagged() {
    let mut peer = Peer::modern(&[]);
    let id = peer.ask("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let tag = "io.modelcontextprotocol/subscriptionId";
    let first: Value = serde_json::from_slice(&peer.line().unwrap()).unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"][tag], id);
    let grown = peer.call("grow", json!({}));
    assert_eq!(text(&grown), "grown_1");
    let note: Value = serde_json::from_slice(&peer.others[0]).unwrap();
    assert_eq!(note["method"], "notifications/tools/list_changed");
    assert_eq!(note["params"]["_meta"][tag], id);
}

#[test]
fn the_client_that_closes_stdin_gets_an_end() {
    let peer = Peer::legacy(&["--stderr", "hello there"]);
    let (status, stderr) = peer.end();
    assert!(status.success());
    assert_eq!(stderr, "hello there\n");
}
