//! `kitbag pins`: the definitions that tools are held to, what changed, and approving it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use kitbag::approvals::{PinStatus, PinnedTool};
use kitbag::connect::StartServers;
use kitbag::{Kitbag, OpenOptions, ServerName, ToolName};
use kitbag_core::text::visible;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::store::refused;
use crate::terminal::{BAD, DIM, GOOD, ODD, cell, lines, plural, styled, table};
use crate::{json, link_args, live, starting};

mod findings;
mod lock;

const EXAMPLES: &str = "\
Examples:
  kitbag pins                       every tool that was used or approved, and whether it is still the same
  kitbag pins diff github           what changed in the definitions of one server
  kitbag pins approve github        take the definitions of one server as they are now
  kitbag pins approve github/search take that of one tool
  kitbag pins lock                  write kitbag.lock, to be committed
  kitbag pins check                 compare the servers with kitbag.lock; exit code 10 when they differ

A tool is held to the definition it had when it was first called. When its name, description, schemas or
annotations change, it is not listed and not called until the change is approved. [pins] mode in kitbag.toml:
first-use, strict (every tool needs approval) or off.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the tools that are held to a definition (default)
    List(Which),
    /// Show what changed since a definition was pinned
    Diff(Which),
    /// Approve definitions as they are now
    Approve(Approve),
    /// Forget what tools are held to
    Forget(Approve),
    /// Write the hashes of all definitions into a file
    Lock(LockFile),
    /// Compare all definitions with that file
    Check(LockFile),
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Servers, or server/tool; all otherwise
    #[arg(value_name = "SERVER[/TOOL]")]
    which: Vec<String>,
}

#[derive(Debug, clap::Args)]
struct Approve {
    /// Servers, or server/tool
    #[arg(value_name = "SERVER[/TOOL]", required_unless_present = "all")]
    which: Vec<String>,
    /// Those of every server
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct LockFile {
    /// The file
    #[arg(value_name = "FILE", default_value = "kitbag.lock")]
    file: PathBuf,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        None => list(context, &[]),
        Some(Command::List(args)) => list(context, &args.which),
        Some(Command::Diff(args)) => diff(context, &args.which),
        Some(Command::Approve(args)) => approve(context, &args.which),
        Some(Command::Forget(args)) => forget(context, &args.which),
        Some(Command::Lock(args)) => lock::write(context, &args.file),
        Some(Command::Check(args)) => lock::check(context, &args.file),
    }
}

/// Whether servers are asked, or what is remembered of their lists is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Remembered,
    Connected,
}

/// Does something with every tool that is listed or pinned.
fn with_tools<T>(
    context: &mut Context,
    look: Look,
    which: &[String],
    work: impl AsyncFnOnce(&mut Context, &Kitbag, Vec<PinnedTool>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let setup = context.setup()?;
    let start = if look == Look::Connected { StartServers::AtOnce } else { StartServers::OnDemand };
    let only = (look == Look::Connected && !which.is_empty()).then(|| servers(which));
    let options = OpenOptions { start, only, ..link_args::options(context, &setup)? };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        if look == Look::Connected {
            let limits = kit.limits();
            let most = context.global.wait.unwrap_or(limits.wait_download + limits.wait_list);
            starting::wait(context, &kit, most).await;
        }
        let tools = kit.pinned_tools().await.map_err(|error| refused(&error));
        let done = match tools {
            Ok(tools) => match meant(&tools, which) {
                Ok(tools) => work(context, &kit, tools).await,
                Err(failure) => Err(failure),
            },
            Err(failure) => Err(failure),
        };
        kit.close_and_exit().await;
        done
    })
}

fn servers(which: &[String]) -> Vec<ServerName> {
    let server = |text: &String| ServerName::parse(text.split('/').next().unwrap_or(text)).ok();
    which.iter().filter_map(server).collect()
}

/// The tools that were named; all where none is.
fn meant(tools: &[PinnedTool], which: &[String]) -> Result<Vec<PinnedTool>, Failure> {
    let fits = |text: &str, tool: &PinnedTool| {
        text == tool.server.as_str()
            || text.split_once('/') == Some((tool.server.as_str(), tool.tool.as_str()))
    };
    if let Some(unknown) = which.iter().find(|text| !tools.iter().any(|tool| fits(text, tool))) {
        let failure =
            Failure::new(Exit::NotFound, format!("no tool or server of {unknown:?} is listed or pinned"));
        return Err(failure.hint("kitbag tools"));
    }
    let is_meant = |tool: &&PinnedTool| which.is_empty() || which.iter().any(|text| fits(text, tool));
    Ok(tools.iter().filter(is_meant).cloned().collect())
}

