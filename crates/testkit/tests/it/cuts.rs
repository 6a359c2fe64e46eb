//! Each cut happens at its step and, with `--once`, only once.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use serde_json::json;
use tempfile::TempDir;

use crate::peer::Peer;

/// What a client sees and the server did before the end.
struct Seen {
    handshake: bool,
    list: bool,
    answer: Option<&'static str>,
    executed: usize,
}

#[track_caller]
fn check(step: &str, seen: &Seen) {
    for how in ["kill", "eof"] {
        let folder = TempDir::new().unwrap();
        let [events, once] = ["events", "once"].map(|name| folder.path().join(name).display().to_string());
        let cut = format!("{step}:{how}");
        let args = ["--cut", &cut, "--once", &once, "--events", &events];
        let mut peer = Peer::start(&args);
        let id = peer.ask("initialize", json!({ "protocolVersion": "2025-11-25" }));
        assert_eq!(peer.answer(id).is_some(), seen.handshake, "{cut}: handshake");
        if seen.handshake {
            let id = peer.ask("tools/list", json!({}));
            assert_eq!(peer.answer(id).is_some(), seen.list, "{cut}: list");
        }
        if seen.list {
            let id = peer.ask_call("count", json!({ "token": "t" }));
            let answer = peer.answer(id).map(|_| "whole");
            let half = peer.others.first().map(|line| {
                assert!(!line.ends_with(b"\n") && line.starts_with(b"{\"jsonrpc\""), "{cut}");
                "half"
            });
            assert_eq!(answer.or(half), seen.answer, "{cut}: answer");
        }
        let (status, _) = peer.ended();
        match how {
            "kill" => assert_eq!(status.signal(), Some(9), "{cut}"),
            _ => assert_eq!(status.code(), Some(0), "{cut}"),
        }
        let executed = fs::read_to_string(&events).unwrap().matches("exec t\n").count();
        assert_eq!(executed, seen.executed, "{cut}: executions");

        let mut again = Peer::legacy(&args);
        assert_eq!(again.text("add", json!({ "a": 1, "b": 1 })), "2", "{cut}: good the second time");
    }
}

#[test]
fn cuts_happen_at_their_step() {
    check("start", &Seen { handshake: false, list: false, answer: None, executed: 0 });
    check("handshake", &Seen { handshake: false, list: false, answer: None, executed: 0 });
    check("list", &Seen { handshake: true, list: false, answer: None, executed: 0 });
    check("request", &Seen { handshake: true, list: true, answer: None, executed: 0 });
    check("half", &Seen { handshake: true, list: true, answer: Some("half"), executed: 1 });
    check("answer", &Seen { handshake: true, list: true, answer: Some("whole"), executed: 1 });
}

#[test]
fn without_once_it_is_cut_every_time() {
    for _ in 0..2 {
        let mut peer = Peer::start(&["--cut", "handshake:eof"]);
        let id = peer.ask("initialize", json!({}));
        assert_eq!(peer.answer(id), None);
    }
}
