//! Faults of being there: silence, early ends, half-closed pipes, odd versions, too many questions.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::proc;

use crate::peer::{PATIENCE, Peer, command};

#[test]
fn every_label_is_listed_and_unknown_ones_are_refused() {
    let listed = command(&["--list-faults"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let labels: Vec<_> = listed.lines().map(|line| line[..3].to_owned()).collect();
    let content = ["c02", "c03", "c05", "c06", "c07", "c08", "c09", "c10", "c15", "c16"].map(str::to_owned);
    let wire = (1..=31).map(|number| format!("s{number:02}"));
    assert_eq!(labels, content.into_iter().chain(wire).collect::<Vec<_>>());
    for wrong in [&["--fault", "s99"], &["--fault", "s05:loud"], &["--cut", "never:kill"], &["--era", "old"]]
    {
        assert_eq!(command(wrong).output().unwrap().status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn s05_never_answers() {
    let mut peer = Peer::start(&["--fault", "s05"]);
    peer.ask("initialize", json!({}));
    peer.ask("server/discover", json!({}));
    assert!(peer.is_silent_for(Duration::from_millis(100)));
    assert!(peer.end().0.success());
}

#[test]
fn s09_ends_at_once() {
    let peer = Peer::start(&["--fault", "s09:exit0"]);
    assert_eq!(peer.line(), None);
    assert_eq!(peer.ended().0.code(), Some(0));
}

#[test]
fn s10_stdout_closed() {
    for when in ["start", "handshake", "list", "call"] {
        let mut peer = Peer::start(&["--fault", &format!("s10:{when}")]);
        let methods = ["initialize", "tools/list", "tools/call"];
        let answers = methods.map(|method| {
            let id = peer.ask(method, json!({ "name": "echo", "arguments": { "message": "x" } }));
            peer.answer(id).is_some()
        });
        let before = methods.len() - answers.iter().filter(|answered| !**answered).count();
        let expected = ["start", "handshake", "list"].iter().position(|name| *name == when).unwrap_or(2);
        assert_eq!(before, expected, "{when}");
        assert!(proc::alive(peer.child.id()), "{when}: lives on");
    }
}

#[test]
fn s11_stdin_closed() {
    let mut peer = Peer::legacy(&["--fault", "s11"]);
    let broken = || !peer.send(&json!({ "jsonrpc": "2.0", "method": "notifications/x" }));
    assert!(testkit::wait_until(PATIENCE, broken));
    assert!(peer.is_silent_for(Duration::from_millis(50)), "stdout stays open");
    assert!(proc::alive(peer.child.id()));
}

#[test]
fn s12_stops_reading() {
    let mut peer = Peer::legacy(&["--fault", "s12:list"]);
    peer.request("tools/list", json!({}));
    peer.ask_call("echo", json!({ "message": "x".repeat(1000) }));
    assert!(peer.is_silent_for(Duration::from_millis(100)));
    peer.close_stdin();
    assert!(peer.is_silent_for(Duration::from_millis(50)), "it does not see the end either");
    assert!(proc::alive(peer.child.id()));
}

#[test]
fn s16_versions() {
    let modes = [("future", json!("2099-12-31")), ("past", json!("2023-01-01"))];
    for (mode, version) in modes.into_iter().chain([("empty", json!("")), ("number", json!(20_251_125))]) {
        let spec = format!("s16:{mode}");
        let answer = Peer::start(&["--fault", &spec]).initialize("2025-11-25");
        assert_eq!(answer["result"]["protocolVersion"], version);
        let mut modern = Peer::start(&["--fault", &spec]);
        modern.speech = crate::peer::Speech::Modern;
        let answer = modern.request("server/discover", json!({}));
        assert_eq!(answer["result"]["supportedVersions"], json!([version]));
    }
}

#[test]
fn s30_refuses_the_version_it_names() {
    for (spec, again) in [("s30", false), ("s30:always", true)] {
        let mut peer = Peer::start(&["--fault", spec, "--era", "modern"]);
        peer.speech = crate::peer::Speech::Modern;
        let refused = peer.request("server/discover", json!({}));
        assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
        let second = peer.request("server/discover", json!({}));
        assert_eq!(second["error"].is_object(), again, "{spec}: {second}");
    }
}

fn with_events(fault: &str) -> (TempDir, Vec<String>) {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events").display().to_string();
    (folder, ["--fault", fault, "--events", &events].map(str::to_owned).to_vec())
}

#[test]
fn s26_asks_unasked() {
    let (folder, args) = with_events("s26:8");
    let mut peer = Peer::start(&args.iter().map(|arg| &**arg).collect::<Vec<_>>());
    peer.initialize("2025-11-25");
    peer.text("add", json!({ "a": 1, "b": 1 }));
    assert_eq!(peer.others.len(), 12);
    for (index, line) in std::mem::take(&mut peer.others).iter().enumerate() {
        let asked: Value = serde_json::from_slice(line).unwrap();
        let answer = match index {
            0 => json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} }),
            _ => json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "no" } }),
        };
        peer.send(&answer);
    }
    peer.text("pid", json!({}));
    let events = fs::read_to_string(folder.path().join("events")).unwrap();
    let answered: Vec<_> = events.lines().filter(|line| line.starts_with("answered ")).collect();
    assert_eq!(answered[0], "answered sampling/createMessage result");
    assert_eq!(answered[1], "answered elicitation/create error -32601");
    assert_eq!(answered[3], "answered tools/call error -32601");
    assert_eq!(answered.len(), 12);
}

#[test]
fn s27_asks_again_and_again() {
    let mut peer = Peer::legacy(&["--fault", "s27"]);
    peer.ask_call("echo", json!({ "message": "x" }));
    let mut urls = Vec::new();
    for _ in 0..6 {
        let asked: Value = serde_json::from_slice(&peer.line().unwrap()).unwrap();
        assert_eq!(asked["method"], "elicitation/create");
        urls.extend(asked["params"]["url"].as_str().map(str::to_owned));
        peer.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "decline" } }));
    }
    assert!(urls.len() == 4 && urls[0].starts_with("file:") && urls[1].starts_with("http:"), "{urls:?}");
    let mut modern = Peer::modern(&["--fault", "s27:form"]);
    for _ in 0..4 {
        let asked = modern.call("echo", json!({ "message": "x" }));
        assert_eq!(asked["result"]["resultType"], "input_required");
    }
}
