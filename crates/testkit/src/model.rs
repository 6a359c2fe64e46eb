//! A fake model as a test holds it: a real process on a port of its own, ended with the handle.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::bin;

/// `fake-model`, running.
#[derive(Debug)]
pub struct FakeModel {
    child: Child,
    url: String,
    requests: PathBuf,
    _folder: tempfile::TempDir,
}

impl FakeModel {
    /// Starts it with a script; `fake-model --help` says what can stand in one.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(script: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let requests = folder.path().join("requests.jsonl");
        let mut command = Command::new(bin("fake-model"));
        command.args(["--script", "-", "--requests"]).arg(&requests);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // It stays open: its end is the end of the process.
        let stdin = child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{script}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://"), "fake-model did not start: {url:?} ({script})");
        Self { child, url: url.trim().to_owned(), requests, _folder: folder }
    }

    /// Where it listens, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Every request so far: `path`, `headers` and `body` of each.
    pub fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.requests).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The bodies of all requests so far.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|mut request| request["body"].take()).collect()
    }

    /// Ends the process at once.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        self.stop();
    }
}
