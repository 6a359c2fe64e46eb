//! Agents that are other programs: coding CLIs that bring a model and tools of their own. Kitbag gives each run of one the
//! tools of its agent, by a configuration for that run alone, and reads what the program tells of it.
//!
//! What is known of a program stands in one file each ([`Dialect`]); any other program gets the same by variables.

use std::sync::Arc;

use kitbag::guard::Launcher;
use kitbag::kitbag_core::model::{EnvPass, Mode};
use kitbag::kitbag_core::names::{LONGEST_SHOWN, NameForm};
use kitbag::kitbag_core::present::markdown::user_form;
use kitbag::{AgentRules, Env, Kitbag, Provider, Secret, View};
use tokio::sync::mpsc;

use crate::agent::{AHEAD, AgentError, Run};

mod claude;
mod codex;
mod command;
mod dialect;
mod error;
mod folder;
mod gemini;
mod process;
mod qwen;
mod stream_json;
mod telling;

pub use error::{DeniedTool, ProgramError};

use dialect::Dialect;

/// Every program that is known, and how it is spoken to.
static ALL: &[&Dialect] = &[&claude::CLAUDE, &codex::CODEX, &gemini::GEMINI, &qwen::QWEN];

/// Which program an agent is.
#[derive(Clone, Copy)]
pub struct ProgramKind(&'static Dialect);

impl ProgramKind {
    /// A known program by its word, such as `claude`.
    pub fn by_word(word: &str) -> Option<Self> {
        ALL.iter().find(|dialect| dialect.word == word).map(|dialect| Self(dialect))
    }

    /// What an agent of this name and command is: known by the name, else by the program's own, else any program.
    pub fn of(name: &str, command: &[String]) -> Self {
        let file = command.first().and_then(|program| std::path::Path::new(program).file_stem()?.to_str());
        Self::by_word(name).or(file.and_then(Self::by_word)).unwrap_or(Self(&command::COMMAND))
    }

    /// The words of all known programs.
    pub fn words() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|dialect| dialect.word)
    }

    /// The most characters a tool's name may have for it, beside what it puts before that.
    pub fn longest(self) -> usize {
        self.0.longest
    }
}

impl std::fmt::Debug for ProgramKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.word)
    }
}

/// Where the tools of one run are, and what lets that run in.
#[derive(Clone, Debug)]
pub struct ProgramEndpoint {
    /// The address of an MCP endpoint on this machine.
    pub url: String,
    /// What must be shown there.
    pub token: Secret,
}

/// How a program is run.
#[derive(Clone, Debug)]
pub struct ProgramOptions {
    /// The program and its arguments; its usual name if there are none.
    pub command: Vec<String>,
    /// The model it shall use, in its own words.
    pub model: Option<String>,
    /// The most replies of its model.
    pub max_steps: Option<usize>,
    /// What stands before every message.
    pub instruction: Option<String>,
    /// Further variables that it gets.
    pub env_pass: Option<EnvPass>,
    /// Our own environment.
    pub env: Env,
    /// How it is started.
    pub launcher: Launcher,
}

/// An agent that is another program.
#[derive(Debug)]
pub struct ProgramAgent {
    kind: ProgramKind,
    kit: Kitbag,
    rules: AgentRules,
    endpoint: ProgramEndpoint,
    options: ProgramOptions,
}

impl ProgramAgent {
    /// An agent with the tools that the kit has for it. The endpoint must show them by the same rules, under short names no
    /// longer than [`ProgramKind::longest`].
    pub fn new(
        kind: ProgramKind,
        kit: Kitbag,
        rules: AgentRules,
        endpoint: ProgramEndpoint,
        options: ProgramOptions,
    ) -> Self {
        let longest = (kind.longest() < LONGEST_SHOWN).then_some(kind.longest());
        let rules = AgentRules { names: Some(NameForm::Short), longest, ..rules };
        Self { kind, kit, rules, endpoint, options }
    }

    /// The tools it has now.
    pub fn view(&self) -> Result<Arc<View>, AgentError> {
        Ok(self.kit.view(self.kit.user(), &self.rules)?)
    }

    /// What it is called where it is known by a word, else its program.
    pub fn name(&self) -> &str {
        self.options.command.first().map_or(self.kind.0.word, String::as_str)
    }

    /// The model it was told to use, if it was.
    pub fn model(&self) -> Option<&str> {
        self.options.model.as_deref()
    }

    /// Gives it something to do. Nothing happens until the run is read; dropping that ends the program.
    pub fn send(&self, text: &str) -> Run<'_> {
        let (sender, events) = mpsc::channel(AHEAD);
        let text = text.to_owned();
        Run::over(events, Box::pin(async move { process::work(self, &self.input(&text)?, &sender).await }))
    }

    /// What the program reads: what is asked for, then the description of the tools under the names they have there.
    fn input(&self, text: &str) -> Result<String, AgentError> {
        let mut input = match self.options.instruction.as_deref() {
            Some(instruction) => format!("{instruction}\n\n{text}"),
            None => text.to_owned(),
        };
        // Where there are no tools nothing is said of them.
        let mut options = self.kit.present_options(&self.rules, Provider::Generic);
        options.mode = Mode::Markdown;
        options.servers.clear();
        options.markdown.prefix = self.kind.0.prefix.to_owned();
        let shown = self.kit.present(&self.view()?, &options);
        let described = user_form(&shown.prompt);
        if !described.is_empty() {
            input.push_str(&described);
            input.push_str(self.kind.0.about_names);
        }
        Ok(input)
    }
}

#[cfg(test)]
mod tests;
