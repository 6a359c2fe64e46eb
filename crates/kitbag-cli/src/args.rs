//! What can be typed. One enum for the commands; the flags of [`Global`] work with every one of them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::commands::{
    approvals, audit, call, chat, completions, config, conformance, conversations, cost, doctor, errors,
    flow, logs, man, names, pins, policy, prompt, prompts, resources, run, serve, servers, show, status,
    stdio, tokens, tools, trust, why,
};
use crate::exit;

const AFTER: &str = "Without a command, kitbag shows what it found and what to do next.";

/// Gives any agent the tools of any MCP server.
#[derive(Debug, Parser)]
#[command(name = "kitbag", version, after_help = format!("{AFTER}\n\nExit codes: {}", exit::meanings()))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List, show, add, remove, switch, import and export servers
    Servers(servers::Args),
    /// Show the merged configuration and where each value came from
    Config(config::Args),
    /// List the tools of every server
    Tools(tools::Args),
    /// Print the tools as text for a model's prompt
    Prompt(prompt::Args),
    /// Count the tokens of tool definitions, by server and by form
    Cost(cost::Args),
    /// Show everything about one tool
    Show(show::Args),
    /// Call a tool
    Call(call::Args),
    /// List and read the resources of every server
    Resources(resources::Args),
    /// List and get the prompts of every server
    Prompts(prompts::Args),
    /// Let a model answer, or do a task, with the tools
    Run(run::Args),
    /// Talk with a model that has the tools
    Chat(chat::Args),
    /// List, show, save and remove the conversations of chats
    Conversations(conversations::Args),
    /// Check, show and run drawings of Xircuits with the tools
    Flow(flow::Args),
    /// Serve every tool to MCP hosts at one address
    Serve(serve::Args),
    /// Serve every tool to the MCP host that starts this command
    Stdio(stdio::Args),
    /// Make, list and revoke the tokens that `serve` asks for
    Tokens(tokens::Args),
    /// Show why a tool can, or cannot, be called
    Why(why::Args),
    /// Show the state of every server
    Status(status::Args),
    /// Show the stderr log of a server
    Logs(logs::Args),
    /// Show all limits and timeouts
    Limits,
    /// Explain an error code, or list every kind of error and exit code
    Errors(errors::Args),
    /// Show the names given to tools, and free some of them
    Names(names::Args),
    /// Show what definitions tools are held to, what changed, and approve it
    Pins(pins::Args),
    /// Show and answer calls that wait for approval
    Approvals(approvals::Args),
    /// Say what the rules decide about a call
    Policy(policy::Args),
    /// List the users and their groups
    Users,
    /// Show who called what, and verify that record
    Audit(audit::Args),
    /// Show and approve what the working folder's files would start
    Trust(trust::Args),
    /// Check the configuration and say how to fix it
    Doctor(doctor::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// Print the manual page, or write the pages of all commands into a folder
    Man(man::Args),
    /// Be looked at by the protocol's conformance suite
    #[command(hide = true)]
    ConformanceClient(conformance::Args),
}

/// Flags of every command.
#[derive(Clone, Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Read this file or folder and nothing else (repeatable)
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) config: Vec<PathBuf>,
    /// Read tool lists from the JSON files of this folder, and start no server
    #[arg(long, global = true, value_name = "DIR", conflicts_with_all = ["config", "hosts"])]
    pub(crate) catalog: Option<PathBuf>,
    /// Also use the servers of these programs, such as cursor, or of all
    #[arg(long, global = true, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Act for this user
    #[arg(long, global = true, value_name = "ID")]
    pub(crate) user: Option<String>,
    /// Act as this agent of kitbag.toml
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Add three small tools that need no server: clock, notes and folder
    #[arg(long, global = true)]
    pub(crate) demo: bool,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print results and errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Also print notes and details
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
    /// How long to wait for servers, such as 10s
    #[arg(long, global = true, value_name = "TIME", value_parser = parse_time)]
    pub(crate) wait: Option<Duration>,
    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    kitbag_core::config::settings::duration(text)
        .ok_or_else(|| "write a number and ms, s, m, h or d".to_owned())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}
