//! The programs connect to what Kitbag serves, by the very commands and entries that Kitbag prints for them.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use serde_json::Value;
use testkit::Farm;

use super::host::Host;
use crate::house::{BINARY, House, Runs as _};
use crate::serve::Served;

/// What Kitbag prints for a program: the row of `servers export --to all --endpoint`.
#[track_caller]
fn printed(house: &House, host: Host, endpoint: &str) -> Value {
    let rows =
        house.run(&["servers", "export", "--to", "all", "--endpoint", endpoint, "--json"]).exits(0).json();
    let id = if matches!(host, Host::ClaudeCode) { "claude-code" } else { host.word() };
    let row = rows.as_array().unwrap().iter().find(|row| row["to"] == id);
    row.unwrap_or_else(|| panic!("nothing for {id}: {rows}")).clone()
}

/// Runs the command that is printed.
#[track_caller]
fn add(house: &House, host: Host, endpoint: &str) {
    let row = printed(house, host, endpoint);
    let command = row["command"].as_str().unwrap();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    host.run(house, &words).exits(0);
}

/// Whether the program's list says that it is connected.
#[track_caller]
fn is_connected(house: &House, host: Host) {
    let list = host.run(house, &["mcp", "list"]).exits(0).all();
    let line = list.lines().find(|line| line.contains("kitbag: ")).unwrap_or_else(|| panic!("{list}"));
    assert!(line.trim_end().ends_with(" Connected"), "{host:?}: {list}");
}

const CONNECTING: [Host; 3] = [Host::ClaudeCode, Host::GeminiCli, Host::QwenCode];

#[test]
fn programs_reach_kitbag_serve_by_the_command_that_is_printed() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    for host in CONNECTING {
        let house = House::new();
        add(&house, host, &served.url);
        is_connected(&house, host);
    }
    let house = House::new();
    add(&house, Host::Codex, &served.url);
    let rows = Host::Codex.run(&house, &["mcp", "list", "--json"]).exits(0).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "kitbag").unwrap().clone();
    assert_eq!(row["transport"]["url"], served.url.as_str(), "{row}");
    served.stop();
}

#[test]
fn programs_reach_kitbag_serve_by_what_is_written_into_their_files() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    for host in CONNECTING {
        let house = House::new();
        let file = house.at(host.file());
        std::fs::create_dir_all(house.path(host.file()).parent().unwrap()).unwrap();
        house
            .run(&["servers", "export", "--to", host.word(), "--endpoint", &served.url, "--write", &file])
            .exits(0);
        is_connected(&house, host);
    }
    served.stop();
}

#[test]
fn programs_start_kitbag_stdio_from_their_own_configuration() {
    for host in CONNECTING {
        let farm = Farm::of("x", &[]);
        add(&farm.house, host, "stdio");
        is_connected(&farm.house, host);
        assert_ne!(farm.count("x", "start"), 0, "{host:?}: its servers were started");
        farm.is_empty();
    }
    let house = House::new();
    add(&house, Host::Codex, "stdio");
    let rows = Host::Codex.run(&house, &["mcp", "list", "--json"]).exits(0).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "kitbag").unwrap().clone();
    assert_eq!(
        (row["transport"]["command"].as_str(), row["transport"]["args"][0].as_str()),
        (Some(BINARY), Some("stdio"))
    );
}

/// What Claude Code calls itself when it connects is what it is known by. Gemini CLI and Qwen Code have another name when
/// they only list.
#[test]
fn claude_code_calls_itself_as_it_is_known() {
    let house = House::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    add(&house, Host::ClaudeCode, &format!("http://{}/mcp", listener.local_addr().unwrap()));
    let (sender, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
            let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
            while let Ok(read @ 1..) = stream.read(&mut part) {
                bytes.extend_from_slice(&part[..read]);
            }
            let _ = stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if sender.send(String::from_utf8_lossy(&bytes).into_owned()).is_err() {
                return;
            }
        }
    });
    Host::ClaudeCode.run(&house, &["mcp", "list"]);
    let said: String = heard.try_iter().collect();
    assert!(said.contains("\"name\":\"claude-code\""), "{said}");
}
