//! Faults of what is written: noise, size, order, pieces, stderr.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::{Peer, command, text};

const MIB: usize = 1024 * 1024;

fn fault(spec: &str) -> Peer {
    Peer::legacy(&["--fault", spec])
}

/// The server still answers a spared tool.
#[track_caller]
fn usable(peer: &mut Peer) {
    assert_eq!(peer.text("add", json!({ "a": 1, "b": 2 })), "3");
}

#[test]
fn s01_noise_around_every_message() {
    let mut peer = fault("s01");
    (0..5).for_each(|_| usable(&mut peer));
    let noise = peer.others.iter().map(|line| String::from_utf8_lossy(line)).collect::<String>();
    for part in ["\x1b[32m", "npm warn", "\n\n", "{\"level\":30", "null"] {
        assert!(noise.contains(part), "{part:?}");
    }
}

#[test]
fn s02_a_line_without_end() {
    let mut peer = fault("s02:8");
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    usable(&mut peer);
    let line = &peer.others[0];
    assert!(line.starts_with(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},").as_bytes()));
    assert!(8 * MIB < line.len() && serde_json::from_slice::<Value>(line).is_err());
    let mut peer = fault("s02:1,noid");
    peer.ask_call("echo", json!({ "message": "x" }));
    usable(&mut peer);
    assert!(peer.others[0].starts_with(b"{\"jsonrpc\":\"2.0\",\"result\""));
}

#[test]
fn s03_a_huge_result() {
    for spec in ["s03:8", "s03:8,idlast"] {
        let mut peer = fault(spec);
        assert_eq!(peer.text("echo", json!({ "message": "x" })).len(), 8 * MIB, "{spec}");
        usable(&mut peer);
    }
}

#[test]
fn s04_stderr_flood() {
    let mut peer = fault("s04:5");
    usable(&mut peer);
    assert!(testkit::wait_until(Duration::from_secs(10), || {
        // The flood's own thread has ended.
        std::fs::read_dir(format!("/proc/{}/task", peer.child.id())).unwrap().count() == 1
    }));
    let (_, stderr) = peer.end();
    assert!(4 * MIB < stderr.len() && stderr.ends_with("end of the flood\n"), "{}", stderr.len());
}

#[test]
fn s06_bursts_in_reverse() {
    let mut peer = fault("s06");
    let last = (0..10).map(|_| peer.ask_call("echo", json!({ "message": "x" }))).last().unwrap();
    assert!(peer.answer(last).is_some());
    let rest = (last - 9..last).rev();
    let ids: Vec<_> =
        rest.clone().map(|_| serde_json::from_slice::<Value>(&peer.line().unwrap()).unwrap()).collect();
    if peer.others.is_empty() {
        assert_eq!(
            ids.iter().map(|message| message["id"].as_u64().unwrap()).collect::<Vec<_>>(),
            rest.collect::<Vec<_>>()
        );
    }
}

#[test]
fn s07_pieces_and_carriage_returns() {
    let mut peer = fault("s07");
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    assert!(peer.answer(id).is_some());
    (0..4).for_each(|_| usable(&mut peer));
    assert!(!peer.others.is_empty() && peer.others.iter().all(|line| line.ends_with(b"\r\n")));
}

#[test]
fn s14_twice() {
    let mut peer = fault("s14");
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    let first = peer.answer(id);
    assert_eq!(first, peer.answer(id));
}

#[test]
fn s15_strays_before_the_handshake() {
    let mut peer = Peer::start(&["--fault", "s15"]);
    let first: Value = serde_json::from_slice(&peer.line().unwrap()).unwrap();
    assert_eq!(first["id"], 987_654);
    peer.initialize("2025-11-25");
    usable(&mut peer);
}

#[test]
fn s17_malformed_between_good() {
    let mut peer = fault("s17");
    (0..8).for_each(|_| usable(&mut peer));
    let all = peer.others.iter().map(|line| String::from_utf8_lossy(line)).collect::<String>();
    for part in ["\"1.0\"", "\"id\":null", "\"both\"", "[{", "\n42\n", "424246\n"] {
        assert!(all.contains(part), "{part:?}");
    }
}

#[test]
fn s18_no_utf8() {
    let mut peer = fault("s18");
    peer.ask_call("echo", json!({ "message": "x" }));
    usable(&mut peer);
    assert!(std::str::from_utf8(&peer.others[0]).is_err());
}

#[test]
fn s19_deep() {
    let mut peer = fault("s19");
    peer.ask_call("echo", json!({ "message": "x" }));
    usable(&mut peer);
    assert_eq!(peer.others[0].iter().filter(|byte| **byte == b'[').count(), 200_001);
}

#[test]
fn s28_drips() {
    let mut peer = fault("s28:2");
    let before = testkit::Since::now();
    let id = peer.ask_call("echo", json!({ "message": "x" }));
    assert_eq!(text(&peer.answer(id).unwrap()), "x");
    before.at_least(Duration::from_millis(200));
}

#[test]
fn s29_late_but_good() {
    let before = testkit::Since::now();
    let mut peer = fault("s29:200");
    before.at_least(Duration::from_millis(200));
    usable(&mut peer);
}

#[test]
fn s08_crashes_and_tells() {
    let mut command = command(&["--fault", "s08"]);
    command.env("FAKE_SECRET", "pa/ss?42");
    let (status, stderr) = Peer::spawn(command).ended();
    assert_eq!(status.code(), Some(3));
    for form in ["token pa/ss?42", "cGEvc3M/NDI=", "70612f73733f3432", "pa%2Fss%3F42"] {
        assert!(stderr.contains(form), "{form}: {stderr}");
    }
}
