//! The binary, run inside the house of a test. Whatever a run prints on stderr is checked for the codes of its errors.

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

    #[track_caller]
    pub(crate) fn run(mut self) -> Ran {
        let stdin = if self.input.is_some() { Stdio::piped() } else { Stdio::null() };
        let mut child =
            self.command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if let (Some(mut stdin), Some(text)) = (child.stdin.take(), self.input) {
            let _ = stdin.write_all(&text); // Who does not ask does not read.
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let ran = Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
        assert_eq!(uncoded(&ran.err), Vec::<String>::new(), "errors without a code that has a page: {ran:?}");
        ran
    }
}

/// What tests of the binary do in a house.
pub(crate) trait Runs {
    /// The binary with these arguments, in the project folder and with nothing of the machine but its `PATH`.
    fn ask<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Run;

    #[track_caller]
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

/// The lines of stderr that tell of an error or a warning without a code, or with one that has no page in `docs/errors`.
pub(crate) fn uncoded(err: &str) -> Vec<String> {
    err.lines().filter(|line| code_of(line).is_some_and(|code| !has_page(&code))).map(str::to_owned).collect()
}

/// The code of a line that tells of an error or a warning, empty where it has none; nothing of any other line.
fn code_of(line: &str) -> Option<String> {
    if let Ok(Value::Object(fields)) = serde_json::from_str(line) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let is_fault = matches!(text("severity"), Some("error" | "warning"));
        let is_failure = fields.contains_key("exit") && fields.contains_key("error");
        let code = if is_failure { text("code") } else { text("kind") };
        return (is_fault || is_failure).then(|| code.unwrap_or_default().to_owned());
    }
    let rest = ["error", "warning"].iter().find_map(|word| line.strip_prefix(word))?;
    match rest.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        Some((code, _)) => Some(code.to_owned()),
        None => rest.starts_with([':', '[']).then(String::new),
    }
}

fn has_page(code: &str) -> bool {
    let page = format!("{}/../../docs/errors/{code}.md", env!("CARGO_MANIFEST_DIR"));
    kitbag_core::codes::code_page(code).is_some() && Path::new(&page).is_file()
}

#[test]
fn f55_an_error_without_a_code_fails_the_test_that_sees_it() {
    for line in [
        "error: no such server",
        "warning: odd",
        "error[]: nothing",
        "error[no_such_code]: x",
        "error[usage] x",
        "error[../errors/usage]: x",
        r#"{"error": "x", "exit": 2}"#,
        r#"{"error": "x", "exit": 2, "code": "no_such_code"}"#,
        r#"{"severity": "warning", "message": "x"}"#,
    ] {
        assert_eq!(uncoded(&format!("time: 3 tools\n{line}\n")), [line]);
    }
    for line in [
        "error[usage]: x",
        "warning[unknown_key]: x",
        "errors are listed by kitbag errors",
        "note: x",
        r#"{"error": "x", "exit": 2, "code": "usage"}"#,
        r#"{"severity": "error", "kind": "syntax"}"#,
        r#"{"severity": "note", "kind": "no_such_code"}"#,
    ] {
        assert_eq!(uncoded(line), Vec::<String>::new(), "{line}");
    }
}
