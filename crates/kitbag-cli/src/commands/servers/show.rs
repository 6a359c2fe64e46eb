//! `kitbag servers show`.

use kitbag::{ServerName, ServerSpec, Setup};
use kitbag_core::config::layers::MergedServer;
use kitbag_core::model::{Timeout, Timeouts};
use kitbag_core::text::{nearest, visible};
use serde_json::{Value, json};

use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{DIM, TITLE, styled};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let name = server_name(&args.name)?;
    let setup = context.setup()?;
    let row = find(&setup, &name)?;
    if context.global.json {
        let mut value = json::server_in_full(row);
        value["clocks"] = clocks_json(&setup, row);
        context.print_json(&value);
        return Ok(Exit::Done);
    }
    let mut text = describe(row) + &clocks(&setup, row);
    for origin in &row.also {
        text += &format!("  {} {}\n", styled(DIM, "also in"), visible(&origin.place.to_string()));
    }
    context.print(text);
    context.faults(&row.faults);
    Ok(Exit::Done)
}

/// How long the server may take for each thing, and which key says so.
fn clocks(setup: &Setup, row: &MergedServer) -> String {
    let Some(spec) = &row.spec else { return String::new() };
    let all = Timeouts::of(spec, &setup.limits);
    format!(
        "  timeouts = connect {}, list {}, call {}, silence {}\n",
        all.connect, all.list, all.total, all.idle
    )
}

fn clocks_json(setup: &Setup, row: &MergedServer) -> Value {
    let Some(spec) = &row.spec else { return Value::Null };
    let all = Timeouts::of(spec, &setup.limits);
    let clock = |clock: Timeout| json!({"time_ms": clock.time.as_millis() as u64, "set_by": clock.set_by});
    json!({
        "connect": clock(all.connect), "list": clock(all.list),
        "idle": clock(all.idle), "total": clock(all.total),
    })
}

/// The row that counts for a name.
pub(crate) fn find<'a>(setup: &'a Setup, name: &ServerName) -> Result<&'a MergedServer, Failure> {
    setup.merged.get(name).ok_or_else(|| {
        let near = nearest(name.as_str(), setup.merged.servers.iter().map(|row| row.name.as_str()));
        let failure = Failure::new(Exit::NotFound, format!("no server is called {name}"));
        failure.hint(
            near.map_or_else(
                || "kitbag servers list".to_owned(),
                |near| format!("kitbag servers show {near}"),
            ),
        )
    })
}

/// A server's values, each with the place it stands in.
pub(crate) fn describe(row: &MergedServer) -> String {
    describe_values(row, row.spec.as_deref().into_iter().flat_map(ServerSpec::shown))
}

/// The same for somebody who decides whether it may run.
pub(crate) fn describe_for_review(row: &MergedServer) -> String {
    describe_values(row, row.spec.as_deref().into_iter().flat_map(ServerSpec::shown_for_review))
}

fn describe_values(row: &MergedServer, values: impl Iterator<Item = (String, Value)>) -> String {
    let mut text = format!(
        "{} ({}, {})\n",
        styled(TITLE, visible(&row.name)),
        row.state.as_str(),
        visible(&row.origin.place.to_string())
    );
    for (key, value) in values {
        let place = row.spec.as_ref().and_then(|spec| spec.places.get(key.trim_end_matches("_ms")));
        let place = place
            .map(|place| styled(DIM, format!("  # {}", visible(&place.to_string()))))
            .unwrap_or_default();
        for (shown, last) in shown_lines(&key, &value) {
            text += &format!("  {shown}{}\n", if last { place.as_str() } else { "" });
        }
    }
    text
}

/// A value as lines: a map's pairs get a line each.
fn shown_lines(key: &str, value: &Value) -> Vec<(String, bool)> {
    match value {
        Value::Object(map) => {
            let last = map.len();
            let line = |(index, (name, value)): (usize, (&String, &Value))| {
                (format!("{key}.{} = {}", visible(name), plain(value)), index + 1 == last)
            };
            map.iter().enumerate().map(line).collect()
        }
        other => vec![(format!("{key} = {}", plain(other)), true)],
    }
}

fn plain(value: &Value) -> String {
    visible(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
