//! f65: a server on the command line that nobody configured, a forced revision, roots, and a trace.

use serde_json::{Value, json};
use testkit::bin;

use super::{Farm, Hosted};
use crate::house::Runs as _;

fn fake(farm: &Farm, args: &str) -> String {
    format!("{} --events '{}' {args}", bin("fake-mcp").display(), farm.diary("fake-mcp").display())
}

#[test]
fn f65_a_server_that_nobody_configured_is_used_alone_and_nothing_is_written() {
    let farm = Farm::of("x", &[]);
    let config = farm.house.files("kit/config");
    let server = fake(&farm, "");
    let called = farm.house.run(&["call", "--server", &server, "echo", "message=a b"]).exits(0);
    assert_eq!((called.out.as_str(), called.err.as_str()), ("a b\n", ""));
    let tools = farm.house.run(&["tools", "--server", &server, "--json"]).exits(0).json();
    let servers: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["server"]).collect();
    assert!(20 < servers.len() && servers.iter().all(|server| **server != "x"), "{servers:?}");
    let shown = farm.house.run(&["show", "echo", "--server", &server]).exits(0);
    assert!(shown.out.contains("fake-mcp"), "{}", shown.out);
    let status = farm.house.run(&["status", "--server", &server, "--json"]).exits(0).json();
    assert_eq!((status.as_array().unwrap().len(), &status[0]["state"]), (1, &json!("ready")), "{status}");
    assert_eq!(farm.count("x", "start"), 0, "only that server is used");
    assert_eq!(farm.house.files("kit/config"), config);
    assert_eq!(farm.count("fake-mcp", "start"), 4);
}

/// Words are split as a shell does, and no shell sees them.
#[test]
fn f65_a_command_is_split_into_words_and_run_by_no_shell() {
    let farm = Farm::new();
    let server = fake(&farm, "--name 'a $(touch planted); b' --stderr '$HOME'");
    farm.house.run(&["call", "--server", &server, "echo", "message=hi"]).exits(0);
    assert!(!farm.house.path("project/planted").exists());
    assert!(farm.log("fake-mcp").contains("$HOME"), "{}", farm.log("fake-mcp"));
    farm.house.run(&["call", "--server", "npx 'x", "echo"]).fails(2, "quote that is not closed");
}

#[test]
fn f65_a_server_at_an_address_needs_no_configuration() {
    let hosted = Hosted::new();
    let url = hosted.host("h", &[]);
    let house = &hosted.farm.house;
    assert_eq!(house.run(&["call", "--server", &url, "echo", "message=hi"]).exits(0).out, "hi\n");
    let status = house.run(&["status", "--server", &url, "--json"]).exits(0).json();
    assert_eq!((&status[0]["server"], &status[0]["transport"]), (&json!("127.0.0.1"), &json!("http")));
}

#[test]
fn f65_a_configured_name_after_server_is_that_server_and_a_slip_starts_nothing() {
    let farm = Farm::of("github", &[]);
    farm.add("other", &[]);
    let echo = ["call", "--server", "github", "echo", "message=hi"];
    assert_eq!(farm.house.run(&echo).exits(0).out, "hi\n", "both have echo, one was named");
    assert_eq!((farm.count("github", "call echo"), farm.count("other", "start")), (1, 0));
    let slip = farm.house.run(&["call", "--server", "githbu", "echo"]).fails(5, "no server is called githbu");
    assert!(slip.err.contains("github"), "{}", slip.err);
    farm.house.run(&["call", "--server", "github", "other/echo"]).exits(5);
    farm.is_empty();
}

/// What is to be typed next leads to the same server; a token in it is not printed.
#[test]
fn f60_hints_keep_the_server_and_hide_its_token() {
    let farm = Farm::new();
    let server = fake(&farm, "--era legacy");
    let ran = farm.house.run(&["call", "--server", &server, "ecoh", "--protocol", "2025-06-18"]).exits(5);
    let hint = ran.err.split("try: kitbag ").nth(1).unwrap().trim().to_owned();
    let mut words = shlex::split(&hint).unwrap();
    assert!(words.contains(&server) && words.contains(&"2025-06-18".to_owned()), "{hint}");
    words.push("message=hi".to_owned());
    assert_eq!(farm.house.run(&words).exits(0).out, "hi\n");
    let server = fake(&farm, "--name ghp_0123456789abcdefghijklmnopqrstuvwxyzAB");
    let ran = farm.house.run(&["call", "--server", &server, "ecoh"]).exits(5);
    assert!(ran.err.contains("--server") && !ran.err.contains("ghp_0123"), "{}", ran.err);
}

#[test]
fn f65_one_revision_is_spoken_or_none() {
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    let farm = Farm::of("x", &[]);
    let hosted = Hosted::of("x", &[]);
    for house in [&farm.house, &hosted.farm.house] {
        for revision in revisions {
            let status = house.run(&["status", "--protocol", revision, "--json"]).exits(0).json();
            assert_eq!(
                (&status[0]["state"], &status[0]["era"]),
                (&json!("ready"), &json!(revision)),
                "{status}"
            );
        }
        // What was forced is not what is chosen from then on.
        let status = house.run(&["status", "--json"]).exits(0).json();
        assert_eq!(status[0]["era"], "2026-07-28", "{status}");
    }
    let unknown = farm.house.run(&["call", "x/echo", "--protocol", "2026-01-01"]).exits(2);
    assert!(revisions.iter().all(|revision| unknown.err.contains(revision)), "{}", unknown.err);
}

