//! Kitbag against servers that people really use, of both eras of the protocol: the proof that our fakes
//! stand for something.

mod asked;
mod at_address;
mod bare;
mod installed;
mod place;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use installed::Server;
use place::Place;

/// All tools that the server itself lists, and no other; at least so many, these among them.
#[track_caller]
fn check_all_there(server: Server, at_least: usize, some: &[&str]) {
    let place = Place::with(&[server]);
    let rows = place.json(&["tools", server.name()], 0);
    let rows = rows.as_array().unwrap();
    let ours: BTreeSet<&str> = rows.iter().map(|row| row["tool"].as_str().unwrap()).collect();
    let listed = bare::tools(&place, server);
    let theirs: BTreeSet<&str> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(ours, theirs);
    assert_eq!(ours.len(), rows.len(), "a tool is there twice");
    assert!(at_least <= ours.len(), "{} tools", ours.len());
    assert!(some.iter().all(|name| ours.contains(name)), "{ours:?}");
    for row in rows {
        assert_eq!(row["server"], server.name(), "{row}");
        assert_eq!(row["available"], true, "{row}");
        assert_eq!(row["input_schema"]["type"], "object", "{row}");
    }
}

#[test]
fn s4_8_all_tools_of_everything() {
    check_all_there(Server::Everything, 13, &["echo", "get-sum", "get-structured-content"]);
}

#[test]
fn s4_8_all_tools_of_filesystem() {
    check_all_there(Server::Filesystem, 14, &["read_text_file", "write_file", "list_directory"]);
}

#[test]
fn s4_8_all_tools_of_memory() {
    check_all_there(Server::Memory, 9, &["create_entities", "read_graph"]);
}

#[test]
fn s4_8_all_tools_of_git() {
    check_all_there(Server::Git, 12, &["git_status", "git_log"]);
}

#[test]
fn s4_8_all_tools_of_time_in_both_eras() {
    check_all_there(Server::TimeNew, 2, &["convert_time", "get_current_time"]);
    check_all_there(Server::TimeOld, 2, &["convert_time", "get_current_time"]);
}

