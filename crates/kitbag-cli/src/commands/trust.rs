//! `kitbag trust`: what files of the working folder would start, shown in full, approved one by one.

use std::path::{Path, PathBuf};

use kitbag::cli::HeldSettings;
use kitbag::files::{TrustEntry, TrustStore, project_folders};
use kitbag::{Secret, Setup};
use kitbag_core::config::layers::{EntryState, MergedServer};
use kitbag_core::text::{MASK, looks_secret, names_secret, redact_words, visible};
use serde_json::{Value, json};

use super::servers::describe_for_review;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{DIM, confirm, is_interactive, styled};

/// The name under which a folder's settings are approved.
const SETTINGS: &str = "kitbag.toml";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The servers to approve; kitbag.toml for the folder's settings
    names: Vec<String>,
    /// Only what is in this file
    #[arg(long, value_name = "FILE", requires = "names")]
    from: Option<PathBuf>,
    /// Approve everything that is held; with --revoke, take back every approval given in this project
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Take approvals back instead
    #[arg(long)]
    revoke: bool,
    /// List the approvals given so far
    #[arg(long, conflicts_with_all = ["names", "all"])]
    list: bool,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    if args.list {
        return list(context, &setup);
    }
    if args.revoke && args.names.is_empty() && !args.all {
        let failure = Failure::new(Exit::Usage, "nothing to revoke is named");
        return Err(failure.hint("kitbag trust --revoke <name>, or kitbag trust --revoke --all"));
    }
    if args.revoke {
        return revoke(context, &setup, &args.names);
    }
    let held: Vec<&MergedServer> =
        setup.merged.servers.iter().filter(|row| row.state == EntryState::Held).collect();
    if args.names.is_empty() && !args.all {
        return look(context, &setup, &held);
    }
    approve(context, &setup, &held, args)
}

/// Shows what is held, and asks about each on a terminal.
fn look(context: &mut Context, setup: &Setup, held: &[&MergedServer]) -> Result<Exit, Failure> {
    if context.global.json {
        let rows: Vec<Value> = held.iter().map(|row| json::server_for_review(row)).collect();
        context.print_json(&json!({"held": rows, "settings": setup.held_settings().last().map(|held| held.approval.file.to_string_lossy())}));
        return Ok(Exit::Done);
    }
    if held.is_empty() && setup.held_settings().next().is_none() {
        context.remark("nothing is held: no file in this folder waits for approval");
        return Ok(Exit::Done);
    }
    let mut approvals = Vec::new();
    let ask = is_interactive() && !context.global.quiet;
    for held in setup.held_settings() {
        context.print(settings(&held.approval.file, &held.text));
        if ask && confirm("Approve these settings?") {
            approvals.push(held.approval.clone());
        }
    }
    for row in held {
        context.print(describe_for_review(row) + &env_file(setup, row));
        if let Some(spec) = row.spec.as_ref().filter(|_| ask && confirm("Approve this server?")) {
            approvals.push(setup.approval(spec));
        }
    }
    if !ask {
        context.remark("\napprove with `kitbag trust <name>`, or all with `kitbag trust --all`");
        return Ok(Exit::Done);
    }
    keep(context, setup, &approvals)
}

fn approve(
    context: &mut Context,
    setup: &Setup,
    held: &[&MergedServer],
    args: &Args,
) -> Result<Exit, Failure> {
    let mut approvals: Vec<TrustEntry> = Vec::new();
    let wanted = |name: &str| args.all || args.names.iter().any(|wanted| wanted == name);
    let from = args.from.as_ref().map(|file| setup.env().cwd().join(file));
    let meant = |row: &&&MergedServer| {
        wanted(&row.name) && from.as_ref().is_none_or(|file| *row.origin.place.file == **file)
    };
    for row in held.iter().filter(meant) {
        // One name may stand in several files, and only one of them may be what was looked at.
        let twin =
            held.iter().filter(meant).find(|other| other.name == row.name && other.origin != row.origin);
        if let Some(twin) = twin.filter(|_| !args.all) {
            let message =
                format!("{} is held in {} and in {}", row.name, row.origin.place, twin.origin.place);
            let hint = format!("kitbag trust {} --from {}", row.name, row.origin.place.file.display());
            return Err(Failure::new(Exit::NotFound, message).hint(hint));
        }
        context.remark(describe_plainly(row) + env_file(setup, row).trim_end());
        approvals.extend(row.spec.as_ref().map(|spec| setup.approval(spec)));
    }
    let of_file = |held: &&HeldSettings| from.as_ref().is_none_or(|file| held.approval.file == *file);
    let settings: Vec<&HeldSettings> =
        setup.held_settings().filter(|_| wanted(SETTINGS)).filter(of_file).collect();
    if let [one, other, ..] = settings.as_slice()
        && !args.all
    {
        let (one, other) = (one.approval.file.display(), other.approval.file.display());
        let failure = Failure::new(Exit::NotFound, format!("settings are held in {one} and in {other}"));
        return Err(failure.hint(format!("kitbag trust {SETTINGS} --from {other}")));
    }
    approvals.extend(settings.into_iter().map(|held| held.approval.clone()));
    if let Some(missing) =
        args.names.iter().find(|name| !approvals.iter().any(|approval| approval.server == **name))
    {
        let failure = Failure::new(Exit::NotFound, format!("{missing} is not held"));
        return Err(failure.hint("`kitbag trust` shows what is"));
    }
    keep(context, setup, &approvals)
}

