//! `kitbag tools`: what every server offers, by the name a model calls it.

use kitbag::shape::{Shown, View};
use kitbag::text::visible;
use kitbag::{Kitbag, Options};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::live;
use crate::terminal::{DIM, cell, lines, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only of these servers
    servers: Vec<String>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    live::say_if_off(context, &setup);
    let only: Option<Vec<_>> = (!args.servers.is_empty())
        .then(|| args.servers.iter().map(|name| crate::context::server_name(name)).collect::<Result<_, _>>())
        .transpose()?;
    for name in only.iter().flatten() {
        super::servers::find(&setup, name)?;
    }
    let options = Options { wait: context.global.wait, only, eager: true, ..Options::default() };
    live::block_on(async {
        let (kit, faults) = Kitbag::open_with(setup, options).await?;
        let view = kit.local_view();
        let rows: Vec<&Shown> = view.tools().iter().map(AsRef::as_ref).filter(|row| is_theirs(row)).collect();
        if context.global.json {
            context.print_json(&rows.iter().map(|row| as_json(&view, row)).collect());
        } else {
            print(context, &view, &rows);
        }
        context.faults(&faults);
        context.faults(view.faults());
        kit.close().await;
        Ok(if rows.is_empty() && !faults.is_empty() { Exit::Unavailable } else { Exit::Done })
    })
}

/// What reads on in results is at hand everywhere and belongs to no server.
fn is_theirs(row: &Shown) -> bool {
    row.name.as_str() != kitbag::execute::READ_RESULT
}

fn print(context: &mut Context, view: &View, rows: &[&Shown]) {
    let mut table = table();
    for row in rows {
        let text = [&row.tool.description, row.tool.title.as_deref().unwrap_or_default()];
        let text = text.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
        let first: String = text.lines().next().unwrap_or_default().chars().take(160).collect();
        let style = if view.is_available(row) { clap::builder::styling::Style::new() } else { DIM };
        table.add_row([cell(style, row.name.as_str()), visible(&first).into()]);
    }
    let text = lines(&table);
    context.print(text);
}

fn as_json(view: &View, row: &Shown) -> Value {
    let tool = &row.tool;
    json!({
        "name": row.name.as_str(),
        "server": tool.server.as_str(),
        "tool": tool.name.as_str(),
        "description": tool.description,
        "input_schema": tool.input.as_ref(),
        "output_schema": tool.output.as_deref(),
        "title": tool.title,
        "annotations": tool.raw.get("annotations"),
        "category": tool.category,
        "available": view.is_available(row),
    })
}
