//! A home, a project folder and a `KITBAG_HOME` for one test, and the binary run inside them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_kitbag");

pub(crate) struct House {
    root: tempfile::TempDir,
}

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

impl House {
    pub(crate) fn new() -> Self {
        let house = Self { root: tempfile::tempdir().unwrap() };
        for folder in ["home", "project", "kit"] {
            std::fs::create_dir(house.path(folder)).unwrap();
        }
        house
    }

    /// A path under `home/`, `project/`, `kit/config/`, `kit/state/` and so on.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn at(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        file
    }

    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Every file below a folder, with what it holds; locks apart.
    pub(crate) fn files(&self, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut folders = vec![self.path(name)];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.file_type().unwrap();
                match kind.is_dir() {
                    true => folders.push(entry.path()),
                    false if entry.file_name() == "write.lock" => {}
                    false if kind.is_symlink() => {
                        let target = std::fs::read_link(entry.path()).unwrap();
                        files.push((entry.path(), target.into_os_string().into_encoded_bytes()));
                    }
                    false => files.push((entry.path(), std::fs::read(entry.path()).unwrap())),
                }
            }
        }
        files.sort();
        files
    }

    /// The folder of a golden file, or the file.
    pub(crate) fn golden(name: &str) -> String {
        format!("{}/../../testdata/config/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    pub(crate) fn ask<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Run {
        let mut command = Command::new(BINARY);
        command.args(args).env_clear().envs(self.vars()).current_dir(self.path("project"));
        Run { command, input: None }
    }

    pub(crate) fn vars(&self) -> Vec<(String, String)> {
        let path = std::env::var("PATH").unwrap();
        [
            ("PATH", path),
            ("HOME", self.at("home")),
            ("KITBAG_HOME", self.at("kit")),
            ("COLUMNS", "100".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Ran {
        self.ask(args).run()
    }

    /// The rows of `servers list --json`.
    #[track_caller]
    pub(crate) fn rows(&self, args: &[&str]) -> Vec<Value> {
        let mut all = vec!["servers", "list", "--json"];
        all.extend(args);
        self.run(&all).exits(0).json().as_array().unwrap().clone()
    }

    /// Names and states of `servers list`, as `name=state` words.
    #[track_caller]
    pub(crate) fn states(&self, args: &[&str]) -> String {
        states(&self.rows(args))
    }

    /// A text with this house's own paths taken out.
    pub(crate) fn plain(&self, text: &str) -> String {
        text.replace(&self.at("project"), "[project]")
            .replace(&self.at("home"), "[home]")
            .replace(&self.at("kit"), "[kit]")
    }
}

pub(crate) fn states(rows: &[Value]) -> String {
    let word = |row: &Value| format!("{}={}", row["name"].as_str().unwrap(), row["state"].as_str().unwrap());
    rows.iter().map(word).collect::<Vec<_>>().join(" ")
}
