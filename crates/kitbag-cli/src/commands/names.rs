//! `kitbag names`: the names that were given to tools and are kept for them.

use kitbag::Setup;
use kitbag::cli::{HeldName, NamesFiles};
use kitbag_core::text::{nearest, visible};
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{DIM, cell, lines, plural, table};

const EXAMPLES: &str = "\
Examples:
  kitbag names                       every name that is kept, and whose it is
  kitbag names free mcp_fs_read      give it, and the other forms of it, anew
  kitbag names free fs/read          the same, by server and tool
  kitbag names free --removed        names of servers that are no longer configured

A name is kept for its tool for ever, with the configuration (names.json), so that prompts and
scripts stay valid. New names are given at the next start in place of freed ones. A server for which as many names
are kept as the limit `names` says gets names with a hash for new tools.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Free names
    Free(Free),
}

#[derive(Debug, clap::Args)]
struct Free {
    /// Names, or server/tool
    #[arg(value_name = "NAME", required_unless_present = "removed")]
    names: Vec<String>,
    /// Those of servers that are no longer configured
    #[arg(long)]
    removed: bool,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let Some(files) = NamesFiles::of(&setup) else {
        let failure = Failure::new(Exit::Usage, "no names are kept for --config and --catalog");
        return Err(failure.hint("kitbag names"));
    };
    match &args.command {
        None => list(context, &setup, &files),
        Some(Command::Free(args)) => free(context, &setup, &files, args),
    }
}

fn list(context: &mut Context, setup: &Setup, files: &NamesFiles) -> Result<Exit, Failure> {
    let held = files.load();
    if context.global.json {
        let row = |held: &HeldName| {
            json!({
                "name": held.name, "server": held.server, "tool": held.tool, "form": held.form,
                "configured": is_configured(setup, &held.server),
            })
        };
        context.print_json(&held.all().iter().map(row).collect::<Value>());
    } else {
        let mut table = table();
        table.set_header(["NAME", "SERVER", "TOOL", "FORM"]);
        let all = held.all();
        for held in &all {
            let style = if is_configured(setup, &held.server) { Default::default() } else { DIM };
            let cells = [&held.name, &held.server, &held.tool, &held.form];
            table.add_row(cells.map(|text| cell(style, visible(text))));
        }
        if all.is_empty() {
            context.remark("no names are kept yet: they are once servers have listed their tools");
        } else {
            let text = lines(&table);
            context.print(text);
        }
    }
    context.faults(&held.faults);
    Ok(if held.faults.is_empty() { Exit::Done } else { Exit::Config })
}

fn free(context: &mut Context, setup: &Setup, files: &NamesFiles, args: &Free) -> Result<Exit, Failure> {
    let is_meant =
        |text: &str, held: &HeldName| held.name == text || format!("{}/{}", held.server, held.tool) == text;
    let held = files.load().all();
    if let Some(unknown) = args.names.iter().find(|text| !held.iter().any(|held| is_meant(text, held))) {
        let failure = Failure::new(Exit::NotFound, format!("no name {unknown:?} is kept"));
        let near = nearest(unknown, held.iter().map(|held| held.name.as_str()));
        return Err(
            failure.hint(near.map_or("kitbag names".to_owned(), |near| format!("kitbag names free {near}")))
        );
    }
    let freed = files.free(|held| {
        args.names.iter().any(|text| is_meant(text, held))
            || args.removed && !is_configured(setup, &held.server)
    })?;
    if context.global.json {
        context.print_json(&json!({ "freed": freed }));
        return Ok(Exit::Done);
    }
    for name in &freed {
        context.print(format!("{}\n", visible(name)));
    }
    context.remark(format!("{} freed; new names are given at the next start", plural(freed.len(), "name")));
    Ok(Exit::Done)
}

fn is_configured(setup: &Setup, server: &str) -> bool {
    setup.merged.servers.iter().any(|row| row.name == server)
}
