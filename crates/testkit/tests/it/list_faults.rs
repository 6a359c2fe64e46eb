//! Faults of lists and notifications.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::peer::{Peer, text};

fn cursors(spec: &str, pages: usize) -> Vec<String> {
    let mut peer = Peer::legacy(&["--fault", spec]);
    let mut cursors: Vec<String> = Vec::new();
    for _ in 0..pages {
        let params = cursors.last().map_or(json!({}), |cursor| json!({ "cursor": cursor }));
        let page = peer.request("tools/list", params);
        assert!(!page["result"]["tools"].as_array().unwrap().is_empty());
        cursors.push(page["result"]["nextCursor"].as_str().unwrap().to_owned());
    }
    cursors
}

#[test]
fn s20_endless_pages() {
    assert_eq!(cursors("s20", 50).into_iter().collect::<HashSet<_>>().len(), 50);
}

#[test]
fn s21_cursors() {
    assert_eq!(cursors("s21:same", 3), ["same", "same", "same"]);
    assert_eq!(cursors("s21:empty", 3), ["", "", ""]);
    assert_eq!(cursors("s21:cycle", 5), ["page-1", "page-2", "page-3", "page-1", "page-2"]);
}

#[test]
fn s22_many_tools() {
    let mut peer = Peer::legacy(&["--fault", "s22:2000,500"]);
    let list = peer.request("tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2000);
    assert_eq!(tools[1999].to_string().len(), 500);
    assert_eq!(peer.text("echo", json!({ "message": "x" })), "x");
}

#[test]
fn s23_storm() {
    let mut peer = Peer::legacy(&["--fault", "s23"]);
    for _ in 0..50 {
        let note: Value = serde_json::from_slice(&peer.line().unwrap()).unwrap();
        assert_eq!(note["method"], "notifications/tools/list_changed");
    }
    assert!(peer.request("tools/list", json!({}))["result"].is_object());
}

#[test]
fn s24_notes_before_the_answer() {
    let mut peer = Peer::legacy(&["--fault", "s24:1000"]);
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    assert_eq!(text(&peer.answer(id).unwrap()), "x");
    let all: Vec<Value> = peer.others.iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert_eq!(all.iter().filter(|note| note["params"]["progressToken"] == id).count(), 500);
    assert_eq!(all.iter().filter(|note| note["method"] == "notifications/message").count(), 500);
}

#[test]
fn s25_progress_for_ever() {
    let mut peer = Peer::legacy(&["--fault", "s25:1"]);
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    let params = json!({ "requestId": id });
    peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    for step in 1..=30 {
        let note: Value = serde_json::from_slice(&peer.line().unwrap()).unwrap();
        assert_eq!(note["params"]["progress"], step);
    }
}
