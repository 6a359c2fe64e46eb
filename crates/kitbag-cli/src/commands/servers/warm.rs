//! `kitbag servers warm`: starts servers and waits for them, so that what has to be downloaded is there afterwards.

use std::time::Duration;

use kitbag::connect::StartServers;
use kitbag::{Kitbag, LinkState, OpenOptions, Reason, ServerStatus};
use kitbag_core::model::Seconds;
use kitbag_core::text::visible;
use serde_json::{Value, json};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::terminal::{BAD, GOOD, plural, styled};
use crate::{live, starting, unused};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers
    names: Vec<String>,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let mut only = Vec::new();
    for text in &args.names {
        let name = server_name(text)?;
        super::find(&setup, &name)?;
        only.push(name);
    }
    if let Some(failure) = unused::all(context, &setup, &only) {
        return Err(failure);
    }
    let only = (!only.is_empty()).then_some(only);
    let most = setup.limits.wait_download + setup.limits.wait_list;
    let most = context.global.wait.unwrap_or(most);
    live::block_on(async {
        let began = tokio::time::Instant::now();
        let options = crate::link_args::options(context, &setup)?;
        let kit = Kitbag::start(setup, OpenOptions { only, start: StartServers::AtOnce, ..options });
        starting::wait(context, &kit, most).await;
        let rows: Vec<ServerStatus> = kit.status().into_iter().filter(|row| is_asked(args, row)).collect();
        print(context, &rows, began.elapsed());
        kit.close_and_exit().await;
        let is_away = |row: &ServerStatus| !row.status.state.is_connected();
        Ok(if rows.iter().filter(|row| is_used(row)).any(is_away) { Exit::Unavailable } else { Exit::Done })
    })
}

fn is_asked(args: &Args, row: &ServerStatus) -> bool {
    is_used(row) && (args.names.is_empty() || args.names.contains(&row.name))
}

/// Whether it is one that Kitbag starts.
fn is_used(row: &ServerStatus) -> bool {
    !matches!(row.status.state, LinkState::Disabled | LinkState::Held)
}

fn print(context: &mut Context, rows: &[ServerStatus], took: Duration) {
    if context.global.json {
        return context.print_json(&rows.iter().map(as_json).collect());
    }
    if rows.is_empty() {
        return context.remark("no servers are configured; `kitbag servers add` adds one");
    }
    for row in rows {
        let status = &row.status;
        let state = status.state.as_str();
        let text = match (status.state.is_connected(), status.reason()) {
            (true, _) => {
                let tools = plural(status.tools.unwrap_or_default(), "tool");
                format!("{} {tools}", styled(GOOD, state))
            }
            (false, Some(reason)) => format!("{} {}", styled(BAD, state), visible(&reason.to_string())),
            (false, None) => format!("{} after {}", styled(BAD, state), Seconds(took)),
        };
        context.print(format!("{}: {text}\n", visible(&row.name)));
        if let Some(hint) = status.reason().and_then(|reason| reason.hint.as_ref()) {
            context.remark(format!("  try: {hint}"));
        }
    }
}

fn as_json(row: &ServerStatus) -> Value {
    json!({
        "server": row.name,
        "state": row.status.state.as_str(),
        "tools": row.status.tools,
        "error": row.status.reason().map(Reason::to_string),
        "hint": row.status.reason().and_then(|reason| reason.hint.clone()),
    })
}
