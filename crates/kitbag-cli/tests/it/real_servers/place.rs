//! A machine of its own for a test: a home, a configuration, and a `kitbag` that knows nothing else.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::installed::Server;

/// How long processes may take to be gone.
const GONE: Duration = Duration::from_secs(5);

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn with(servers: &[Server]) -> Self {
        let place = Self::empty();
        let entries: Map<_, _> =
            servers.iter().map(|server| (server.name().into(), server.entry(&place.data()))).collect();
        place.write(&entries.into());
        place
    }

    /// A place whose configuration has these entries.
    pub(crate) fn of(entries: &Value) -> Self {
        let place = Self::empty();
        place.write(entries);
        place
    }

    fn empty() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        for folder in [place.home(), place.data()] {
            fs::create_dir(folder).unwrap();
        }
        place
    }

    fn write(&self, entries: &Value) {
        fs::write(self.config(), json!({"mcpServers": entries}).to_string()).unwrap();
    }

    /// What the servers may touch.
    pub(crate) fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// What Kitbag remembers and may forget.
    pub(crate) fn cache(&self) -> PathBuf {
        self.path("kitbag/cache")
    }

    /// A program that sees this place only.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.home()).current_dir(self.folder.path());
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command
    }

    /// `kitbag <args>` with the time a slow machine needs.
    pub(crate) fn kitbag(&self, args: &[&str]) -> Command {
        let mut kitbag = self.command(env!("CARGO_BIN_EXE_kitbag"));
        kitbag.env("KITBAG_HOME", self.path("kitbag")).stdin(Stdio::null());
        kitbag.arg("--config").arg(self.config()).args(["--wait", "60s"]).args(args);
        kitbag
    }

    /// Runs `kitbag <args>` to its end, after which nothing of it may be left.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        let output = self.kitbag(args).output().unwrap();
        self.assert_empty();
        output
    }

    /// What `kitbag <args> --json` prints; it must exit with `code`.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str], code: i32) -> Value {
        let output = self.run(&[args, &["--json"]].concat());
        let shown = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The text with which a tool answers.
    #[track_caller]
    pub(crate) fn call(&self, server: Server, tool: &str, arguments: &Value) -> String {
        self.answer(server, tool, arguments, 0)
    }

    /// The text with which a tool says that it failed.
    #[track_caller]
    pub(crate) fn refused(&self, server: Server, tool: &str, arguments: &Value) -> String {
        self.answer(server, tool, arguments, 1)
    }

    #[track_caller]
    fn answer(&self, server: Server, tool: &str, arguments: &Value, code: i32) -> String {
        let name = format!("{}/{tool}", server.name());
        let answer = self.json(&["call", &name, "--args", &arguments.to_string()], code);
        assert_eq!(answer["ok"], code == 0, "{answer}");
        assert_eq!(answer["is_error"], code != 0, "{answer}");
        answer["content"][0]["text"].as_str().unwrap().into()
    }

    /// Every line of a server's stderr log.
    #[track_caller]
    pub(crate) fn logs(&self, server: Server) -> Vec<Value> {
        let logs = self.json(&["logs", server.name(), "--lines", "100000"], 0);
        logs["lines"].as_array().unwrap().clone()
    }

    /// The processes of this place: whoever started them, they have its home.
    pub(crate) fn processes(&self) -> Vec<u32> {
        testkit::proc::with_env_marker("HOME", self.home().to_str().unwrap())
    }

    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        let gone = testkit::wait_until(GONE, || self.processes().is_empty());
        assert!(gone, "left behind: {:?}", self.processes());
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    fn config(&self) -> PathBuf {
        self.path("mcp.json")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
