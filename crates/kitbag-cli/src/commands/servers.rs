//! `kitbag servers`: everything about single servers.

mod add;
mod edit;
mod export;
pub(crate) mod import;
mod list;
mod remove;
mod rename;
mod show;
mod switch;
mod warm;

pub(crate) use show::{describe, describe_for_review, find};

use std::path::{Path, PathBuf};

use kitbag::files::Registry;
use kitbag::{ServerName, Setup};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List every server with its state, its file and its faults
    #[command(after_help = list::STATES)]
    List,
    /// Show one server in full, secrets masked
    Show(show::Args),
    /// Add a server by command, address or pasted JSON
    Add(add::Args),
    /// Change one server's entry in your editor
    Edit(edit::Args),
    /// Remove a server from Kitbag's own files
    Remove(remove::Args),
    /// Give a server of Kitbag's own files another name
    Rename(rename::Args),
    /// Switch a server on
    Enable(switch::Args),
    /// Switch a server off, wherever it is defined
    Disable(switch::Args),
    /// Start servers and wait for them, so that first downloads are done
    Warm(warm::Args),
    /// Copy servers found in other programs' files into Kitbag's own
    Import(import::Args),
    /// Write configuration for another program
    Export(export::Args),
}

pub(crate) fn run(context: &mut Context, args: Args) -> Result<Exit, Failure> {
    match args.command.unwrap_or(Command::List) {
        Command::List => list::run(context),
        Command::Show(args) => show::run(context, &args),
        Command::Add(args) => add::run(context, &args),
        Command::Edit(args) => edit::run(context, &args),
        Command::Remove(args) => remove::run(context, &args),
        Command::Rename(args) => rename::run(context, &args),
        Command::Enable(args) => switch::run(context, &args, true),
        Command::Disable(args) => switch::run(context, &args, false),
        Command::Warm(args) => warm::run(context, &args),
        Command::Import(args) => import::run(context, &args),
        Command::Export(args) => export::run(context, &args),
    }
}

/// Kitbag's own files for the user the flags name, or for everybody.
fn registry(context: &Context, setup: &Setup) -> Result<Registry, Failure> {
    Ok(match context.user()? {
        Some(user) => Registry::of_user(&setup.folders, &user),
        None => Registry::shared(&setup.folders),
    })
}

/// Says what was done, in words or as JSON.
fn done(context: &mut Context, verb: &str, name: &ServerName, file: &Path) {
    if context.global.json {
        context.print_json(&done_json(verb, name, file));
    } else {
        say_done(context, verb, name, file);
    }
}

/// The same for a command that may do it several times: one list.
fn all_done(context: &mut Context, verb: &str, all: &[(&ServerName, PathBuf)]) {
    if context.global.json {
        context.print_json(&all.iter().map(|(name, file)| done_json(verb, name, file)).collect());
    } else {
        all.iter().for_each(|(name, file)| say_done(context, verb, name, file));
    }
}

fn done_json(verb: &str, name: &ServerName, file: &Path) -> Value {
    json!({"done": verb, "name": name.as_str(), "file": file.to_string_lossy()})
}

fn say_done(context: &mut Context, verb: &str, name: &ServerName, file: &Path) {
    let preposition = match verb {
        "removed" => "from",
        "added" => "to",
        "imported" => "into",
        _ => "in",
    };
    context.remark(format!("{verb} {name} {preposition} {}", file.display()));
}
