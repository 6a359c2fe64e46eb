//! A client by hand over pipes, as simple as can be, so that nothing stands between a test and the bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// `_meta` of the modern era; legacy requests have none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    Legacy,
    Modern,
}

pub(crate) struct Peer {
    pub(crate) child: Child,
    pub(crate) speech: Speech,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    next: u64,
    /// Lines that were read while another was waited for.
    pub(crate) others: Vec<Vec<u8>>,
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(testkit::bin("fake-mcp"));
    command.args(args);
    command
}

impl Peer {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(command(args))
    }

    /// Started and past the legacy handshake.
    pub(crate) fn legacy(args: &[&str]) -> Self {
        let mut peer = Self::start(args);
        peer.initialize("2025-11-25");
        peer
    }

    /// Started and discovered.
    pub(crate) fn modern(args: &[&str]) -> Self {
        let mut peer = Self::start(args);
        peer.speech = Speech::Modern;
        peer.request("server/discover", json!({}));
        peer
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let (send, lines) = mpsc::sync_channel(1024);
        thread::spawn(move || {
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|count| 0 < count) {
                if send.send(std::mem::take(&mut line)).is_err() {
                    break;
                }
            }
        });
        let stderr = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            text
        });
        Self {
            stdin: child.stdin.take(),
            child,
            speech: Speech::Legacy,
            lines,
            stderr: Some(stderr),
            next: 0,
            others: Vec::new(),
        }
    }

    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "by hand", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    /// A whole message; a broken pipe is the test's business.
    pub(crate) fn send(&mut self, message: &Value) -> bool {
        self.send_text(&message.to_string())
    }

    /// A line as it is.
    pub(crate) fn send_text(&mut self, text: &str) -> bool {
        self.stdin.as_mut().unwrap().write_all(format!("{text}\n").as_bytes()).is_ok()
    }

    /// Sends a request and returns its id.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> u64 {
        self.next += 1;
        if self.speech == Speech::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            let offered = &mut meta["io.modelcontextprotocol/clientCapabilities"];
            if offered.is_null() {
                *offered = json!({});
            }
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    pub(crate) fn ask_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let token = self.next + 1;
        let meta = json!({ "progressToken": token });
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(id).expect("an answer")
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.ask_call(tool, arguments);
        self.answer(id).expect("an answer")
    }

    /// The definitions of the first page.
    pub(crate) fn listed(&mut self) -> Vec<Value> {
        let mut answer = self.request("tools/list", json!({}));
        serde_json::from_value(answer["result"]["tools"].take()).expect("a list")
    }

    /// The text of a call's result.
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        text(&self.call(tool, arguments))
    }

    /// The next line; nothing at the end of the stream.
    pub(crate) fn line(&self) -> Option<Vec<u8>> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("nothing was written for {PATIENCE:?}"),
        }
    }

    pub(crate) fn is_silent_for(&self, time: Duration) -> bool {
        matches!(self.lines.recv_timeout(time), Err(mpsc::RecvTimeoutError::Timeout))
    }

    /// The answer to `id`; what else comes goes to `others`. Nothing if the stream ends before.
    pub(crate) fn answer(&mut self, id: u64) -> Option<Value> {
        loop {
            let line = self.line()?;
            match serde_json::from_slice::<Value>(&line) {
                Ok(message) if message["id"] == id && message.get("method").is_none() => {
                    return Some(message);
                }
                _ => self.others.push(line),
            }
        }
    }

    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Closes stdin and waits for the end.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        self.close_stdin();
        self.ended()
    }

    /// Waits for the end; nobody needs to read the rest of stdout for that.
    pub(crate) fn ended(mut self) -> (ExitStatus, String) {
        let mut status = None;
        testkit::wait_until(PATIENCE, || {
            while self.lines.try_recv().is_ok() {}
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let status = status.unwrap_or_else(|| panic!("it did not end"));
        let stderr = self.stderr.take().unwrap().join().unwrap();
        (status, String::from_utf8_lossy(&stderr).into_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
pub(crate) fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
}
