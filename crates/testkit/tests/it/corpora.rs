//! Recorded definitions served as real servers.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::peer::{Peer, command};

fn testdata(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(path)
}

fn parsed(path: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_recorded_list_is_served_as_it_is() {
    let files = fs::read_dir(testdata("tools")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    assert_eq!(files.len(), 18);
    let mut count = 0;
    for path in files {
        let mut peer = Peer::legacy(&["--tools", path.to_str().unwrap()]);
        let tools = peer.listed();
        assert_eq!(json!(tools), parsed(&path), "{}", path.display());
        count += tools.len();
    }
    assert_eq!(count, 305);
}

#[test]
fn calls_give_their_params_back() {
    let (folder, path) = (TempDir::new().unwrap(), testdata("tools/git.json"));
    let events = folder.path().join("events");
    let args = ["--tools", path.to_str().unwrap(), "--page", "5", "--events", events.to_str().unwrap()];
    for mut peer in [Peer::legacy(&args), Peer::modern(&args)] {
        assert_eq!(peer.listed().len(), 5);
        let params: Value = serde_json::from_str(&peer.text("git_log", json!({ "max_count": 3 }))).unwrap();
        assert_eq!(params["arguments"], json!({ "max_count": 3 }));
        assert_eq!(peer.call("echo", json!({ "message": "x" }))["error"]["code"], -32602, "not one of them");
    }
    let events = fs::read_to_string(events).unwrap();
    assert_eq!(events.matches("exec git_log\nparams {").count(), 2, "{events}");
}

#[test]
fn one_of_many_servers_is_picked_by_name_or_id() {
    let path = testdata("livemcpbench/tools.json");
    let servers = parsed(&path);
    let servers = servers.as_array().unwrap();
    let mut count = 0;
    for server in servers {
        let (id, recorded) = server["tools"].as_object().unwrap().iter().next().unwrap();
        let name = server["name"].as_str().unwrap();
        // Starting one is cheap, 140 are not.
        let picks = if count == 0 { vec![name, id] } else { vec![name] };
        count += recorded["tools"].as_array().unwrap().len();
        for pick in picks {
            let mut peer = Peer::legacy(&["--tools", path.to_str().unwrap(), "--pick", pick]);
            assert_eq!(json!(peer.listed()), recorded["tools"], "{pick}");
        }
    }
    assert_eq!((servers.len(), count), (70, 527));
}

#[test]
fn files_that_cannot_be_served_are_refused() {
    let (tools, servers) = (testdata("tools/git.json"), testdata("livemcpbench/tools.json"));
    let (tools, servers) = (tools.to_str().unwrap(), servers.to_str().unwrap());
    let wrong: [&[&str]; 5] = [
        &["--tools", "no/such/file.json"],
        &["--tools", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")],
        &["--tools", servers],
        &["--tools", servers, "--pick", "nobody"],
        &["--tools", tools, "--pick", "git"],
    ];
    for args in wrong {
        let output = command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stderr.starts_with(b"fake-mcp: "), "{args:?}");
    }
}
