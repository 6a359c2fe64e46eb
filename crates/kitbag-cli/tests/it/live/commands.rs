//! The commands that open servers, as a shell sees them.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::Farm;
use crate::house::Runs as _;

const LONG: Duration = Duration::from_secs(30);

#[test]
fn call_exits_with_what_became_of_it() {
    let farm = Farm::of("x", &[]);
    farm.add("gone", &["--fault", "s09"]);
    farm.add_with("missing", &[], &json!({"command": "no-such-program-anywhere"}));
    let run = |args: &[&str]| {
        let mut all = vec!["call"];
        all.extend(args);
        farm.house.run(&all)
    };
    assert_eq!(run(&["x/add", "a=2", "b=3"]).exits(0).out, "5\n");
    assert_eq!(run(&["mcp_x_add", "a=2", "b=3"]).exits(0).out, "5\n");
    run(&["x/fail"]).exits(1);
    run(&["x/rpc_error", "code=-32050"]).exits(13);
    assert!(run(&["gone/echo", "--wait", "2s"]).exits(4).err.contains("exit code 0"));
    assert!(run(&["missing/echo"]).exits(4).err.contains("no-such-program-anywhere"));
    run(&["x/ecko"]).exits(5);
    run(&["nobody/echo", "--wait", "2s"]).fails(5, "mcp_x_echo");
    run(&["x/add", "a"]).exits(7);
    run(&["x/add", "--args", "[1]"]).exits(7);
    assert!(run(&["x/die", "how=kill"]).exits(9).err.contains("signal 9"));
    farm.is_empty();
}

#[test]
fn call_ends_by_the_clocks_of_the_settings() {
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[wait]\ntotal = \"1s\"\n");
    let ran = farm.house.run(&["call", "x/sleep", "ms=600000", "--json"]).exits(9);
    assert_eq!(ran.json()["kind"], "outcome_unknown");
    farm.is_empty();
}

#[test]
fn an_interrupted_call_exits_with_130_and_leaves_nothing() {
    let farm = Farm::of("x", &[]);
    let mut command = farm.house.ask(&["call", "x/sleep", "ms=600000"]).command();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert!(testkit::wait_until(LONG, || farm.count("x", "call sleep") == 1));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    farm.is_empty();
}

#[test]
fn call_returns_when_its_server_answered_whatever_the_others_do() {
    let farm = Farm::of("good", &[]);
    farm.add("mute", &["--fault", "s05"]);
    farm.add("slow", &["--start-delay", "3600000"]);
    let ran = farm.house.ask(&["call", "good/echo", "message=hi", "--wait", "1h"]).run().exits(0);
    assert_eq!(ran.out, "hi\n");
    farm.is_empty();
}

#[test]
fn arguments_are_taken_as_the_schema_says() {
    let farm = Farm::of("x", &[]);
    let echo = |message: &str| {
        let pair = format!("message={message}");
        farm.house.run(&["call", "x/echo", &pair]).exits(0).out
    };
    // Text stays text, also where it looks like something else.
    assert_eq!(echo("12"), "12\n");
    assert_eq!(echo("{\"a\": 1}"), "{\"a\": 1}\n");
    assert_eq!(echo("a=b"), "a=b\n");
    // Numbers, lists and what the schema does not know are read as JSON.
    assert_eq!(farm.house.run(&["call", "x/add", "a=1.5", "b=2"]).exits(0).out, "3.5\n");
    let names = farm.house.run(&["call", "x/env", "names=[\"LIVE_FARM\"]"]).exits(0).out;
    assert!(names.contains("LIVE_FARM"), "{names}");
    let ran = farm.house.ask(&["call", "x/add", "--args", "-", "b=4"]).input("{\"a\": 1, \"b\": 2}").run();
    assert_eq!(ran.exits(0).out, "5\n", "a pair wins over --args");
    farm.is_empty();
}

#[test]
fn a_bare_name_works_for_one_and_is_ambiguous_for_two() {
    let farm = Farm::of("one", &["--tools", "1"]);
    assert_eq!(farm.house.run(&["call", "echo", "message=hi"]).exits(0).out, "hi\n");
    farm.add("two", &[]);
    let ran = farm.house.run(&["call", "echo", "message=hi"]).fails(5, "mcp_one_echo");
    assert!(ran.err.contains("mcp_two_echo"), "{}", ran.err);
    assert_eq!(farm.house.run(&["call", "extra_0001", "query=q"]).exits(0).out, "extra_0001\n");
    farm.is_empty();
}

#[test]
fn s4_8_tools_of_all_pages_are_listed() {
    let farm = Farm::of("x", &["--page", "7", "--tools", "40"]);
    farm.add("bad", &["--fault", "s09"]);
    let ran = farm.house.run(&["tools", "--json", "--wait", "3s"]).exits(0);
    let rows = ran.json().as_array().unwrap().clone();
    let extra: Vec<&Value> = rows
        .iter()
        .filter(|row| row["tool"].as_str().is_some_and(|tool| tool.starts_with("extra_")))
        .collect();
    assert_eq!(extra.len(), 40);
    for row in &extra {
        assert_eq!(row["name"], format!("mcp_x_{}", row["tool"].as_str().unwrap()));
        assert_eq!((&row["server"], &row["available"]), (&json!("x"), &json!(true)));
        assert_eq!(row["input_schema"]["required"][0], "query");
    }
    let fault: Value = serde_json::from_str(ran.err.lines().next().unwrap()).unwrap();
    assert_eq!((&fault["stage"], &fault["server"]), (&json!("connect"), &json!("bad")));
    farm.is_empty();
}

