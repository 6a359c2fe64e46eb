//! `kitbag servers import`: servers of other programs, copied into Kitbag's own file.

use kitbag::config::layers::{Server, State};
use kitbag::registry::{Registry, RegistryError};
use kitbag::text::visible;
use kitbag::{ServerSpec, Setup};

use super::{all_done, registry};
use crate::commands::overview::{short, target};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::terminal::{confirm, is_interactive, lines, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers
    names: Vec<String>,
    /// Every server found
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Only from this program's files
    #[arg(long, value_name = "PROGRAM")]
    from: Option<String>,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    if let Some(host) = &args.from {
        kitbag::setup::check_hosts(std::slice::from_ref(host))?;
    }
    let from = |row: &&Server| args.from.as_deref().is_none_or(|host| row.origin.dialect == host);
    let named = |row: &&Server| args.names.is_empty() || args.names.contains(&row.name);
    let rows: Vec<&Server> = found(&setup).into_iter().filter(from).filter(named).collect();
    if let Some(missing) = args.names.iter().find(|name| !rows.iter().any(|row| row.name == **name)) {
        let failure = Failure::new(Exit::NotFound, format!("no found server is called {missing}"));
        return Err(failure.hint("`kitbag servers list` shows what was found"));
    }
    if rows.is_empty() {
        context.remark("nothing to import: no servers were found in other programs' files");
        if context.global.json {
            context.print_json(&serde_json::Value::Array(Vec::new()));
        }
        return Ok(Exit::Done);
    }
    if args.names.is_empty() && !args.all {
        preview(context, &setup, &rows);
        if !is_interactive() {
            let failure = Failure::new(Exit::Usage, "nothing was imported");
            return Err(failure.hint("name the servers, or add --all"));
        }
        if !confirm("Import these servers?") {
            return Ok(Exit::Done);
        }
    }
    take(context, &registry(context, &setup)?, &rows)
}

/// The offer a first run makes.
pub(crate) fn offer(context: &mut Context, setup: &Setup) -> Result<Exit, Failure> {
    let rows = found(setup);
    context.remark("");
    preview(context, setup, &rows);
    if !confirm("Use these servers with Kitbag? They are copied into its own file; nothing else is changed.")
    {
        return Ok(Exit::Done);
    }
    take(context, &Registry::shared(&setup.folders), &rows)
}

fn found(setup: &Setup) -> Vec<&Server> {
    setup.merged.servers.iter().filter(|row| row.state == State::Found).collect()
}

fn preview(context: &mut Context, setup: &Setup, rows: &[&Server]) {
    let mut table = table();
    for row in rows {
        table.add_row([visible(&row.name), target(row), short(setup, &row.origin.place.file)]);
    }
    context.remark(lines(&table).trim_end());
}

/// Copies the servers; two programs may use one name for different things, then the first one stays.
fn take(context: &mut Context, registry: &Registry, rows: &[&Server]) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let mut taken = Vec::new();
    let specs: Vec<&ServerSpec> = rows.iter().filter_map(|row| row.spec.as_deref()).collect();
    for spec in specs {
        match registry.add(spec) {
            Ok(file) => taken.push((&spec.name, file)),
            Err(error @ RegistryError::Duplicate { .. }) => {
                context.remark(format!("left out {} of {}: {error}", spec.name, spec.origin.place));
                exit = Exit::Config;
            }
            Err(error) => return Err(error.into()),
        }
    }
    all_done(context, "imported", &taken);
    Ok(exit)
}
