//! `kitbag status`: the state of every server, after giving each the time it may take.

use std::time::SystemTime;

use clap::builder::styling::Style;
use comfy_table::{Row, Table};
use kitbag::guard::{self, LingeringDownload};
use kitbag::{Fault, FaultKind, Kitbag, LinkState, OpenOptions, Reason, ServerStatus, Severity};
use kitbag_core::text::{one_line, rfc3339, visible};
use serde_json::{Value, json};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::link_args::{self, LinkArgs};
use crate::terminal::{BAD, DIM, GOOD, ODD, below, cell, keep_whole, lines, table};
use crate::{json, live, starting};

const EXAMPLES: &str = "\
Examples:
  kitbag status                every server, with the most important note of each
  kitbag status github         one server, with all notes about its tools
  kitbag status --watch        print again on every change";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only these servers, with all their notes
    servers: Vec<String>,
    /// Go on watching and print whenever something changes
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    link: LinkArgs,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = link_args::setup_in_use(context, &args.link)?;
    live::say_if_off(context, &setup);
    for text in &args.servers {
        super::servers::find(&setup, &server_name(text)?)?;
    }
    let wait = starting::how_long(context, &setup.limits);
    let only = Some(context.chosen.clone()).filter(|chosen| !chosen.is_empty());
    let options = OpenOptions { only: only.clone(), ..link_args::options(context, &setup)? };
    live::block_on(async {
        let kit = Kitbag::start(setup, options);
        kit.wait(wait).await;
        let rows = || {
            let mut rows = kit.status();
            rows.retain(|row| args.servers.is_empty() || args.servers.contains(&row.name));
            let is_chosen = |row: &ServerStatus| {
                only.as_ref().is_none_or(|only| only.iter().any(|name| name.as_str() == row.name))
            };
            rows.retain(is_chosen);
            rows
        };
        let how_many =
            if args.servers.is_empty() && !context.global.verbose { Notes::First } else { Notes::All };
        print(context, &rows(), how_many);
        let mut changes = kit.watch_status();
        let mut before = summary(&rows());
        while args.watch && !context.is_broken() && changes.changed().await.is_ok() {
            let now = rows();
            if summary(&now) != before {
                before = summary(&now);
                print(context, &now, how_many);
            }
        }
        kit.close_and_exit().await;
        Ok(Exit::Done)
    })
}

/// How many notes of a server are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notes {
    /// How many there are, and the first.
    First,
    All,
}

fn summary(rows: &[ServerStatus]) -> Vec<(LinkState, u32, Option<usize>, usize)> {
    let of = |row: &ServerStatus| (row.status.state, row.status.restarts, row.status.tools, row.notes.len());
    rows.iter().map(of).collect()
}

fn print(context: &mut Context, rows: &[ServerStatus], how_many: Notes) {
    if context.global.json {
        let lingering = guard::lingering();
        context.print_json(&rows.iter().map(|row| as_json(row, &lingering)).collect());
        return;
    }
    if rows.is_empty() {
        context.remark("no servers are configured; `kitbag servers add` adds one");
        return;
    }
    let mut table = table();
    table.set_header(["SERVER", "STATE", "TRANSPORT", "VERSION", "TOOLS", "RESTARTS"]);
    for row in rows {
        let status = &row.status;
        let style = match status.state {
            LinkState::Ready => GOOD,
            LinkState::Failed => BAD,
            LinkState::Disabled | LinkState::Idle | LinkState::Stopped => DIM,
            _ => ODD,
        };
        let mut line = Row::from([
            visible(&row.name).into(),
            cell(style, status.state.as_str()),
            transport(row).unwrap_or_default().into(),
            status.version.clone().unwrap_or_default().into(),
            tools(row).into(),
            status.restarts.to_string().into(),
        ]);
        line.max_height(1);
        table.add_row(line);
    }
    keep_whole(&mut table, &[1, 2, 3, 4, 5]);
    // Every row is one line, so what is wrong can stand below its own.
    let own = lines(&table);
    let mut own = own.lines();
    let mut text = own.next().map(|title| format!("{title}\n")).unwrap_or_default();
    for (line, row) in own.zip(rows) {
        text += &format!("{line}\n{}", trouble(row));
    }
    let lingering = guard::lingering();
    for download in rows.iter().filter_map(|row| download_of(&lingering, row)) {
        text += &format!(
            "\n {}: the download of an earlier command goes on (pid {}, at most start_linger)\n",
            visible(&download.server),
            download.pid
        );
    }
    let notes = notes(context, rows, how_many);
    if 0 < notes.row_count() {
        text += &format!("\n{}", lines(&notes));
    }
    context.print(text);
}

