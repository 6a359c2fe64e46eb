//! `kitbag completions`: a script by which a shell asks this program what could come next.
//!
//! Servers come from the files, tools and their arguments from the lists that are remembered: no server is started while
//! somebody types.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use clap::{Command, CommandFactory as _, FromArgMatches as _};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use kitbag::connect::StartServers;
use kitbag::{Kitbag, OpenOptions, View, ViewTool};
use kitbag_core::names::lookup::NameMatch;
use kitbag_core::text::one_line;

use crate::args;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;

/// Which shell asks; set by the script.
const ASKED_BY: &str = "KITBAG_COMPLETE";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let broken = |why: String| Failure::new(Exit::Bug, format!("no script for {}: {why}", args.shell));
    let shells = Shells::builtins();
    let shell =
        shells.completer(&args.shell.to_string()).ok_or_else(|| broken("not supported".to_owned()))?;
    let mut script = Vec::new();
    shell
        .write_registration(ASKED_BY, "kitbag", "kitbag", "kitbag", &mut script)
        .map_err(|error| broken(error.to_string()))?;
    context.print(String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}

/// Answers and ends the process if it was started by such a script.
pub(crate) fn answer_if_asked() {
    CompleteEnv::with_factory(|| with_values(args::Args::command())).var(ASKED_BY).complete();
}

/// Says of every argument that names something where its values come from.
fn with_values(command: Command) -> Command {
    let names_servers = !matches!(command.get_name(), "add" | "import" | "free");
    let command = command.mut_args(|arg| match arg.get_id().as_str() {
        "tool" => arg.add(ArgValueCompleter::new(tools)),
        "pairs" => arg.add(ArgValueCandidates::new(keys)),
        "agent" => arg.add(ArgValueCandidates::new(agents)),
        "server" | "servers" | "name" | "names" if names_servers => arg.add(ArgValueCandidates::new(servers)),
        _ => arg,
    });
    command.mut_subcommands(with_values)
}

fn servers() -> Vec<CompletionCandidate> {
    let setup = typed().and_then(|typed| Context::new(typed.global).setup().ok());
    let rows = setup.map(|setup| setup.merged.servers).unwrap_or_default();
    rows.iter().map(|row| CompletionCandidate::new(one_line(&row.name))).collect()
}

fn agents() -> Vec<CompletionCandidate> {
    let setup = typed().and_then(|typed| {
        // The agent is what is being typed.
        Context::new(args::Global { agent: None, ..typed.global }).setup().ok()
    });
    let settings = setup.map(|setup| setup.settings).unwrap_or_default();
    let agents = settings.iter().flat_map(|(_, settings)| &settings.agents);
    agents.map(|(name, _)| CompletionCandidate::new(one_line(name))).collect()
}

/// The names a model sees; `server/tool` for those who begin with that.
fn tools(begun: &OsStr) -> Vec<CompletionCandidate> {
    let Some((begun, (_, view))) = begun.to_str().zip(typed().and_then(remembered)) else {
        return Vec::new();
    };
    let named = |name: &dyn Fn(&ViewTool) -> String| -> Vec<CompletionCandidate> {
        let all = view.tools().iter().map(|shown| (name(shown), shown));
        all.filter(|(name, _)| name.starts_with(begun)).map(|(name, shown)| candidate(name, shown)).collect()
    };
    let shown = named(&|shown| one_line(&shown.name.to_string()));
    if !shown.is_empty() {
        return shown;
    }
    named(&|shown| one_line(&format!("{}/{}", shown.tool.server, shown.tool.name)))
}

fn candidate(name: String, shown: &ViewTool) -> CompletionCandidate {
    let first = shown.tool.description.trim().lines().next();
    CompletionCandidate::new(name).help(first.map(|line| one_line(line).into()))
}

/// `KEY=` for each argument of the tool that was typed.
fn keys() -> Vec<CompletionCandidate> {
    let keys = || {
        let typed = typed()?;
        let Some(args::Command::Call(call)) = &typed.command else { return None };
        let tool = call.tool().to_owned();
        let (_, view) = remembered(typed)?;
        let NameMatch::One(index) = view.find(&tool) else { return None };
        let input = serde_json::to_value(&*view.at(index)?.tool.input).ok()?;
        let keys = input.get("properties")?.as_object()?.keys();
        Some(keys.map(|key| CompletionCandidate::new(one_line(key) + "=")).collect())
    };
    keys().unwrap_or_default()
}

/// What was typed so far, as far as it can be read: the flags decide which servers there are.
fn typed() -> Option<args::Args> {
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").skip(1).collect();
    let matches = args::Args::command().ignore_errors(true).try_get_matches_from(words).ok()?;
    args::Args::from_arg_matches(&matches).ok()
}

/// What the agent and user of the flags see of the tools that are remembered.
fn remembered(typed: args::Args) -> Option<(Kitbag, Arc<View>)> {
    let context = Context::new(typed.global);
    let setup = context.setup().ok()?;
    let (user, local) = (setup.user.clone(), live::demo(&context, &setup));
    let options = OpenOptions { start: StartServers::OnDemand, local, ..OpenOptions::default() };
    let seen = live::block_on(async {
        let kit = Kitbag::start(setup, options);
        let view = live::view(&context, &kit, &user)?;
        Ok((kit, view))
    });
    seen.ok()
}
