//! `kitbag flow`: drawings of Xircuits, checked, shown and run without Python.

use std::path::{Path, PathBuf};

use kitbag::Setup;
use kitbag_flow::{CheckOptions, Drawing, Flow, Problem, Severity, errors, load};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};

mod list;
mod new;
mod run;
mod show;

const EXAMPLES: &str = "\
Examples:
  kitbag flow new agent.xircuits --server weather      a drawing of an agent with the tools of a server
  kitbag flow run agent.xircuits question=\"Will it rain?\"
  kitbag flow check *.xircuits
  kitbag flow show agent.xircuits                      as mermaid text, with the tools each agent will see
  kitbag flow list                                     the components that run natively

Drawings are made with Xircuits (https://xircuits.io). Its agents may use the servers that AgentUseMCPTools names, and are
driven by the models of AgentInit: the provider's variables hold the keys.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say what is wrong with drawings, without running them
    Check(Check),
    /// Run a drawing
    Run(run::Args),
    /// List the components that run natively, with their ports
    List,
    /// Write a drawing of a minimal agent
    New(new::Args),
    /// Show a drawing as mermaid text, with the tools each agent will see
    Show(show::Args),
}

#[derive(Debug, clap::Args)]
struct Check {
    /// The drawings
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Command::Check(args) => check(context, args),
        Command::Run(args) => run::run(context, args),
        Command::List => list::run(context),
        Command::New(args) => new::run(context, args),
        Command::Show(args) => show::run(context, args),
    }
}

/// What a check goes by: the servers and limits of this setup.
fn options(setup: &Setup) -> CheckOptions {
    let servers = setup.merged.servers.iter().map(|server| server.name.clone()).collect();
    let limits = setup.limits.clone().into();
    CheckOptions { limits, servers: Some(servers), ..CheckOptions::default() }
}

/// A drawing, and the flow it is if nothing is wrong with it.
fn open(context: &mut Context, setup: &Setup, file: &Path) -> Result<(Drawing, Flow), Failure> {
    let drawing = load(file, &setup.limits).map_err(|problem| failure(&[problem]))?;
    let flow = Flow::new(&drawing, &options(setup));
    let problems = flow.as_ref().map_or_else(|problems| problems.as_slice(), Flow::notes).to_vec();
    for problem in problems.iter().filter(|problem| problem.severity == Severity::Warning) {
        context.remark(line(problem));
    }
    flow.map(|flow| (drawing, flow)).map_err(|problems| failure(&problems))
}

/// All errors at once: whoever fixes a drawing does it once.
fn failure(problems: &[Problem]) -> Failure {
    let mut all = errors(problems);
    let Some(first) = all.next() else { return Failure::new(Exit::Config, "the drawing cannot be run") };
    let failure = Failure::new(Exit::Config, first.to_string()).hint(first.fix.clone());
    let more: Vec<String> = all.map(line).collect();
    if more.is_empty() { failure } else { failure.detail(more.join("\n")) }
}

fn line(problem: &Problem) -> String {
    format!("{problem}; {}", problem.fix)
}

fn check(context: &mut Context, args: &Check) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let options = options(&setup);
    let mut rows = Vec::new();
    let mut is_wrong = false;
    for file in &args.files {
        let problems = match load(file, &setup.limits).map(|drawing| Flow::new(&drawing, &options)) {
            Err(problem) => vec![problem],
            Ok(Err(problems)) => problems,
            Ok(Ok(flow)) => flow.notes().to_vec(),
        };
        is_wrong |= errors(&problems).next().is_some();
        if problems.is_empty() && !context.global.json {
            context.print(format!("{}: ok\n", file.display()));
        }
        for problem in &problems {
            if !context.global.json {
                context.print(format!("{}: {}\n", word(problem.severity), line(problem)));
            }
            rows.push(as_json(problem));
        }
    }
    if context.global.json {
        context.print_json(&Value::Array(rows));
    }
    Ok(if is_wrong { Exit::Config } else { Exit::Done })
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// `docs/json.md` describes it.
fn as_json(problem: &Problem) -> Value {
    let node = problem.node.as_ref();
    json!({
        "severity": word(problem.severity), "file": problem.file, "node": node.map(|node| &node.id),
        "name": node.map(|node| &node.name), "x": node.map(|node| node.x), "y": node.map(|node| node.y),
        "port": problem.port, "message": problem.what, "hint": problem.fix,
    })
}
