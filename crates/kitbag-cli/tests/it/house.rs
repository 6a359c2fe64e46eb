//! The binary, run inside the house of a test.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
pub(crate) use testkit::House;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_kitbag");

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// Fails with a code and a word on stderr, and prints nothing on stdout.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, word: &str) -> Self {
        let ran = self.exits(code);
        assert_eq!(ran.out, "", "stdout of a failure: {ran:?}");
        assert!(ran.err.contains(word), "no {word:?} in {}", ran.err);
        ran
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

/// One run in preparation.
pub(crate) struct Run {
    command: Command,
    input: Option<Vec<u8>>,
}

impl Run {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub(crate) fn cwd(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    pub(crate) fn input(mut self, text: impl AsRef<[u8]>) -> Self {
        self.input = Some(text.as_ref().to_vec());
        self
    }

    pub(crate) fn command(self) -> Command {
        self.command
    }

    pub(crate) fn run(mut self) -> Ran {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut child =
            self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(mut stdin), Some(text)) = (child.stdin.take(), self.input) {
            let _ = stdin.write_all(&text); // Who does not ask does not read.
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// What tests of the binary do in a house.
pub(crate) trait Runs {
    /// The binary with these arguments, in the project folder and with nothing of the machine but its `PATH`.
    fn ask<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Run;

    fn run<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Ran {
        self.ask(args).run()
    }

    /// The rows of `servers list --json`.
    #[track_caller]
    fn rows(&self, args: &[&str]) -> Vec<Value> {
        let mut all = vec!["servers", "list", "--json"];
        all.extend(args);
        self.run(&all).exits(0).json().as_array().unwrap().clone()
    }

    /// Names and states of `servers list`, as `name=state` words.
    #[track_caller]
    fn states(&self, args: &[&str]) -> String {
        states(&self.rows(args))
    }
}

impl Runs for House {
    fn ask<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Run {
        let mut command = Command::new(BINARY);
        command.args(args).env_clear().envs(self.vars()).current_dir(self.path("project"));
        Run { command, input: None }
    }
}

pub(crate) fn states(rows: &[Value]) -> String {
    let word = |row: &Value| format!("{}={}", row["name"].as_str().unwrap(), row["state"].as_str().unwrap());
    rows.iter().map(word).collect::<Vec<_>>().join(" ")
}