fn list(context: &mut Context, which: &[String]) -> Result<Exit, Failure> {
    with_tools(context, Look::Remembered, which, async |context, _, tools| {
        let pinned: Vec<&PinnedTool> = tools.iter().filter(|tool| tool.pin.is_some()).collect();
        if context.global.json {
            context.print_json(&pinned.iter().map(|tool| as_json(tool)).collect::<Value>());
            return Ok(Exit::Done);
        }
        if pinned.is_empty() {
            context.remark("no tool is pinned yet: each is when it is first called");
            return Ok(Exit::Done);
        }
        let mut rows = table();
        rows.set_header(["SERVER", "TOOL", "STATE", "HASH", "FINDINGS"]);
        for tool in &pinned {
            let hash = tool.pin.as_ref().map(|pin| pin.hash.to_string()).unwrap_or_default();
            let hash = hash.chars().take(12).collect::<String>();
            let state = cell(style(tool.status), tool.status.as_str());
            rows.add_row([
                visible(tool.server.as_str()).into(),
                visible(tool.tool.as_str()).into(),
                state,
                cell(DIM, hash),
                cell(ODD, findings::codes(tool)),
            ]);
        }
        context.print(lines(&rows));
        context.print(pinned.iter().map(|tool| findings::described(tool)).collect::<String>());
        let changed = pinned.iter().filter(|tool| tool.status == PinStatus::Changed).count();
        if 0 < changed {
            context.remark(format!("{} changed and held; kitbag pins diff", plural(changed, "tool")));
        }
        Ok(Exit::Done)
    })
}

fn diff(context: &mut Context, which: &[String]) -> Result<Exit, Failure> {
    with_tools(context, Look::Connected, which, async |context, _, tools| {
        let is_changed = |tool: &&PinnedTool| tool.status == PinStatus::Changed;
        // All of one that nobody has approved yet is new; it is shown to whoever asks for it.
        let is_new = |tool: &&PinnedTool| !which.is_empty() && tool.status == PinStatus::New;
        let changed: Vec<&PinnedTool> =
            tools.iter().filter(|tool| is_changed(tool) || is_new(tool)).collect();
        if context.global.json {
            context.print_json(&changed.iter().map(|tool| as_json(tool)).collect::<Value>());
        } else if changed.is_empty() {
            context.remark("nothing changed since it was pinned");
        } else {
            for tool in &changed {
                context.print(shown_diff(tool) + &findings::described(tool));
            }
            context.remark("to take a change: kitbag pins approve SERVER/TOOL");
        }
        Ok(if changed.iter().any(is_changed) { Exit::Drift } else { Exit::Done })
    })
}

fn approve(context: &mut Context, which: &[String]) -> Result<Exit, Failure> {
    with_tools(context, Look::Connected, which, async |context, kit, tools| {
        let listed = tools.iter().filter(|tool| tool.now.is_some());
        let keys: Vec<(ServerName, ToolName)> =
            listed.map(|tool| (tool.server.clone(), tool.tool.clone())).collect();
        if keys.is_empty() {
            return Err(
                Failure::new(Exit::Unavailable, "no server lists such a tool now").hint("kitbag status")
            );
        }
        let count = kit.approve_definitions(&keys).await.map_err(|error| refused(&error))?;
        told(context, "approved", count);
        Ok(Exit::Done)
    })
}

fn forget(context: &mut Context, which: &[String]) -> Result<Exit, Failure> {
    with_tools(context, Look::Remembered, which, async |context, kit, tools| {
        let count = kit.forget_definitions(&tools).await.map_err(|error| refused(&error))?;
        told(context, "forgotten", count);
        Ok(Exit::Done)
    })
}

fn told(context: &mut Context, what: &str, count: usize) {
    if context.global.json {
        context.print_json(&json!({ what: count }));
    } else {
        context.print(format!("{} {what}\n", plural(count, "definition")));
    }
}

fn style(status: PinStatus) -> clap::builder::styling::Style {
    match status {
        PinStatus::Approved => GOOD,
        PinStatus::Changed => BAD,
        PinStatus::Gone => ODD,
        PinStatus::Seen | PinStatus::New => DIM,
    }
}

/// What changed, line by line.
fn shown_diff(tool: &PinnedTool) -> String {
    let pretty = |text: &str| {
        serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| json::pretty(&value))
            + "\n"
    };
    let (then, now) = definitions(tool);
    let (then, now) = (pretty(&then), pretty(&now));
    let title = format!("{}/{}", tool.server, tool.tool);
    let diff = TextDiff::from_lines(&then, &now);
    let text = diff
        .unified_diff()
        .context_radius(2)
        .header(&format!("{title} (pinned)"), &format!("{title} (now)"))
        .to_string();
    let line = |line: &str| {
        let shown = visible(line);
        match line.chars().next() {
            Some('+') => styled(GOOD, shown),
            Some('-') => styled(BAD, shown),
            _ => shown,
        }
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

/// As pinned, and as it is now.
fn definitions(tool: &PinnedTool) -> (String, String) {
    let then = tool.pin.as_ref().map(|pin| pin.definition.clone()).unwrap_or_default();
    (then, tool.now.as_ref().map(|now| now.canonical_definition()).unwrap_or_default())
}

fn as_json(tool: &PinnedTool) -> Value {
    let (then, now) = definitions(tool);
    let value = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "server": tool.server.as_str(), "tool": tool.tool.as_str(), "state": tool.status.as_str(),
        "hash": tool.pin.as_ref().map(|pin| pin.hash.to_string()),
        "pinned": value(&then), "now": value(&now),
        "pinned_findings": findings::as_json(&tool.pinned_findings), "findings": findings::as_json(&tool.findings),
    })
}

/// The hash of every tool that is listed now, by server.
fn hashes(tools: &[PinnedTool]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut all: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for tool in tools {
        if let Some(now) = &tool.now {
            let hash = kitbag::store::Hash256::from_bytes(now.definition_hash()).to_string();
            all.entry(tool.server.to_string()).or_default().insert(tool.tool.to_string(), hash);
        }
    }
    all
}