#[test]
fn s4_9_status_says_how_every_server_is() {
    let farm = Farm::of("ready", &[]);
    farm.add_with("disabled", &[], &json!({"disabled": true}));
    farm.add_with("idle", &[], &json!({"lazy": true}));
    farm.add("reconnecting", &["--fault", "s08"]);
    farm.add_with("failed", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.add("starting", &["--fault", "s05"]);
    let ran = farm.house.run(&["status", "--json", "--wait", "3s"]).exits(0);
    let rows = ran.json().as_array().unwrap().clone();
    assert_eq!(rows.len(), 6, "{rows:?}");
    for row in &rows {
        assert_eq!(row["state"], row["server"], "{row}");
        assert_eq!(row["transport"], "stdio", "{row}");
    }
    let of = |name: &str| rows.iter().find(|row| row["server"] == name).unwrap().clone();
    assert_eq!(of("ready")["era"], "2026-07-28");
    assert_eq!(of("ready")["keeping"], "exact");
    assert!(of("reconnecting")["error"].as_str().unwrap().contains("exit code 3"));
    assert!(of("failed")["error"].as_str().unwrap().contains("no-such-program-anywhere"));
    let text = farm.house.run(&["status", "--wait", "3s"]).exits(0).out;
    assert!(["ready", "failed", "idle", "no-such-program"].iter().all(|word| text.contains(word)), "{text}");
    farm.is_empty();
}

#[test]
fn s4_19_a_required_server_that_is_missing_exits_with_4() {
    let farm = Farm::of("good", &[]);
    farm.add_with("needed", &[], &json!({"command": "no-such-program-anywhere", "required": true}));
    farm.house.run(&["tools"]).fails(4, "needed");
    farm.is_empty();
}

#[test]
fn switched_off_nothing_is_started() {
    let farm = Farm::of("x", &[]);
    let off = |args: &[&str]| farm.house.ask(args).env("AGENT_ENABLE_MCP", "off").run();
    let rows = off(&["tools", "--json"]).exits(0).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["server"] == "local"), "{rows}");
    assert!(off(&["call", "x/add", "a=1", "b=2"]).exits(4).err.contains("switched off"));
    assert!(off(&["status"]).exits(0).err.contains("switched off"));
    assert_eq!(farm.count("x", "start"), 0);
}

#[test]
fn limits_are_printed_as_they_are_in_force() {
    let farm = Farm::new();
    farm.house.put("kit/config/kitbag.toml", "[wait]\nagent = \"7s\"\n[limits]\nline = \"1MiB\"\n");
    let rows = farm.house.run(&["limits", "--json"]).exits(0).json();
    let of = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&of("line")["bytes"], &of("wait_agent")["time_ms"]), (&json!(1 << 20), &json!(7000)));
    assert!(farm.house.run(&["limits"]).exits(0).out.contains("1MiB"));
}

/// A row of the table is a bound of a call.
#[test]
fn a_limit_of_the_settings_is_kept() {
    let farm = Farm::of("x", &[]);
    farm.house.put("kit/config/kitbag.toml", "[limits]\nline = \"64KiB\"\n");
    farm.house.run(&["call", "x/big", "bytes=1000", "--quiet"]).exits(0);
    let ran = farm.house.run(&["call", "x/big", "bytes=100000", "--json"]).exits(13);
    assert_eq!(ran.json()["kind"], "too_large");
    farm.is_empty();
}

#[test]
fn logs_keep_what_a_server_wrote_beside_the_protocol() {
    let farm = Farm::of("x", &["--stderr", "hello from the side"]);
    assert!(farm.house.run(&["logs", "x"]).exits(0).err.contains("nothing so far"));
    farm.house.run(&["call", "x/add", "a=1", "b=2"]).exits(0);
    let log = farm.house.run(&["logs", "x"]).exits(0).out;
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].ends_with("Z hello from the side"), "{log}");
    assert!(lines[1].contains("Z call add ok "), "{log}");
    farm.house.run(&["logs", "y"]).exits(5);
}

#[test]
fn f64_every_line_of_a_log_says_when_it_was_written() {
    let farm = Farm::of("x", &["--stderr", "hello"]);
    farm.house.run(&["call", "x/add", "a=1", "b=2"]).exits(0);
    let said = farm.house.run(&["logs", "x", "--json"]).exits(0).json();
    let lines = said["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 2, "{said}");
    let shape = |text: &str| text.replace(|digit: char| digit.is_ascii_digit(), "0");
    for line in lines {
        let (time, rest) = line.as_str().unwrap().split_once(' ').unwrap();
        assert_eq!(shape(time), "0000-00-00T00:00:00Z", "{line}");
        assert!(!rest.is_empty(), "{line}");
    }
}

#[test]
fn a_lazy_servers_tools_are_listed() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    let rows = farm.house.run(&["tools", "--json"]).exits(0).json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["tool"] == "echo"), "{rows}");
    farm.is_empty();
}
