//! `kitbag tools`: what every server offers, by the name a model calls it.

use kitbag::text::visible;
use kitbag::{Kitbag, Options, ToolRow};
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
        let rows = kit.tools();
        if context.global.json {
            context.print_json(&rows.iter().map(as_json).collect());
        } else {
            print(context, &rows);
        }
        context.faults(&faults);
        kit.close().await;
        Ok(if rows.is_empty() && !faults.is_empty() { Exit::Unavailable } else { Exit::Done })
    })
}

fn print(context: &mut Context, rows: &[ToolRow]) {
    let mut table = table();
    for row in rows {
        let definition: Value = serde_json::from_str(row.tool.raw.get()).unwrap_or_default();
        let text = definition["description"].as_str().or(definition["title"].as_str()).unwrap_or_default();
        let first: String = text.lines().next().unwrap_or_default().chars().take(160).collect();
        table.add_row([
            cell(if row.available { clap::builder::styling::Style::new() } else { DIM }, row.shown.as_str()),
            visible(&first).into(),
        ]);
    }
    let text = lines(&table);
    context.print(text);
}

fn as_json(row: &ToolRow) -> Value {
    let definition: Value = serde_json::from_str(row.tool.raw.get()).unwrap_or_default();
    json!({
        "name": row.shown.as_str(),
        "server": row.server.as_str(),
        "tool": row.tool.name.as_str(),
        "description": definition["description"],
        "input_schema": definition["inputSchema"],
        "output_schema": definition["outputSchema"],
        "title": definition["title"],
        "annotations": definition["annotations"],
        "available": row.available,
    })
}
