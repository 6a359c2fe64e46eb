//! `kitbag servers list`.

use comfy_table::{Cell, Row};
use kitbag::{Setup, Severity};
use kitbag_core::config::layers::{EntryState, MergedServer};
use kitbag_core::text::{one_line, visible};
use serde_json::Value;

use crate::commands::overview::{short, target};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{
    BAD, DIM, GOOD, ODD, SHORTEST_PATH, below, cell, keep_whole, lines, path_within, plural, table, width,
};

/// What the columns STATE and VIA take with all gaps.
const STATE_AND_VIA: usize = 8 + 5 + 10;

/// How far lines below a row are indented, with a blank at their end.
const BELOW: usize = 8;

/// What each word of the column STATE means.
pub(super) const STATES: &str = "\
States:
  used      Kitbag starts it or connects to it
  disabled  switched off; `kitbag servers enable` switches it on
  held      defined in the working folder and not approved yet; `kitbag trust` approves it
  found     defined in another program's file and not used; `kitbag servers import` copies it
  shadowed  replaced by a server of the same name in a later file
  foreign   runs inside another program and cannot be used here
  broken    its entry has an error; `kitbag doctor` shows it";

pub(super) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let rows = &setup.merged.servers;
    if context.global.json {
        let values: Vec<Value> = rows.iter().map(json::server).collect();
        context.print_json(&Value::Array(values));
    } else if rows.is_empty() {
        context.remark("no servers found; `kitbag servers add` adds one");
    } else {
        let text = describe(&setup, rows);
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

/// A line each where everything fits; else more, so that neither a command nor a path is broken.
fn describe(setup: &Setup, rows: &[MergedServer]) -> String {
    let texts: Vec<[String; 3]> =
        rows.iter().map(|row| [visible(&row.name), what(row), place(setup, row)]).collect();
    let widest =
        |column: usize| texts.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let room = width().unwrap_or(usize::MAX).saturating_sub(widest(0) + STATE_AND_VIA);
    // What stands beside the name, and what below it.
    let (beside, below): (&[usize], &[usize]) = if widest(1) + widest(2) <= room {
        (&[1, 2], &[])
    } else if SHORTEST_PATH <= room {
        (&[2], &[1])
    } else {
        (&[], &[1, 2])
    };
    let mut table = table();
    let titles = ["NAME", "TARGET", "FROM"];
    table.set_header(["NAME", "STATE", "VIA"].into_iter().chain(beside.iter().map(|column| titles[*column])));
    for (row, texts) in rows.iter().zip(&texts) {
        let via = row.spec.as_ref().map_or("", |spec| spec.transport().as_str());
        let text = |column: &usize| match (*column, beside.len()) {
            (2, 1) => path_within(&texts[2], room).into(),
            (column, _) => Cell::from(&texts[column]),
        };
        let start = [(&texts[0]).into(), state(row.state), via.into()];
        let mut line = Row::from(start.into_iter().chain(beside.iter().map(text)).collect::<Vec<Cell>>());
        line.max_height(1);
        table.add_row(line);
    }
    keep_whole(&mut table, &[0, 1, 2, 3, 4]);
    let own = lines(&table);
    let mut own = own.lines();
    let title = own.next().map(|title| format!("{title}\n"));
    let more = texts.iter().map(|texts| further(texts, below));
    title.into_iter().chain(own.zip(more).map(|(line, more)| format!("{line}\n{more}"))).collect()
}

/// What stands below a row.
fn further(texts: &[String; 3], columns: &[usize]) -> String {
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(BELOW));
    let text = |column: &usize| match column {
        2 => path_within(&texts[2], room),
        column => texts[*column].clone(),
    };
    columns.iter().map(text).filter(|text| !text.is_empty()).map(|text| below(DIM, &text)).collect()
}

/// What is started or reached, or why it cannot be.
fn what(row: &MergedServer) -> String {
    let worst = row.faults.iter().max_by_key(|fault| fault.severity);
    match row.state {
        EntryState::Broken | EntryState::Foreign => {
            worst.map(|fault| one_line(&fault.message)).unwrap_or_default()
        }
        _ => target(row),
    }
}

fn place(setup: &Setup, row: &MergedServer) -> String {
    let place = format!("{}:{}", short(setup, &row.origin.place.file), row.origin.place.line);
    place.trim_end_matches(":0").to_owned()
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
