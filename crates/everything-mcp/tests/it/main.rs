//! The SDK's client at the SDK's server, without Kitbag: what passes here and fails through Kitbag is Kitbag's fault.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const SERVER: &str = env!("CARGO_BIN_EXE_everything-mcp");
const CLIENT: &str = env!("CARGO_BIN_EXE_rmcp-client");

/// A server at an address, which ends with its standard input.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    #[track_caller]
    fn start(era: &str) -> Self {
        let mut command = Command::new(SERVER);
        command.args(["--listen", "127.0.0.1:0", "--era", era]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let ended = self.child.wait();
        assert!(std::thread::panicking() || ended.unwrap().success());
    }
}

/// Everything that a client is made to do passes.
#[track_caller]
fn check(era: &str, target: &[&str]) {
    let output = Command::new(CLIENT).arg(era).args(target).stderr(Stdio::inherit()).output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let told = told.as_object().unwrap();
    assert_eq!(told.len(), 8, "{told:?}");
    assert!(told.iter().all(|(key, value)| key == "client" || value == "passed"), "{told:#?}");
}

#[test]
fn both_eras_by_address() {
    for era in ["older", "newer"] {
        let served = Served::start(era);
        check(era, &["http", &served.url]);
    }
}

#[test]
fn both_eras_over_pipes() {
    for era in ["older", "newer"] {
        check(era, &["stdio", SERVER, "--era", era]);
    }
}

#[test]
fn an_unknown_word_is_told() {
    for words in [&["--port"][..], &["--era", "stone"], &["--era"], &["--listen", "here"]] {
        let output = Command::new(SERVER).args(words).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success(), "{words:?}: {output:?}");
    }
}
