//! Flags of the commands that connect to servers: to which, in which revision of the protocol, with which folders, and
//! whether somebody reads along.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag::connect::Trace;
use kitbag::{OpenOptions, ProtocolVersion, QuestionKind, ServerName, Setup};
use kitbag_core::text::{redact_url, redact_words};

use crate::arguments::quoted;
use crate::commands::servers::find;
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::{store, unused};

mod ad_hoc;
mod trace;

#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Connection options")]
pub(crate) struct LinkArgs {
    /// Use this server alone: its name, a command such as 'npx -y @acme/mcp', or a URL; nothing is
    /// configured by that (repeatable)
    #[arg(long, value_name = "SERVER")]
    pub(crate) server: Vec<String>,
    /// Speak this revision of the protocol, such as 2025-11-25, and no other
    #[arg(long, value_name = "REVISION", value_parser = str::parse::<ProtocolVersion>)]
    pub(crate) protocol: Option<ProtocolVersion>,
    /// Tell servers that ask for roots of this folder (repeatable)
    #[arg(long = "root", value_name = "DIR")]
    pub(crate) roots: Vec<PathBuf>,
    /// Write every message of the protocol, without secrets, to stderr or into a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub(crate) trace: Option<PathBuf>,
}

impl LinkArgs {
    /// Those that decide which tools there are, as they must be typed again; with a blank before each.
    pub(crate) fn flags(&self) -> String {
        let mut words = String::new();
        let mut flag = |name: &str, value: &str| words += &format!(" {name} {}", quoted(value));
        for server in &self.server {
            flag("--server", &shown(server));
        }
        self.protocol.iter().for_each(|version| flag("--protocol", version.as_str()));
        self.roots.iter().for_each(|folder| flag("--root", &folder.to_string_lossy()));
        words
    }
}

/// A server as it was typed. It may hold a token, and what is printed is copied elsewhere.
fn shown(server: &str) -> String {
    if ad_hoc::is_url(server) {
        return redact_url(server);
    }
    let words = shlex::split(server).unwrap_or_default();
    let masked = redact_words(words.iter().map(String::as_str));
    if masked == words {
        return server.to_owned();
    }
    masked.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Everything the flags ask for, with the servers of `--server` alone where there are any.
pub(crate) fn setup(context: &mut Context, args: &LinkArgs) -> Result<Setup, Failure> {
    context.link = args.clone();
    let mut setup = context.setup()?;
    let mut chosen: Vec<ServerName> = Vec::new();
    let mut specs = Vec::new();
    for text in &args.server {
        if is_known(&setup, text) {
            chosen.push(server_name(text)?);
        } else if let Some(spec) = ad_hoc::spec(text, setup.env(), &chosen)? {
            chosen.push(spec.name.clone());
            specs.push(spec);
        } else {
            // Neither a server nor a program: says which server may have been meant.
            find(&setup, &server_name(text)?)?;
        }
    }
    if !specs.is_empty() {
        ad_hoc::replace(&mut setup, &chosen, specs);
        context.ad_hoc = true;
    }
    context.chosen = chosen;
    Ok(setup)
}

/// The same for commands that need these servers in use.
pub(crate) fn setup_in_use(context: &mut Context, args: &LinkArgs) -> Result<Setup, Failure> {
    let setup = self::setup(context, args)?;
    match context.chosen.iter().find_map(|name| unused::why(&setup, name)) {
        Some(failure) => Err(failure),
        None => Ok(setup),
    }
}

/// Local tools stand beside the servers, and so does their name; a catalog has servers that are not started.
fn is_known(setup: &Setup, text: &str) -> bool {
    let is_listed = |name: &ServerName| setup.catalog.iter().any(|part| part.server == *name);
    let is_known = |name: ServerName| setup.merged.get(&name).is_some() || is_listed(&name);
    text == "local" || ServerName::parse(text).is_ok_and(is_known)
}

/// How servers are opened by the flags of the command that runs. What may be asked is the same for all commands, and
/// with or without a terminal: servers show other tools to those who answer nothing, and what is listed must be callable.
pub(crate) fn options(context: &Context, setup: &Setup) -> Result<OpenOptions, Failure> {
    let cwd = setup.env().cwd();
    for folder in &context.link.roots {
        if !cwd.join(folder).is_dir() {
            let failure = Failure::new(Exit::Usage, format!("--root {} is not a folder", folder.display()));
            return Err(failure.hint("--root DIR, a folder that exists"));
        }
    }
    let form = if context.global.json { trace::Form::Json } else { trace::Form::Text };
    let trace = context.link.trace.as_ref().map(|file| trace::open(file, cwd, form)).transpose()?;
    Ok(OpenOptions {
        answers: vec![QuestionKind::Elicitation],
        only_protocol: context.link.protocol,
        roots: context.link.roots.clone(),
        trace: trace.map(|trace| Arc::new(trace) as Arc<dyn Trace>),
        store: Some(store::open(setup)?),
        ..OpenOptions::default()
    })
}