/// Also where its configuration asks for another one.
#[test]
fn f65_a_server_that_does_not_speak_the_forced_revision_says_so() {
    let farm = Farm::of("old", &["--era", "legacy"]);
    farm.add("fixed", &["--era", "legacy", "--version", "2025-03-26"]);
    farm.add_with("new", &["--era", "modern"], &json!({"protocol": "2026-07-28"}));
    let hosted = Hosted::of("old", &["--era", "legacy"]);
    hosted.add("new", &["--era", "modern"], &json!({}));
    for (house, server, revision) in [
        (&farm.house, "old", "2026-07-28"),
        (&farm.house, "fixed", "2025-11-25"),
        (&farm.house, "new", "2025-11-25"),
        (&hosted.farm.house, "old", "2026-07-28"),
        (&hosted.farm.house, "new", "2025-11-25"),
    ] {
        let tool = format!("{server}/echo");
        let ran = house.run(&["call", &tool, "message=x", "--protocol", revision, "--wait", "20s"]).exits(4);
        let why = format!("does not speak {revision}");
        assert!(ran.err.contains(&why), "{server} {revision}: {}", ran.err);
    }
}

#[test]
fn f65_roots_are_told_to_servers_that_ask_in_both_eras() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        farm.house.put("project/a b/file", "");
        let ask = ["call", "x/ask", "what=roots"];
        let ran = farm.house.run(&[&ask[..], &["--root", "a b", "--root", "/tmp"]].concat()).exits(0);
        let answer: Value = serde_json::from_str(ran.out.trim()).unwrap();
        let roots = if era == "modern" { &answer["question"]["roots"] } else { &answer["roots"] };
        let uri = |at: usize| roots[at]["uri"].as_str().unwrap().to_owned();
        assert!(uri(0).starts_with("file:///") && uri(0).ends_with("/project/a%20b"), "{era}: {roots}");
        assert_eq!((uri(1).as_str(), &roots[0]["name"]), ("file:///tmp", &json!("a b")), "{era}");
        let without = farm.house.run(&ask).exits(0);
        assert!(without.out.contains("not offer"), "{era}: {}", without.out);
        farm.house.run(&[&ask[..], &["--root", "none"]].concat()).fails(2, "--root none is not a folder");
        farm.is_empty();
    }
}

#[test]
fn f65_a_trace_has_every_message_of_every_transport_without_secrets() {
    let secret = "PLANTED-own-secret-1";
    let farm = Farm::new();
    farm.add_with("pipe", &["--era", "legacy"], &json!({"env": {"MY_TOKEN": secret}}));
    let hosted = Hosted::new();
    let headers = json!({"headers": {"Authorization": format!("Bearer {secret}")}});
    hosted.add("http", &["--era", "modern"], &headers);
    let url = hosted.host("sse", &["--sse"]);
    hosted.farm.enter("sse", json!({"type": "sse", "url": url, "headers": headers["headers"]}));
    for (farm, server, first) in [
        (&farm, "pipe", "server/discover"),
        (&hosted.farm, "http", "server/discover"),
        (&hosted.farm, "sse", "initialize"),
    ] {
        let (tool, message) = (format!("{server}/echo"), format!("message=it is {secret}"));
        let ran = farm.house.run(&["call", &tool, &message, "--trace"]).exits(0);
        let lines: Vec<&str> = ran.err.lines().collect();
        let line = |mark: &str, word: &str| {
            let is_it = |line: &&&str| line.contains(&format!(" {server} {mark} ")) && line.contains(word);
            lines.iter().find(is_it).unwrap_or_else(|| panic!("no {mark} {word} in {}", ran.err)).to_string()
        };
        line("-->", &format!("\"method\":\"{first}\""));
        line("-->", "\"method\":\"tools/list\"");
        line("<--", "\"inputSchema\"");
        assert!(line("-->", "\"method\":\"tools/call\"").contains("it is ***"), "{}", ran.err);
        assert!(line("<--", "\"content\"").contains("it is ***"), "{}", ran.err);
        assert!(!ran.all().contains(secret), "{}", ran.all());
        let time = lines[0].split(' ').next().unwrap();
        assert!(time.len() == 24 && time.ends_with('Z'), "{time}");
        assert_eq!(farm.house.run(&["call", &tool, "message=x"]).exits(0).err, "", "off unless asked for");
    }
}

#[test]
fn f65_a_trace_goes_into_a_file_and_to_programs_as_json() {
    let farm = Farm::of("x", &[]);
    let ran = farm.house.run(&["call", "x/echo", "message=hi", "--trace=trace.txt"]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("hi\n", ""));
    let trace = std::fs::read_to_string(farm.house.path("project/trace.txt")).unwrap();
    assert!(trace.contains("tools/call") && trace.lines().all(|line| line.contains(" x ")), "{trace}");
    let ran = farm.house.run(&["call", "x/echo", "message=hi", "--trace", "--json"]).exits(0);
    let lines: Vec<Value> = ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sent = lines.iter().find(|line| line["trace"]["direction"] == "sent").unwrap();
    let message: Value = serde_json::from_str(sent["trace"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(message["jsonrpc"], "2.0");
    farm.house.run(&["call", "x/echo", "--trace=none/t"]).fails(2, "the trace cannot be written");
    farm.is_empty();
}