#[test]
fn f51_published_servers_work_beside_each_other() {
    let place = Place::with(&Server::PUBLISHED);
    for _ in 0..2 {
        let rows = place.json(&["tools"], 0);
        let listed: BTreeSet<&str> =
            rows.as_array().unwrap().iter().map(|row| row["server"].as_str().unwrap()).collect();
        assert!(Server::PUBLISHED.iter().all(|server| listed.contains(server.name())), "{listed:?}");
        assert!(rows.as_array().unwrap().iter().all(|row| row["available"] == true), "{rows}");
    }
    let status = place.json(&["status"], 0);
    for server in Server::PUBLISHED {
        let row = status.as_array().unwrap().iter().find(|row| row["server"] == server.name()).unwrap();
        assert_eq!((&row["state"], &row["era"]), (&json!("ready"), &json!(server.version())), "{row}");
    }
    // By the name of a tool alone.
    for (tool, arguments, answer) in [
        ("get-sum", r#"{"a": 2, "b": 3}"#, "5"),
        ("sequentialthinking", THOUGHT, "thoughtNumber"),
        ("convert_to_markdown", r#"{"uri": "data:text/html,<h1>Kit</h1>"}"#, "# Kit"),
    ] {
        let result = place.json(&["call", tool, "--args", arguments], 0);
        assert!(result["content"][0]["text"].as_str().unwrap().contains(answer), "{tool}: {result}");
    }
    let found = place.json(&["doctor", "--connect"], 0);
    assert_eq!(found["errors"], 0, "{found}");
    for server in Server::PUBLISHED {
        let rows = found["connected"].as_array().unwrap();
        let row = rows.iter().find(|row| row["server"] == server.name()).unwrap();
        assert_eq!((&row["state"], &row["era"]), (&json!("ready"), &json!(server.version())), "{row}");
        assert!(0 < row["tools"].as_u64().unwrap() && row["took_ms"].is_u64(), "{row}");
    }
}

const THOUGHT: &str =
    r#"{"thought": "pack", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1}"#;

#[test]
fn s3_17_what_a_tool_says_about_itself_arrives_unchanged() {
    let place = Place::with(&Server::ALL);
    let rows = place.json(&["tools"], 0);
    let rows = rows.as_array().unwrap();
    let row = |server: Server, tool: &Value| {
        rows.iter().find(|row| row["server"] == server.name() && row["tool"] == tool["name"]).unwrap()
    };
    for server in Server::ALL {
        for tool in bare::tools(&place, server) {
            let ours = row(server, &tool);
            assert_eq!(ours["description"], tool["description"], "{server:?}");
            assert_eq!(ours["input_schema"], tool["inputSchema"], "{server:?}");
        }
    }
}

#[test]
fn every_server_is_ready_in_its_era() {
    let place = Place::with(&Server::ALL);
    let rows = place.json(&["status"], 0);
    let row = |row: &Value| (row["server"].as_str().unwrap().to_owned(), row.clone());
    let rows: BTreeMap<String, Value> = rows.as_array().unwrap().iter().map(row).collect();
    assert_eq!(rows.len(), Server::ALL.len());
    for server in Server::ALL {
        let row = &rows[server.name()];
        assert_eq!(row["state"], "ready", "{row}");
        assert_eq!(row["era"], server.version(), "{row}");
        assert_eq!(row["error"], Value::Null, "{row}");
        assert_eq!(row["restarts"], 0, "{row}");
        assert_eq!(row["noise"], 0, "{row}");
    }
}

#[test]
fn everything_echoes_and_adds() {
    let place = Place::with(&[Server::Everything]);
    let echo = place.call(Server::Everything, "echo", &json!({"message": "grüße, 世界 \"\\\n"}));
    assert_eq!(echo, "Echo: grüße, 世界 \"\\\n");
    let sum = place.call(Server::Everything, "get-sum", &json!({"a": 2, "b": 40}));
    assert_eq!(sum, "The sum of 2 and 40 is 42.");
}

#[test]
fn filesystem_reads_inside_and_refuses_outside() {
    let place = Place::with(&[Server::Filesystem]);
    let (inside, outside) = (place.data().join("inside.txt"), place.data().join("../outside.txt"));
    fs::write(&inside, "within\n").unwrap();
    fs::write(&outside, "beyond\n").unwrap();
    assert_eq!(place.call(Server::Filesystem, "read_text_file", &json!({"path": inside})), "within\n");
    let refusal = place.refused(Server::Filesystem, "read_text_file", &json!({"path": outside}));
    assert!(refusal.starts_with("Access denied") && !refusal.contains("beyond"), "{refusal}");
}

#[test]
fn memory_keeps_between_commands() {
    let place = Place::with(&[Server::Memory]);
    let kit = json!({"name": "Kit", "entityType": "bag", "observations": ["holds tools"]});
    place.call(Server::Memory, "create_entities", &json!({"entities": [kit]}));
    let graph = place.json(&["call", "memory/read_graph"], 0);
    assert_eq!(graph["structured"], json!({"entities": [kit], "relations": []}));
}

#[test]
fn git_tells_the_status_of_a_fresh_repository() {
    let place = Place::with(&[Server::Git]);
    let repository = place.data().join("repository");
    let mut git = place.command("git");
    let made = git.args(["init", "--quiet", "--initial-branch", "main"]).arg(&repository).status().unwrap();
    assert!(made.success());
    fs::write(repository.join("new.txt"), "").unwrap();
    let status = place.call(Server::Git, "git_status", &json!({"repo_path": repository}));
    assert!(
        ["On branch main", "No commits yet", "new.txt"].iter().all(|part| status.contains(part)),
        "{status}"
    );
}

#[test]
fn time_converts_in_both_eras() {
    let place = Place::with(&[Server::TimeNew, Server::TimeOld]);
    let noon = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let nowhere = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "No/Where"});
    for server in [Server::TimeNew, Server::TimeOld] {
        let answer = place.call(server, "convert_time", &noon);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let there = answer["target"]["datetime"].as_str().unwrap();
        assert!(there.ends_with("T21:00:00+09:00"), "{server:?}: {there}");
        assert_eq!(answer["time_difference"], "+9.0h", "{server:?}");
        let refusal = place.refused(server, "convert_time", &nowhere);
        assert!(refusal.contains("Invalid timezone"), "{server:?}: {refusal}");
    }
}

/// The older Python SDK prints a page of errors for the question which era it speaks. They harm nothing, and
/// what was learnt is not asked again.
#[test]
fn the_probe_of_an_old_server_is_made_once() {
    let place = Place::with(&[Server::TimeOld]);
    let state = || place.json(&["status"], 0)[0]["state"].clone();
    let errors = |lines: &[Value]| {
        let told = |line: &&Value| line.as_str().is_some_and(|line| line.contains("[type="));
        lines.iter().filter(told).count()
    };
    assert_eq!(state(), "ready");
    let first = place.logs(Server::TimeOld);
    assert!(40 < first.len() && 10 < errors(&first), "no page of errors: {first:#?}");
    assert_eq!(state(), "ready");
    let second = place.logs(Server::TimeOld);
    assert_eq!(errors(&second), errors(&first), "it was probed again: {:#?}", &second[first.len()..]);
    // Told from the cache alone: without it, the page is there again.
    fs::remove_dir_all(place.cache()).unwrap();
    assert_eq!(state(), "ready");
    assert_eq!(errors(&place.logs(Server::TimeOld)), 2 * errors(&first));
}

/// "Nothing is left" means something only if the same look finds what is there.
#[test]
fn processes_are_seen_while_they_run_and_gone_after_a_signal() {
    let place = Place::with(&[Server::Memory, Server::TimeNew]);
    let mut watch = place.kitbag(&["status", "--watch"]);
    let mut kitbag = watch.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Kitbag, and for each server a guard and the server itself.
    let all = testkit::wait_until(Duration::from_secs(30), || 5 <= place.processes().len());
    let seen = place.processes();
    let ended = place.command("kill").arg(kitbag.id().to_string()).status().unwrap();
    let code = kitbag.wait().unwrap().code();
    place.assert_empty();
    assert!(all && ended.success(), "seen: {seen:?}");
    assert_eq!(code, Some(130));
}