/// Why a server cannot be used, and what to do about it. One that is well has notes at most, and those stand at the end.
fn trouble(row: &ServerStatus) -> String {
    let reason = row.status.reason().filter(|_| row.status.state != LinkState::Ready);
    let Some(reason) = reason else { return String::new() };
    let mut text = below(BAD, &one_line(&reason.to_string()));
    if let Some(hint) = &reason.hint {
        text += &below(DIM, &format!("try: {}", one_line(hint)));
    }
    text
}

/// How many tools can be used, and how many were left out.
fn tools(row: &ServerStatus) -> String {
    let tools = row.status.tools.map(|tools| tools.to_string()).unwrap_or_default();
    match row.left_out {
        0 => tools,
        left_out => format!("{tools} ({left_out} left out)"),
    }
}

/// What is worth knowing of the servers' lists and tools, the worst first. Who asks for the first of each server hears
/// neither of mere notes nor of what stands in its row.
fn notes(context: &Context, rows: &[ServerStatus], how_many: Notes) -> Table {
    let mut table = table();
    let is_short = |note: &&Fault| Severity::Warning <= note.severity && note.kind != FaultKind::ListFailed;
    for row in rows {
        let name = visible(&row.name);
        let mut told: Vec<&Fault> =
            row.notes.iter().filter(|note| how_many == Notes::All || is_short(note)).collect();
        told.sort_by_key(|note| std::cmp::Reverse(note.severity));
        let more = told.len().saturating_sub(1);
        let shown = if how_many == Notes::All { told.len() } else { told.len().min(1) };
        for note in &told[..shown] {
            let mut text = format!("{name}: {}", one_line(&note.message));
            if let Some(hint) = &note.hint {
                text += &format!(" ({})", one_line(hint));
            }
            let mut line = vec![cell(style(note), note.severity.as_str())];
            if how_many == Notes::All {
                line.push(cell(DIM, note.kind.as_str()));
            } else if 0 < more {
                let command = context.to_type(&format!("kitbag status {name}"));
                text += &format!(" (and {more} more: {command})");
            }
            line.push(text.into());
            table.add_row(line);
        }
    }
    table
}

fn style(note: &Fault) -> Style {
    match note.severity {
        Severity::Error => BAD,
        Severity::Warning => ODD,
        _ => DIM,
    }
}

/// The download of a server that an earlier command left behind.
fn download_of<'a>(all: &'a [LingeringDownload], row: &ServerStatus) -> Option<&'a LingeringDownload> {
    all.iter().find(|download| download.server == row.name)
}

fn as_json(row: &ServerStatus, lingering: &[LingeringDownload]) -> Value {
    let status = &row.status;
    json!({
        "server": row.name,
        "state": status.state.as_str(),
        "era": status.version,
        "transport": transport(row),
        "protocol": status.era,
        "session": status.session,
        "auth_required": status.auth_required(),
        "tools": status.tools,
        "error": status.reason().map(Reason::to_string),
        "reason": status.reason().map(reason),
        "next_try": status.next_try.map(time),
        "calls_refused_until": status.calls_refused_until.map(time),
        "restarts": status.restarts,
        "since": time(status.since),
        "last_good": status.last_good.map(time),
        "noise": status.noise,
        "pid": status.pid,
        "downloading": status.downloading,
        "stderr": status.stderr,
        "lingering_pid": download_of(lingering, row).map(|download| download.pid),
        "keeping": status.keeping,
        "listed": status.listed.map(time),
        "left_out": row.left_out,
        "notes": row.notes.iter().map(json::note).collect::<Vec<_>>(),
    })
}

fn reason(reason: &Reason) -> Value {
    let Reason { class, root, address, hint, .. } = reason;
    json!({"class": class.as_str(), "root": root, "address": address, "hint": hint})
}

/// As it is really spoken to, else as it is configured.
fn transport(row: &ServerStatus) -> Option<&'static str> {
    row.status.transport.or(row.transport.map(|transport| transport.as_str()))
}

fn time(time: SystemTime) -> String {
    rfc3339(time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}
