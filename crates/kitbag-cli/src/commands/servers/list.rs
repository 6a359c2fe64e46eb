//! `kitbag servers list`.

use comfy_table::Cell;
use kitbag::Severity;
use kitbag_core::config::layers::EntryState;
use kitbag_core::text::{one_line, visible};
use serde_json::Value;

use crate::commands::overview::{short, target};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{BAD, DIM, GOOD, ODD, cell, lines, plural, table};

pub(super) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let rows = &setup.merged.servers;
    if context.global.json {
        let values: Vec<Value> = rows.iter().map(json::server).collect();
        context.print_json(&Value::Array(values));
    } else if rows.is_empty() {
        context.remark("no servers found; `kitbag servers add` adds one");
    } else {
        let mut table = table();
        table.set_header(["NAME", "STATE", "VIA", "TARGET", "FROM"]);
        for row in rows {
            let via = row.spec.as_ref().map_or("", |spec| spec.transport().as_str());
            let place = format!("{}:{}", short(&setup, &row.origin.place.file), row.origin.place.line);
            let place = place.trim_end_matches(":0").to_owned();
            let worst = row.faults.iter().max_by_key(|fault| fault.severity);
            let what = match row.state {
                EntryState::Broken | EntryState::Foreign => {
                    worst.map(|fault| one_line(&fault.message)).unwrap_or_default()
                }
                _ => target(row),
            };
            table.add_row([
                visible(&row.name).into(),
                state(row.state),
                via.into(),
                what.into(),
                place.into(),
            ]);
        }
        let text = lines(&table);
        context.print(text);
        let marked = rows
            .iter()
            .flat_map(|row| &row.faults)
            .filter(|fault| Severity::Warning <= fault.severity)
            .count();
        if 0 < marked {
            context
                .remark(format!("{} in these entries; `kitbag doctor` shows them", plural(marked, "fault")));
        }
    }
    context.faults(&setup.merged.faults);
    // Named files that hold nothing usable are a failure; anything else is a list.
    let nothing = !context.global.config.is_empty() && rows.iter().all(|row| row.spec.is_none());
    let broken = setup.faults().any(|fault| fault.severity == Severity::Error);
    Ok(if nothing && broken { Exit::Config } else { Exit::Done })
}

fn state(state: EntryState) -> Cell {
    let style = match state {
        EntryState::Used => GOOD,
        EntryState::Broken => BAD,
        EntryState::Held | EntryState::Unpinned => ODD,
        _ => DIM,
    };
    cell(style, state.as_str())
}
