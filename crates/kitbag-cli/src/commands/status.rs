//! `kitbag status`: how every server is, after giving each the time it may take.

use std::time::SystemTime;

use kitbag::connect::{LinkState, Reason};
use kitbag::text::{rfc3339, visible};
use kitbag::{Kitbag, Options, ServerStatus};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;
use crate::terminal::{BAD, DIM, GOOD, ODD, cell, lines, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Go on watching and print whenever something changes
    #[arg(long)]
    watch: bool,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let wait = context.global.wait.unwrap_or(setup.limits.wait_agent);
    live::block_on(async {
        let kit = Kitbag::start(setup, Options::default());
        kit.wait(wait).await;
        print(context, &kit.status());
        let mut changes = kit.watch_status();
        let mut before = summary(&kit.status());
        while args.watch && !context.is_broken() && changes.changed().await.is_ok() {
            let now = kit.status();
            if summary(&now) != before {
                before = summary(&now);
                print(context, &now);
            }
        }
        kit.close().await;
        Ok(Exit::Done)
    })
}

fn summary(rows: &[ServerStatus]) -> Vec<(LinkState, u32, Option<usize>)> {
    rows.iter().map(|row| (row.status.state, row.status.restarts, row.status.tools)).collect()
}

fn print(context: &mut Context, rows: &[ServerStatus]) {
    if context.global.json {
        context.print_json(&rows.iter().map(as_json).collect());
        return;
    }
    if rows.is_empty() {
        context.remark("no servers are configured; `kitbag servers add` adds one");
        return;
    }
    let mut table = table();
    table.set_header(["SERVER", "STATE", "TRANSPORT", "VERSION", "TOOLS", "RESTARTS", "ERROR"]);
    for row in rows {
        let status = &row.status;
        let style = match status.state {
            LinkState::Ready => GOOD,
            LinkState::Failed => BAD,
            LinkState::Disabled | LinkState::Idle | LinkState::Stopped => DIM,
            _ => ODD,
        };
        table.add_row([
            visible(&row.name).into(),
            cell(style, status.state.as_str()),
            transport(row).unwrap_or_default().into(),
            status.version.clone().unwrap_or_default().into(),
            status.tools.map(|tools| tools.to_string()).unwrap_or_default().into(),
            status.restarts.to_string().into(),
            status.reason().map(|reason| visible(&reason.to_string())).unwrap_or_default().into(),
        ]);
    }
    let text = lines(&table);
    context.print(text);
}

fn as_json(row: &ServerStatus) -> Value {
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
        "restarts": status.restarts,
        "since": time(status.since),
        "last_good": status.last_good.map(time),
        "noise": status.noise,
        "pid": status.pid,
        "keeping": status.keeping,
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
