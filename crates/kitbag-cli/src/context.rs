//! What every command needs: the flags, a way to print, and the setup they ask for.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice};
use kitbag::{DiscoverOptions, Env, Fault, ServerName, Setup, Severity, UserId};
use kitbag_core::text::{nearest, one_line, visible};
use serde_json::Value;

use crate::args::{Color, Global};
use crate::arguments::quoted;
use crate::exit::{Exit, Failure};
use crate::link_args::LinkArgs;
use crate::terminal::{BAD, DIM, on_terminal, styled};
use crate::{json, report};

/// The commands that take the flags of [`LinkArgs`].
const CONNECTING: [&str; 9] = ["call", "chat", "run", "serve", "show", "status", "stdio", "tools", "why"];

pub(crate) struct Context {
    pub(crate) global: Global,
    /// Flags of a command that connects.
    pub(crate) link: LinkArgs,
    /// The servers of `--server`, which are the only ones then.
    pub(crate) chosen: Vec<ServerName>,
    /// Whether one of them is a server that nobody configured.
    pub(crate) ad_hoc: bool,
    out: AutoStream<io::Stdout>,
    err: AutoStream<io::Stderr>,
    broken: Option<io::Error>,
}

impl Context {
    pub(crate) fn new(global: Global) -> Self {
        let choice = match global.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self {
            out: AutoStream::new(io::stdout(), choice),
            err: AutoStream::new(io::stderr(), choice),
            global,
            link: LinkArgs::default(),
            chosen: Vec::new(),
            ad_hoc: false,
            broken: None,
        }
    }

    /// Everything the flags ask for, looked at.
    pub(crate) fn setup(&self) -> Result<Setup, Failure> {
        let request = DiscoverOptions {
            env: process_env()?,
            configs: self.global.config.clone(),
            hosts: self.global.hosts.clone(),
            user: self.user()?,
            catalog: self.global.catalog.clone(),
            ..DiscoverOptions::default()
        };
        let mut setup = Setup::discover(&request)?;
        crate::store::read_answers(&mut setup);
        #[cfg(unix)]
        crate::signals::within(setup.limits.wait_signal);
        self.check_agent(&setup)?;
        Ok(setup)
    }

    /// The user the flags name, if they name one.
    pub(crate) fn user(&self) -> Result<Option<UserId>, Failure> {
        let parsed = self.global.user.as_deref().map(UserId::parse).transpose();
        parsed.map_err(|invalid| Failure::new(Exit::Usage, invalid.to_string()))
    }

    fn check_agent(&self, setup: &Setup) -> Result<(), Failure> {
        let Some(agent) = &self.global.agent else { return Ok(()) };
        let agents = setup.settings.iter().flat_map(|(_, settings)| &settings.agents);
        let known: Vec<&String> = agents.map(|(name, _)| name).collect();
        if known.contains(&agent) {
            return Ok(());
        }
        let near = nearest(agent, known.iter().map(|name| name.as_str()));
        let hint = match (near, known.as_slice()) {
            (Some(near), _) => format!("--agent {near}"),
            (None, []) => format!("add [agents.{agent}] to kitbag.toml"),
            (None, known) => format!(
                "known agents: {}",
                known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
            ),
        };
        Err(Failure::new(Exit::NotFound, format!("no agent is called {agent:?}")).hint(hint))
    }

    /// The flags that decide which tools there are, as they must be typed again; with a blank before each.
    pub(crate) fn flags(&self) -> String {
        self.global_flags() + &self.link.flags()
    }

    /// The same for commands that connect to nothing.
    pub(crate) fn global_flags(&self) -> String {
        let global = &self.global;
        let mut words: Vec<String> = Vec::new();
        let mut flag = |name: &str, value: &str| words.push(format!(" {name} {}", quoted(value)));
        global.config.iter().for_each(|path| flag("--config", &path.to_string_lossy()));
        global.catalog.iter().for_each(|path| flag("--catalog", &path.to_string_lossy()));
        global.hosts.iter().for_each(|host| flag("--hosts", host));
        global.user.iter().for_each(|user| flag("--user", user));
        global.agent.iter().for_each(|agent| flag("--agent", agent));
        if global.demo {
            words.push(" --demo".to_owned());
        }
        words.concat()
    }

    /// A hint with the flags that were given, where it is a command to type: without them it would be about other servers.
    /// Hints that say more than one command are left as they are.
    pub(crate) fn to_type(&self, hint: &str) -> String {
        let Some(command) = hint.strip_prefix("kitbag ") else { return hint.to_owned() };
        let connects = CONNECTING.contains(&command.split(' ').next().unwrap_or_default());
        let flags = if connects { self.flags() } else { self.global_flags() };
        let is_one = !hint.contains([',', ';', '<', '…']) && !hint.contains(" with one of ");
        if is_one && !hint.ends_with(&flags) { format!("{hint}{flags}") } else { hint.to_owned() }
    }

