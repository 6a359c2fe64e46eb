//! Servers that come late, fail or never answer, and what a client sees of them while Kitbag serves.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;

use serde_json::json;
use testkit::{Farm, House, wait_until};

use super::{LONG, Served, request};
use crate::house::Runs as _;

/// What `tools/list` answers in this session.
#[track_caller]
fn listed(served: &Served<'_>, session: &str) -> String {
    served.post(&format!("mcp-session-id: {session}\r\n"), &request(2, "tools/list", &json!({})))
}

/// Waits until the stream of a session says that the list of tools changed.
#[track_caller]
fn hears_of_a_change(served: &Served<'_>, session: &str) -> impl FnOnce() + use<> {
    let mut stream = TcpStream::connect(served.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let host = served.address();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines();
    // Once the head is there, nothing is missed.
    assert!(lines.by_ref().map(Result::unwrap).any(|line| line.is_empty()));
    move || assert!(lines.map(Result::unwrap).any(|line| line.contains("tools/list_changed")))
}

#[test]
fn s1_11_an_entry_in_the_file_is_enough() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nwatch = \"50ms\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    assert!(!listed(&served, &session).contains("y_echo"));
    let heard = hears_of_a_change(&served, &session);
    farm.add("y", &[]);
    heard();
    assert!(wait_until(LONG, || listed(&served, &session).contains("\"y_echo\"")));
    let call = request(3, "tools/call", &json!({"name": "y_echo", "arguments": {"message": "hi"}}));
    assert!(served.post(&format!("mcp-session-id: {session}\r\n"), &call).contains("\"hi\""));
    assert_eq!(farm.count("x", "start"), 1, "what was there goes on");
    // As one tool a server, too.
    let gateways = served.session("Kitbag-Mode: gateway\r\n");
    assert!(listed(&served, &gateways).contains("\"mcp_y\""));
    farm.remove("y");
    assert!(wait_until(LONG, || !listed(&served, &session).contains("y_echo")));
    served.stop();
}

#[test]
fn s2_25_the_endpoint_has_all_servers_a_user_may_have_and_another_kitbag_can_use_it() {
    let farm = Farm::of("one", &[]);
    farm.add("two", &[]);
    farm.add("three", &[]);
    farm.settings("[groups.local]\ndeny = [\"three/*\", \"two/fail\"]\n");
    let served = Served::start(&farm, &[]);
    let other = House::new();
    let ask = |args: &[&str]| other.ask(args).env("MCP_HUB_URL", &served.url).run();
    let tools = ask(&["tools", "--json", "--wait", "60s"]).exits(0).json();
    let has = |name: &str| tools.as_array().unwrap().iter().any(|tool| tool["tool"] == name);
    assert!(has("one_echo") && has("one_fail") && has("two_echo"), "{tools}");
    assert!(!has("two_fail") && !tools.to_string().contains("three_"), "{tools}");
    let call = ask(&["call", "two_echo", "message=hi", "--json", "--wait", "60s"]).exits(0).json();
    assert_eq!(call["content"][0]["text"], "hi");
    served.stop();
}

#[test]
fn ten_good_servers_are_there_while_one_hangs_one_is_missing_one_is_refused_and_one_is_silent() {
    let farm = Farm::of("good0", &[]);
    (1..10).for_each(|n| farm.add(&format!("good{n}"), &[]));
    farm.settings("[wait]\nagent = \"3s\"\n[limits]\nretry_failed = \"200ms\"\nrestart_first = \"100ms\"\n");
    farm.add("hangs", &["--fault", "s05"]);
    let late = farm.house.path("bin/late-mcp");
    farm.enter("missing", json!({"command": late, "env": {Farm::MARK: farm.house.at("")}}));
    let refused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    farm.enter("refused", json!({"type": "http", "url": format!("http://{refused}/mcp")}));
    // Takes connections and says nothing, ever.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    farm.enter(
        "silent",
        json!({"type": "http", "url": format!("http://{}/mcp", hole.local_addr().unwrap())}),
    );
    let told = farm.house.path("told");
    let served = Served::start_to(&farm, &[], Some(&told));
    // At the first look: many hosts ask once.
    let session = served.session("");
    let first = listed(&served, &session);
    (0..10).for_each(|n| assert!(first.contains(&format!("\"good{n}_echo\"")), "good{n}: {first}"));
    // Why the others are not there is told while it serves.
    let says = |name: &str, why: &str| {
        let text = std::fs::read_to_string(&told).unwrap_or_default();
        text.lines().any(|line| line.starts_with(name) && line.contains(why))
    };
    assert!(wait_until(LONG, || says("missing", "missing program") && says("refused", "connection")));
    // They are tried again: the program appears, and its tools join.
    let heard = hears_of_a_change(&served, &session);
    let script = format!("#!/bin/sh\nexec {}\n", testkit::bin("fake-mcp").display());
    farm.house.put("bin/new", script);
    std::fs::set_permissions(farm.house.path("bin/new"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::rename(farm.house.path("bin/new"), &late).unwrap();
    heard();
    assert!(wait_until(LONG, || listed(&served, &session).contains("\"missing_echo\"")));
    assert!(wait_until(LONG, || says("missing", "ready")));
    // The silent two are nobody's trouble, and what is wrong with them is known.
    let status = farm.house.run(&["status", "--json", "--wait", "1s"]).json();
    let waits = |name: &str| {
        status.as_array().unwrap().iter().any(|row| row["server"] == name && row["state"] == "starting")
    };
    assert!(waits("hangs") && waits("silent"), "{status}");
    drop(hole);
    served.stop();
}
