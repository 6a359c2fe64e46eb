//! The commands, one file each.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod conformance;
pub(crate) mod conversations;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod errors;
pub(crate) mod flow;
mod limits;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod names;
mod overview;
pub(crate) mod pins;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod stdio;
pub(crate) mod tokens;
pub(crate) mod tools;
pub(crate) mod trust;
mod users;
pub(crate) mod why;

use crate::args::Command;
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Runs a command; none means the overview.
pub(crate) fn run(context: &mut Context, command: Option<Command>) -> Result<Exit, Failure> {
    match command {
        None => overview::run(context),
        Some(Command::Servers(args)) => servers::run(context, args),
        Some(Command::Tools(args)) => tools::run(context, &args),
        Some(Command::Prompt(args)) => prompt::run(context, &args),
        Some(Command::Cost(args)) => cost::run(context, &args),
        Some(Command::Show(args)) => show::run(context, &args),
        Some(Command::Why(args)) => why::run(context, &args),
        Some(Command::Call(args)) => call::run(context, &args),
        Some(Command::Resources(args)) => resources::run(context, &args),
        Some(Command::Prompts(args)) => prompts::run(context, &args),
        Some(Command::Status(args)) => status::run(context, &args),
        Some(Command::Logs(args)) => logs::run(context, &args),
        Some(Command::Limits) => limits::run(context),
        Some(Command::Errors(args)) => errors::run(context, &args),
        Some(Command::Config(args)) => config::run(context, &args),
        Some(Command::Names(args)) => names::run(context, &args),
        Some(Command::Pins(args)) => pins::run(context, &args),
        Some(Command::Approvals(args)) => approvals::run(context, &args),
        Some(Command::Policy(args)) => policy::run(context, &args),
        Some(Command::Run(args)) => run::run(context, &args),
        Some(Command::Chat(args)) => chat::run(context, &args),
        Some(Command::Conversations(args)) => conversations::run(context, &args),
        Some(Command::Flow(args)) => flow::run(context, &args),
        Some(Command::Serve(args)) => serve::run(context, &args),
        Some(Command::Stdio(args)) => stdio::run(context, &args),
        Some(Command::Tokens(args)) => tokens::run(context, &args),
        Some(Command::Users) => users::run(context),
        Some(Command::Audit(args)) => audit::run(context, &args),
        Some(Command::Trust(args)) => trust::run(context, &args),
        Some(Command::Doctor(args)) => doctor::run(context, &args),
        Some(Command::Completions(args)) => completions::run(context, &args),
        Some(Command::Man(args)) => man::run(context, &args),
        Some(Command::ConformanceClient(args)) => conformance::run(context, &args),
    }
}