fn keep(context: &mut Context, setup: &Setup, approvals: &[TrustEntry]) -> Result<Exit, Failure> {
    if !approvals.is_empty() {
        TrustStore::approve(&setup.folders, approvals)?;
    }
    if context.global.json {
        context.print_json(&json!({"approved": approvals.iter().map(as_json).collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    for approval in approvals {
        context.remark(format!("approved {} of {}", approval.server, approval.file.display()));
    }
    Ok(Exit::Done)
}

/// What is about to be approved, for the record.
fn describe_plainly(row: &MergedServer) -> String {
    let values = row.spec.as_deref().into_iter().flat_map(kitbag::ServerSpec::shown_for_review);
    let lines = values.map(|(key, value)| format!("\n  {key} = {value}"));
    format!("{} of {}{}", row.name, row.origin.place, lines.collect::<String>())
}

/// What a server's file of variables gives to it: part of what is approved.
fn env_file(setup: &Setup, row: &MergedServer) -> String {
    let variables = row.spec.as_ref().map(|spec| setup.env_file(spec, &row.layer)).unwrap_or_default();
    let shown = |(name, value): (String, Secret)| {
        let value = if names_secret(&name) || looks_secret(value.expose()) { MASK } else { value.expose() };
        format!("  env_file.{} = {}\n", visible(&name), visible(value))
    };
    variables.into_iter().map(shown).collect()
}

/// A folder's settings as they were read, secrets masked.
fn settings(file: &Path, text: &str) -> String {
    let mut shown_text = format!("{} {}\n", styled(DIM, "settings"), visible(&file.to_string_lossy()));
    for line in text.lines() {
        let shown = match line.split_once('=') {
            Some((key, _)) if names_secret(key.trim()) => format!("{key}= {MASK}"),
            _ => redact_words(line.split(' ')).join(" "),
        };
        shown_text += &format!("  {}\n", visible(&shown));
    }
    shown_text
}

fn as_json(approval: &TrustEntry) -> Value {
    json!({"file": approval.file.to_string_lossy(), "server": approval.server, "hash": approval.hash})
}

/// Takes back the approvals of these names, or all of them, given in this project.
fn revoke(context: &mut Context, setup: &Setup, names: &[String]) -> Result<Exit, Failure> {
    let root = project_folders(setup.env()).into_iter().next().unwrap_or_default();
    let here = |approval: &TrustEntry| {
        (names.is_empty() || names.contains(&approval.server)) && approval.file.starts_with(&root)
    };
    let given: Vec<&TrustEntry> =
        setup.trust().approvals().iter().filter(|approval| here(approval)).collect();
    if let Some(missing) = names.iter().find(|name| !given.iter().any(|approval| approval.server == **name)) {
        let failure = Failure::new(Exit::NotFound, format!("{missing} was not approved in this folder"));
        return Err(failure.hint("`kitbag trust --list` shows every approval"));
    }
    TrustStore::revoke(&setup.folders, here)?;
    if context.global.json {
        context.print_json(&json!({"revoked": given.into_iter().map(as_json).collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    for approval in given {
        context.remark(format!("{} of {} is held again", approval.server, approval.file.display()));
    }
    Ok(Exit::Done)
}

fn list(context: &mut Context, setup: &Setup) -> Result<Exit, Failure> {
    let approvals = setup.trust().approvals();
    if context.global.json {
        context.print_json(&approvals.iter().map(as_json).collect());
    } else {
        for approval in approvals {
            let file = styled(DIM, visible(&approval.file.to_string_lossy()));
            context.print(format!("{}  {file}\n", visible(&approval.server)));
        }
    }
    Ok(Exit::Done)
}
