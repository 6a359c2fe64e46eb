//! What a server says when nothing of Kitbag stands between: the list to compare ours with.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::installed::Server;
use super::place::Place;

/// The tools of a server as it lists them itself; each of the real ones lists all on one page and, asked so,
/// speaks the protocol with a handshake.
pub(crate) fn tools(place: &Place, server: Server) -> Vec<Value> {
    let entry = server.entry(&place.data());
    let words = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut command = place.command(entry["command"].as_str().unwrap());
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let info = json!({"name": "bare", "version": "0"});
    // What Kitbag offers: servers show other tools to those who answer nothing.
    let offers = json!({"elicitation": {"form": {}, "url": {}}});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": offers, "clientInfo": info});
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))
        .unwrap();
    answer(&mut lines, 1);
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).unwrap();
    let listed = answer(&mut lines, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(listed["nextCursor"].is_null(), "{server:?} has more than one page");
    listed["tools"].as_array().unwrap().clone()
}

fn answer(lines: &mut impl Iterator<Item = std::io::Result<String>>, id: u64) -> Value {
    let mut messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let mut message = messages.find(|message| message["id"] == id).unwrap();
    message["result"].take()
}
