//! What only servers themselves can tell: whether each of them starts, how long that takes, what it speaks and has, and
//! which of its tools a provider would refuse.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use clap::builder::styling::Style;
use comfy_table::{CellAlignment, ColumnConstraint, Row};
use kitbag::connect::StartServers;
use kitbag::{
    Fault, Kitbag, LinkState, Mode, OpenOptions, PresentOptions, Provider, Reason, ServerStatus, Setup,
    Severity, View,
};
use kitbag_core::Stage;
use kitbag_core::model::Seconds;
use kitbag_core::text::visible;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::rules;
use crate::context::Context;
use crate::exit::Failure;
use crate::terminal::{BAD, DIM, GOOD, ODD, cell, lines, table};
use crate::{live, present, starting};

/// So wide that every usual time fits: the table looks the same from run to run.
const TIME: usize = 7;

/// What was found out.
pub(super) struct Checked {
    pub(super) rows: Vec<Server>,
    pub(super) faults: Vec<Fault>,
}

/// One server that was started.
pub(super) struct Server {
    status: ServerStatus,
    /// Until it was ready or it was known that it cannot be; of one that is never started, nothing.
    took: Option<Duration>,
    /// How many of its tools some provider would refuse.
    refused: usize,
}

/// Starts every server, waits for it as long as a first start may take, and looks at what it has.
pub(super) fn check(context: &mut Context, setup: Setup, providers: &[Provider]) -> Result<Checked, Failure> {
    let user = setup.user.clone();
    let most = setup.limits.wait_download + setup.limits.wait_list;
    let most = context.global.wait.unwrap_or(most);
    live::block_on(async {
        let options =
            OpenOptions { start: StartServers::AtOnce, ..crate::link_args::options(context, &setup)? };
        let kit = Kitbag::start(setup, options);
        let took = started(context, &kit, most).await;
        let checked = live::view(context, &kit, &user).map(|view| {
            let refused = refused(&kit, &view, providers);
            let server = |status: ServerStatus| Server {
                took: took.get(&status.name).copied(),
                refused: refused.iter().filter(|fault| is_tool_of(fault, &status.name)).count(),
                status,
            };
            let rows = kit.status().into_iter().filter(is_used).map(server).collect();
            let mut faults = live::beside(&view, &kit.faults());
            faults.extend(rules::of(&kit.setup(), &kit.snapshot()));
            faults.extend(refused);
            faults.extend(view.faults().iter().cloned());
            faults.extend(super::of_tools(&kit, &view));
            Checked { rows, faults }
        });
        kit.close_and_exit().await;
        checked
    })
}

/// Waits for all servers; how long each of them took.
async fn started(context: &mut Context, kit: &Kitbag, most: Duration) -> BTreeMap<String, Duration> {
    let began = Instant::now();
    let mut took = BTreeMap::new();
    let note = |took: &mut BTreeMap<String, Duration>, is_over: fn(&ServerStatus) -> bool| {
        let links = kit.links();
        let is_started = |row: &ServerStatus| links.iter().any(|link| link.name().as_str() == row.name);
        for row in kit.status().into_iter().filter(|row| is_over(row) && is_started(row)) {
            took.entry(row.name).or_insert_with(|| began.elapsed());
        }
    };
    let mut changes = kit.watch_status();
    let noting = async {
        loop {
            note(&mut took, has_settled);
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    tokio::select! {
        () = starting::wait(context, kit, most) => {}
        () = noting => {}
    }
    note(&mut took, |_| true);
    took
}

fn has_settled(row: &ServerStatus) -> bool {
    match row.status.state {
        LinkState::Ready => row.status.tools.is_some(),
        LinkState::Starting | LinkState::Reconnecting | LinkState::Idle => false,
        _ => true,
    }
}

/// Whether it is one that Kitbag starts.
fn is_used(row: &ServerStatus) -> bool {
    !matches!(row.status.state, LinkState::Disabled | LinkState::Held)
}

fn is_tool_of(fault: &Fault, server: &str) -> bool {
    fault.stage == Stage::Present
        && fault.tool.is_some()
        && fault.server.as_ref().is_some_and(|name| name.as_str() == server)
}

/// What these providers would not take of what the servers offer; of one alone also what it is told otherwise.
fn refused(kit: &Kitbag, view: &Arc<View>, providers: &[Provider]) -> Vec<Fault> {
    let mut all: Vec<(Vec<&'static str>, Fault)> = Vec::new();
    for provider in providers {
        let usual = kit.present_options(view.agent(), *provider);
        let audience = PresentOptions { mode: Mode::Native, servers: BTreeMap::new(), ..usual };
        for fault in present::faults(&kit.present(view, &audience)) {
            match all.iter_mut().find(|(_, known)| *known == fault) {
                Some((names, _)) => names.push(provider.as_str()),
                None => all.push((vec![provider.as_str()], fault)),
            }
        }
    }
    let is_one = providers.len() == 1;
    let told = all.into_iter().filter(|(_, fault)| is_one || Severity::Warning <= fault.severity);
    told.map(|(names, fault)| {
        let whose = match names.len() {
            _ if is_one => String::new(),
            all if all == providers.len() => " (every provider)".to_owned(),
            _ => format!(" ({})", names.join(", ")),
        };
        // All that is asked for here is worth being shown.
        let severity = fault.severity.max(Severity::Warning);
        Fault { severity, message: format!("{}{whose}", fault.message), ..fault }
    })
    .collect()
}

/// One line a server.
pub(super) fn as_table(rows: &[Server]) -> String {
    let mut table = table();
    table.set_header(["SERVER", "STATE", "PROTOCOL", "TIME", "TOOLS", "REFUSED"]);
    for server in rows {
        let status = &server.status.status;
        let mut row = Row::from([
            visible(&server.status.name).into(),
            cell(style(status.state), status.state.as_str()),
            protocol(server).into(),
            server
                .took
                .map(|took| format!("{:>TIME$}", Seconds(took).to_string()))
                .unwrap_or_default()
                .into(),
            status.tools.map(|tools| tools.to_string()).unwrap_or_default().into(),
            match server.refused {
                0 => String::new().into(),
                refused => cell(ODD, refused),
            },
        ]);
        row.max_height(1);
        table.add_row(row);
    }
    for (number, column) in table.column_iter_mut().enumerate().skip(1) {
        column.set_constraint(ColumnConstraint::ContentWidth);
        if 3 <= number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if rows.is_empty() { String::new() } else { lines(&table) + "\n" }
}

fn style(state: LinkState) -> Style {
    match state {
        LinkState::Ready => GOOD,
        LinkState::Failed => BAD,
        LinkState::Idle | LinkState::Stopped => DIM,
        _ => ODD,
    }
}

/// The version that is spoken, and of which era that is.
fn protocol(server: &Server) -> String {
    let status = &server.status.status;
    let version = status.version.as_deref().unwrap_or_default();
    let era = status.era.map(|era| format!(" {era}")).unwrap_or_default();
    format!("{version}{era}").trim().to_owned()
}

pub(super) fn as_json(server: &Server) -> Value {
    let status = &server.status.status;
    json!({
        "server": server.status.name,
        "state": status.state.as_str(),
        "era": status.version,
        "protocol": status.era,
        "took_ms": server.took.map(|took| took.as_millis() as u64),
        "tools": status.tools,
        "left_out": server.status.left_out,
        "refused": server.refused,
        "error": status.reason().map(Reason::to_string),
        "hint": status.reason().and_then(|reason| reason.hint.clone()),
    })
}
