//! Real servers that listen at an address: both transports, both generations of both SDKs.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use super::place::Place;
use testkit::tool;

/// Adds two numbers, with either generation of Python's SDK.
const ADD: &str = include_str!("add.py");

/// A server, ended with the test.
struct Listening {
    child: Child,
    url: String,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Listening {
    /// Starts a command that listens on the port it is told. None of these can choose a free one by itself, so it
    /// may have to be asked twice.
    fn start(path: &str, command: impl Fn(u16) -> Command) -> Self {
        for _ in 0..3 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let mut command = command(port);
            let child =
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let mut started = Self { child, url: format!("http://127.0.0.1:{port}{path}") };
            let listens = testkit::wait_until(Duration::from_secs(30), || {
                TcpStream::connect(("127.0.0.1", port)).is_ok() || started.child.try_wait().unwrap().is_some()
            });
            if listens && started.child.try_wait().unwrap().is_none() {
                return started;
            }
        }
        panic!("{path} does not listen");
    }

    fn everything(kind: &str, path: &str) -> Self {
        Self::start(path, |port| {
            let script = tool("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
            let mut command = Command::new("node");
            command.arg(script).arg(kind).env("PORT", port.to_string());
            command
        })
    }

    fn python(environment: &str, kind: &str, path: &str) -> Self {
        Self::start(path, |port| {
            let mut command = Command::new(tool(&format!("{environment}/bin/python")));
            command.args(["-c", ADD, kind, &port.to_string()]);
            command
        })
    }
}

/// Lists, calls and tells how; by the kind of the entry.
#[track_caller]
fn check(server: &Listening, kind: &str, transport: &str, version: &str, tools: usize, call: [&str; 3]) {
    let place = Place::of(&json!({"x": {"type": kind, "url": server.url}}));
    let row = &place.json(&["status"], 0)[0];
    assert_eq!(row["state"], "ready", "{row}");
    assert_eq!((&row["transport"], &row["era"]), (&json!(transport), &json!(version)), "{row}");
    assert!(tools <= row["tools"].as_u64().unwrap() as usize, "{row}");
    let [tool, arguments, expected] = call;
    let answer = place.json(&["call", tool, "--args", arguments], 0);
    assert_eq!(answer["content"][0]["text"], expected, "{answer}");
}

const SUM: [&str; 3] = ["x/get-sum", r#"{"a": 2, "b": 40}"#, "The sum of 2 and 40 is 42."];
const ADDED: [&str; 3] = ["x/add", r#"{"a": 2, "b": 40}"#, "42"];

#[test]
fn s4_4_everything_over_streamable_http() {
    let server = Listening::everything("streamableHttp", "/mcp");
    check(&server, "http", "http", "2025-11-25", 13, SUM);
}

#[test]
fn s4_4_everything_over_sse_however_it_is_called() {
    let server = Listening::everything("sse", "/sse");
    for kind in ["sse", "auto", "http"] {
        check(&server, kind, "sse", "2025-11-25", 13, SUM);
    }
}

#[test]
fn s4_4_python_of_both_generations_at_an_address() {
    let old = Listening::python("py-old", "streamable-http", "/mcp");
    check(&old, "http", "http", "2025-11-25", 1, ADDED);
    let sse = Listening::python("py-old", "sse", "/sse");
    check(&sse, "auto", "sse", "2025-11-25", 1, ADDED);
    let new = Listening::python("py-new", "streamable-http", "/mcp");
    check(&new, "http", "http", "2026-07-28", 1, ADDED);
}
