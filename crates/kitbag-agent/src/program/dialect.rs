//! What is known of a program: how it is given a server and a prompt, and how it tells what it does.

use std::path::Path;

use kitbag::{Env, Limits};
use serde_json::Value;

use super::folder::PrivateFolder;
use super::telling::Telling;
use super::{ProgramEndpoint, ProgramError};

/// One program.
pub(super) struct Dialect {
    /// The word it is chosen by, and its usual name on `PATH`.
    pub(super) word: &'static str,
    /// How it is installed.
    pub(super) install: &'static str,
    /// What it puts before the name of a tool of ours.
    pub(super) prefix: &'static str,
    /// What its model must know about these names; empty, or a line.
    pub(super) about_names: &'static str,
    /// The most characters of a name beside that.
    pub(super) longest: usize,
    /// How the variables begin that it needs: keys, addresses, folders of its own.
    pub(super) variables: &'static [&'static str],
    /// How it is started for one run.
    pub(super) launch: fn(&Order<'_>) -> Result<Launch, ProgramError>,
    /// How its output is read.
    pub(super) output: Output,
}

/// What a program writes.
pub(super) enum Output {
    /// A JSON value a line.
    Events(fn(&Value, &mut Telling)),
    /// Its answer.
    Text,
}

/// What one run needs.
pub(super) struct Order<'a> {
    /// The arguments it was given by whoever configured it.
    pub(super) words: &'a [String],
    pub(super) endpoint: &'a ProgramEndpoint,
    pub(super) folder: &'a PrivateFolder,
    pub(super) model: Option<&'a str>,
    pub(super) steps: Option<usize>,
    pub(super) env: &'a Env,
    pub(super) limits: &'a Limits,
}

/// How one run is started.
#[derive(Debug, Default)]
pub(super) struct Launch {
    pub(super) args: Vec<String>,
    /// Variables of this run; they may be secrets.
    pub(super) env: Vec<(String, String)>,
}

impl Launch {
    pub(super) fn new(words: &[&str]) -> Self {
        Self { args: words.iter().map(|word| (*word).to_owned()).collect(), env: Vec::new() }
    }

    /// The arguments of whoever configured it.
    pub(super) fn words(mut self, order: &Order<'_>) -> Self {
        self.args.extend_from_slice(order.words);
        self
    }

    /// A flag.
    pub(super) fn flag(mut self, name: &str) -> Self {
        self.args.push(name.to_owned());
        self
    }

    /// A flag with a value.
    pub(super) fn value(self, name: &str, value: impl ToString) -> Self {
        let value = value.to_string();
        self.flag(name).flag(&value)
    }

    /// A flag with a value, where there is one.
    pub(super) fn given(self, name: &str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.value(name, value),
            None => self,
        }
    }

    /// A flag with a value, unless whoever configured it wrote one of these already.
    pub(super) fn unless(self, written: &[&str], order: &Order<'_>, name: &str, value: &str) -> Self {
        let is_it = |word: &String| written.iter().any(|flag| word.split('=').next() == Some(flag));
        if order.words.iter().any(is_it) { self } else { self.value(name, value) }
    }

    /// A variable.
    pub(super) fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }
}

impl Order<'_> {
    /// How long a program may wait for one call, in seconds: we end it sooner.
    pub(super) fn call_seconds(&self) -> u64 {
        self.limits.wait_total.as_secs() + self.limits.wait_end.as_secs()
    }

    /// Writes a configuration with our server alone, in the usual shape, and says where.
    pub(super) fn servers(&self, name: &str, entry: Value) -> Result<String, ProgramError> {
        let mut servers = serde_json::Map::new();
        servers.insert(name.to_owned(), entry);
        let text = serde_json::json!({ "mcpServers": servers }).to_string();
        self.folder.write(Path::new("mcp.json"), &text)
    }

    /// What a request must show.
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.endpoint.token.expose())
    }
}