    /// Prints text on stdout.
    pub(crate) fn print(&mut self, text: impl AsRef<str>) {
        let written = self.out.write_all(text.as_ref().as_bytes());
        self.note(written);
    }

    /// Whether whoever read our output went away.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Prints a JSON value on stdout.
    pub(crate) fn print_json(&mut self, value: &Value) {
        self.print(json::pretty(value) + "\n");
    }

    /// Prints a remark on stderr, unless only results are wanted.
    pub(crate) fn remark(&mut self, text: impl AsRef<str>) {
        if self.global.quiet {
            return;
        }
        let lines: Vec<String> = text.as_ref().split('\n').map(visible).collect();
        let text = lines.join("\n");
        let written = match self.global.json {
            true if text.trim().is_empty() => Ok(()),
            true => writeln!(self.err, "{}", json::line(&serde_json::json!({ "note": text.trim() }))),
            false => writeln!(self.err, "{text}"),
        };
        self.note(written);
    }

    /// Prints text of ours on stderr as it is, colours included.
    pub(crate) fn tell(&mut self, text: &str) {
        let written = self.err.write_all(text.as_bytes());
        self.note(written);
    }

    /// Prints something that was said along the way on stderr, dimmed, for those who want to know more.
    pub(crate) fn aside(&mut self, text: &str) {
        if !self.global.verbose {
            return;
        }
        let text = if self.global.json {
            json::line(&serde_json::json!({ "note": text }))
        } else {
            styled(DIM, visible(text))
        };
        let written = writeln!(self.err, "{text}");
        self.note(written);
    }

    /// Writes over the last line on stderr, or the beginning of a first one.
    pub(crate) fn overwrite(&mut self, line: &str) {
        let written = write!(self.err, "\r{line}").and_then(|()| self.err.flush());
        self.note(written);
    }

    /// Prints faults on stderr; notes only for those who want to know more.
    pub(crate) fn faults<'a>(&mut self, faults: impl IntoIterator<Item = &'a Fault>) {
        let shown = if self.global.verbose { Severity::Note } else { Severity::Warning };
        for fault in faults.into_iter().filter(|fault| shown <= fault.severity) {
            self.fault(fault);
        }
    }

    /// Prints a fault on stderr, a note as well: as a JSON line, or with the line it stands in.
    pub(crate) fn fault(&mut self, fault: &Fault) {
        if self.global.quiet && fault.severity < Severity::Error {
            return;
        }
        let hint = fault.hint.as_ref().map(|hint| self.to_type(hint));
        let fault = &Fault { hint, ..fault.clone() };
        let text =
            if self.global.json { json::line(&json::fault(fault)) + "\n" } else { report::fault(fault) };
        let written = self.err.write_all(text.as_bytes());
        self.note(written);
    }

    /// Prints why a command failed.
    pub(crate) fn failed(&mut self, failure: &Failure) {
        let hint = failure.hint.as_ref().map(|hint| self.to_type(hint));
        let text = if self.global.json {
            let exit = failure.exit as u8;
            let value = serde_json::json!({"error": failure.message, "hint": hint, "exit": exit, "code": failure.code()});
            json::line(&value) + "\n"
        } else {
            let hint = hint
                .map(|hint| format!("{}{}\n", styled(DIM, "  try: "), one_line(&hint)))
                .unwrap_or_default();
            let detail = failure.detail.as_deref().unwrap_or_default();
            let error = styled(BAD, format!("error[{}]:", failure.code()));
            let message = on_terminal(&format!("{error} {}", one_line(&failure.message)), 2);
            format!("{message}\n{detail}{hint}")
        };
        let written = self.err.write_all(text.as_bytes());
        self.note(written);
    }

    /// Shows what was printed so far, for whoever waits for it while the command goes on.
    pub(crate) fn flush(&mut self) {
        let flushed = self.out.flush();
        self.note(flushed);
    }

    /// The first trouble with our own output, if there was any.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed);
        self.broken.map_or(Ok(()), Err)
    }

    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.broken.get_or_insert(error);
        }
    }
}

/// A server's name as typed.
pub(crate) fn server_name(text: &str) -> Result<ServerName, Failure> {
    ServerName::parse(text).map_err(|invalid| Failure::new(Exit::Usage, invalid.to_string()))
}

/// The one place where the process's environment is read.
pub(crate) fn process_env() -> Result<Env, Failure> {
    let cwd = std::env::current_dir();
    let cwd = cwd
        .map_err(|error| Failure::new(Exit::Usage, format!("the working folder cannot be read: {error}")))?;
    let env = Env::new(std::env::vars_os(), cwd);
    // Services often run without HOME; the system knows whose home it is.
    let home = std::env::home_dir().filter(|_| env.home().is_none());
    Ok(match home.as_ref().and_then(|home| home.to_str()) {
        Some(home) => env.with("HOME", home),
        None => env,
    })
}
