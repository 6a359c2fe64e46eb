//! `kitbag servers import`: servers of other programs, copied into Kitbag's own file.

use kitbag::files::Registry;
use kitbag::{ServerName, ServerSpec, Setup};
use kitbag_core::config::layers::{EntryState, Layer, MergedServer};
use kitbag_core::text::visible;

use super::{all_done, registry};
use crate::commands::overview::{short, target};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};
use crate::terminal::{confirm, is_interactive, lines, table};

mod choose;

use choose::Chosen;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only these servers
    names: Vec<String>,
    /// Every server found
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Only from these programs' files, such as claude or Cursor
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    from: Vec<String>,
    /// Import a server under another name; can be repeated
    #[arg(long, value_name = "OLD=NEW", value_parser = parse_rename)]
    rename: Vec<(String, String)>,
}

fn parse_rename(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("write the name it has and the name it gets: OLD=NEW".to_owned()),
    }
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    let hosts = kitbag::cli::known_hosts(&args.from)?;
    let from = |row: &&MergedServer| {
        let origins = || std::iter::once(&row.origin).chain(&row.also);
        hosts.is_empty() || hosts.contains("all") || origins().any(|origin| hosts.contains(origin.dialect))
    };
    // Naming a server for another name is naming it.
    let renamed = args.rename.iter().map(|(old, _)| old);
    let names: Vec<&String> = args.names.iter().chain(renamed.filter(|_| !args.all)).collect();
    let named = |row: &&MergedServer| names.is_empty() || names.contains(&&row.name);
    let rows: Vec<&MergedServer> = found(&setup).into_iter().filter(from).filter(named).collect();
    let asked = names.iter().copied().chain(args.rename.iter().map(|(old, _)| old));
    for name in asked {
        if !rows.iter().any(|row| row.name == *name) {
            let failure = Failure::new(Exit::NotFound, format!("no found server is called {name}"));
            return Err(failure.hint("`kitbag servers list` shows what was found"));
        }
    }
    if rows.is_empty() {
        context.remark("nothing to import: no servers were found in other programs' files");
        if context.global.json {
            context.print_json(&serde_json::Value::Array(Vec::new()));
        }
        return Ok(Exit::Done);
    }
    if names.is_empty() && !args.all {
        preview(context, &setup, &rows);
        if !is_interactive() {
            let failure = Failure::new(Exit::Usage, "nothing was imported");
            return Err(failure.hint("name the servers, or add --all"));
        }
        if !confirm("Import these servers?") {
            return Ok(Exit::Done);
        }
    }
    let user = context.user()?;
    let ours = |layer: &Layer| match (&user, layer) {
        (None, Layer::Shared) => true,
        (Some(user), Layer::User(owner)) => user == owner,
        _ => false,
    };
    let renames: Vec<(&str, ServerName)> = args
        .rename
        .iter()
        .map(|(old, new)| Ok((old.as_str(), server_name(new)?)))
        .collect::<Result<_, Failure>>()?;
    let chosen = choose::choose(&rows, &own_specs(&setup, ours), &renames)?;
    take(context, &registry(context, &setup)?, chosen)
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
    let own = own_specs(setup, |layer| *layer == Layer::Shared);
    let chosen = choose::choose(&rows, &own, &[])?;
    take(context, &Registry::shared(&setup.folders), chosen)
}

fn found(setup: &Setup) -> Vec<&MergedServer> {
    setup.merged.servers.iter().filter(|row| row.state == EntryState::Found).collect()
}

/// The names that are taken in the file written to, with what they stand for unless that is broken.
fn own_specs(setup: &Setup, is_ours: impl Fn(&Layer) -> bool) -> Vec<(&str, Option<&ServerSpec>)> {
    let ours = setup.merged.servers.iter().filter(|row| is_ours(&row.layer));
    ours.map(|row| (row.name.as_str(), row.spec.as_deref())).collect()
}

fn preview(context: &mut Context, setup: &Setup, rows: &[&MergedServer]) {
    let mut table = table();
    for row in rows {
        table.add_row([visible(&row.name), target(row), short(setup, &row.origin.place.file)]);
    }
    context.remark(lines(&table).trim_end());
}

/// Copies the servers, all or none.
fn take(context: &mut Context, registry: &Registry, chosen: Vec<Chosen<'_>>) -> Result<Exit, Failure> {
    let mut specs = Vec::new();
    for Chosen { row, spec, remark } in chosen {
        if let Some(remark) = remark {
            context.remark(format!("{} of {} {remark}", row.name, row.origin.place));
        }
        specs.extend(spec);
    }
    let files = registry.add_all(&specs)?;
    let taken: Vec<_> = specs.iter().map(|spec| &spec.name).zip(files).collect();
    all_done(context, "imported", &taken);
    Ok(Exit::Done)
}
