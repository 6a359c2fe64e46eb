//! `kitbag config`: the merged view, every value with its origin, and every place that was looked at.

use kitbag::{FaultKind, Setup};
use kitbag_core::config::layers::EntryState;
use kitbag_core::config::settings::json_schema;
use kitbag_core::config::{EntryKey, entry_keys, kept_keys};
use kitbag_core::text::visible;
use serde_json::{Value, json};

use super::servers::describe;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{DIM, TITLE, cell, lines, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print the JSON Schema of kitbag.toml
    #[arg(long)]
    schema: bool,
    /// Print the codes of faults and notes as a Markdown table
    #[arg(long, hide = true)]
    codes: bool,
    /// Print the keys of a server's entry as JSON
    #[arg(long, hide = true)]
    keys: bool,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    if args.schema {
        context.print_json(&json_schema());
        return Ok(Exit::Done);
    }
    if args.codes {
        context.print(codes());
        return Ok(Exit::Done);
    }
    if args.keys {
        context.print_json(&keys());
        return Ok(Exit::Done);
    }
    let setup = context.setup()?;
    if context.global.json {
        context.print_json(&as_json(&setup));
    } else {
        let text = as_text(&setup, context.global.verbose);
        context.print(text);
    }
    context.faults(&setup.merged.faults);
    Ok(Exit::Done)
}

/// The table in `docs/json.md`, which is generated from this.
fn codes() -> String {
    let row = |kind: &FaultKind| format!("| `{}` | {} |\n", kind.as_str(), kind.about());
    format!("| code | meaning |\n|---|---|\n{}", FaultKind::ALL.iter().map(row).collect::<String>())
}

/// What `docs/config.md` says about the entries of servers, which is generated from this.
fn keys() -> Value {
    let row =
        |key: &EntryKey| json!({"key": key.key, "also": key.also, "value": key.value, "what": key.what});
    json!({"entry": entry_keys().iter().map(row).collect::<Vec<_>>(), "kept": kept_keys()})
}

fn as_json(setup: &Setup) -> Value {
    let searched = setup.searched.iter().map(|place| {
        json!({"file": place.file.to_string_lossy(), "layer": place.layer.as_str(), "exists": place.exists})
    });
    json!({
        "user": setup.user.as_str(),
        "switched_on": setup.switched_on,
        "folders": {
            "config": setup.folders.config.to_string_lossy(),
            "state": setup.folders.state.to_string_lossy(),
            "cache": setup.folders.cache.to_string_lossy(),
        },
        "servers": setup.merged.servers.iter().map(json::server_in_full).collect::<Vec<_>>(),
        "searched": searched.collect::<Vec<_>>(),
    })
}

fn as_text(setup: &Setup, verbose: bool) -> String {
    let mut text =
        format!("{} {}\n", styled(DIM, "config folder"), visible(&setup.folders.config.to_string_lossy()));
    text += &format!("{} {}\n", styled(DIM, "user"), setup.user);
    for row in setup
        .merged
        .servers
        .iter()
        .filter(|row| verbose || matches!(row.state, EntryState::Used | EntryState::Disabled))
    {
        text += "\n";
        text += &describe(row);
    }
    text += &format!("\n{}\n", styled(TITLE, "Files, lowest layer first"));
    let mut places: Vec<_> = setup.searched.iter().filter(|place| verbose || place.exists).collect();
    places.sort_by(|a, b| a.layer.cmp(&b.layer));
    let mut table = table();
    for place in places {
        let there = if place.exists { "" } else { "not there" };
        table.add_row([
            cell(DIM, place.layer.as_str()),
            visible(&place.file.to_string_lossy()).into(),
            there.into(),
        ]);
    }
    text + &lines(&table)
}
