//! `kitbag` alone: what was found and where, what is used, held or broken and why, and what to type next.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Row;
use kitbag::spec::ServerTarget;
use kitbag::{Fault, Setup, Severity};
use kitbag_core::config::Dialect;
use kitbag_core::config::layers::{EntryState, Layer, MergedServer};
use kitbag_core::model::Defaults;
use kitbag_core::text::visible;
use serde_json::json;

use super::doctor::known_faults;
use super::servers::import;
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::{
    BAD, DIM, GOOD, ODD, TITLE, is_interactive, keep_whole, lines, path_end, plural, styled, table, width,
};

/// So much of a command is shown where no terminal says how wide it is.
const PIPED: usize = 60;

/// So much of a name is shown on the narrowest terminal.
const MOST_NAME: usize = 12;

pub(crate) fn run(context: &mut Context) -> Result<Exit, Failure> {
    let setup = context.setup()?;
    if context.global.json {
        let found =
            setup.searched.iter().filter(|place| place.exists).map(|place| place.file.to_string_lossy());
        let value = json!({
            "switched_on": setup.switched_on,
            "user": setup.user.as_str(),
            "servers": setup.merged.servers.iter().map(json::server).collect::<Vec<_>>(),
            "faults": setup.merged.faults.iter().map(json::fault).collect::<Vec<_>>(),
            "files": found.collect::<Vec<_>>(),
        });
        context.print_json(&value);
        return Ok(Exit::Done);
    }
    let text = describe(&setup);
    context.print(text);
    offer_import(context, &setup)
}

fn describe(setup: &Setup) -> String {
    let mut text = format!("{} {}\n", styled(TITLE, "Kitbag"), env!("CARGO_PKG_VERSION"));
    if !setup.switched_on {
        text += &format!(
            "\n{}\n",
            styled(ODD, "MCP is switched off by AGENT_ENABLE_MCP: agents run without these servers.")
        );
    }
    section(&mut text, setup, "used", "Servers in use", &[EntryState::Used]);
    section(&mut text, setup, "off", "Switched off", &[EntryState::Disabled]);
    section(&mut text, setup, "held", "Held until you approve them", &[EntryState::Held]);
    section(&mut text, setup, "held", "Held until they have a version", &[EntryState::Unpinned]);
    broken(&mut text, setup);
    found(&mut text, setup);
    if setup.merged.servers.is_empty() {
        let looked = setup.searched.len();
        let _ = write!(
            text,
            "\nNo MCP servers found; looked in {looked} places (kitbag config --verbose lists them).\n"
        );
    }
    let faults = known_faults(setup);
    problems(&mut text, &faults);
    next(&mut text, setup, &faults);
    text
}

/// How a server is reached, in one line without secrets.
pub(crate) fn target(row: &MergedServer) -> String {
    match row.spec.as_ref().map(|spec| (&spec.link, spec.shown_args(Defaults::Masked))) {
        None | Some((ServerTarget::InProcess(_), _)) => String::new(),
        Some((ServerTarget::Remote(endpoint), _)) => visible(&endpoint.url.shown_as_url(Defaults::Masked)),
        Some((ServerTarget::Stdio(program), args)) => {
            let command = program.command.iter().map(|text| text.shown_as_text(Defaults::Masked));
            visible(&command.chain(args).collect::<Vec<_>>().join(" "))
        }
    }
}

/// A path as people say it.
pub(crate) fn short(setup: &Setup, file: &Path) -> String {
    let home = setup.env().home().and_then(|home| file.strip_prefix(home).ok());
    let here = file.strip_prefix(setup.env().cwd()).ok();
    visible(&match (here, home) {
        (Some(here), _) => format!("./{}", here.display()),
        (None, Some(home)) => format!("~/{}", home.display()),
        (None, None) => file.display().to_string(),
    })
}

fn section(text: &mut String, setup: &Setup, mark: &str, title: &str, states: &[EntryState]) {
    let rows: Vec<&MergedServer> =
        setup.merged.servers.iter().filter(|row| states.contains(&row.state)).collect();
    if rows.is_empty() {
        return;
    }
    let style = if mark == "used" { GOOD } else { ODD };
    let place = |row: &MergedServer| short(setup, &row.origin.place.file);
    // What all of them share stands in the title, once.
    let shared =
        rows.first().map(|row| place(row)).filter(|first| rows.iter().all(|row| place(row) == *first));
    let from =
        shared.as_ref().map(|place| styled(DIM, format!(" from {}", path_end(place)))).unwrap_or_default();
    let _ = write!(text, "\n{} ({}){from}\n", styled(style, title), rows.len());
    let mut table = table();
    for row in rows {
        let transport = row.spec.as_ref().map_or("", |spec| spec.transport().as_str());
        let mut cells = vec![name(row), transport.to_owned(), clip(&target(row), width().unwrap_or(PIPED))];
        if shared.is_none() {
            cells.push(path_end(&place(row)));
        }
        // One line each; `kitbag servers` has all of it.
        let mut line = Row::from(cells);
        line.max_height(1);
        table.add_row(line);
    }
    keep_whole(&mut table, &[0, 1, 3]);
    text.push_str(&lines(&table));
}

fn broken(text: &mut String, setup: &Setup) {
    let rows: Vec<&MergedServer> = setup
        .merged
        .servers
        .iter()
        .filter(|row| row.state == EntryState::Broken && !is_foreign(row))
        .collect();
    if rows.is_empty() {
        return;
    }
    let _ = write!(text, "\n{} ({})\n", styled(BAD, "Broken"), rows.len());
    let mut table = table();
    for row in rows {
        let worst = row.faults.iter().max_by_key(|fault| fault.severity);
        let place = worst.and_then(|fault| fault.place.as_ref()).unwrap_or(&row.origin.place);
        let at = path_end(&format!("{}:{}", short(setup, &place.file), place.line));
        table.add_row([name(row), worst.map(|fault| visible(&fault.message)).unwrap_or_default(), at]);
    }
    keep_whole(&mut table, &[0, 2]);
    text.push_str(&lines(&table));
}

/// Other programs' files that are not used, a line each.
fn found(text: &mut String, setup: &Setup) {
    let mut files: Vec<(&Path, &'static str, Vec<String>)> = Vec::new();
    for row in setup.merged.servers.iter().filter(|row| row.state == EntryState::Found) {
        let file = &*row.origin.place.file;
        match files.iter_mut().find(|(known, ..)| *known == file) {
            Some((_, _, names)) => names.push(visible(&row.name)),
            None => files.push((file, row.origin.dialect, vec![visible(&row.name)])),
        }
    }
    if files.is_empty() {
        return;
    }
    let count: usize = files.iter().map(|(.., names)| names.len()).sum();
    let _ = write!(text, "\n{} ({count})\n", styled(TITLE, "Found in other programs, not used"));
    let mut table = table();
    for (file, dialect, names) in files {
        let title = Dialect::by_id(dialect).map_or(dialect, |dialect| dialect.title);
        table.add_row([title.to_owned(), clip(&names.join(", "), 60), path_end(&short(setup, file))]);
    }
    keep_whole(&mut table, &[0, 2]);
    text.push_str(&lines(&table));
}

fn problems(text: &mut String, faults: &[Fault]) {
    let count = |severity: Severity| faults.iter().filter(|fault| fault.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if 0 < errors + warnings {
        let line = format!("{}, {}", plural(errors, "error"), plural(warnings, "warning"));
        let style = if 0 < errors { BAD } else { ODD };
        let _ = write!(text, "\n{}\n", styled(style, line));
    }
}

fn next(text: &mut String, setup: &Setup, faults: &[Fault]) {
    let has = |state: EntryState| setup.merged.servers.iter().any(|row| row.state == state);
    let mut steps: Vec<(&str, &str)> = Vec::new();
    if setup.merged.servers.is_empty() {
        steps.push(("kitbag tools --demo", "see three small tools that need no server"));
        steps.push(("kitbag call clock --demo", "call one of them"));
    }
    if has(EntryState::Held) || setup.held_settings().next().is_some() {
        steps.push(("kitbag trust", "look at what this folder would start, and approve it"));
    }
    if has(EntryState::Found) {
        steps.push(("kitbag servers import", "take over servers of other programs"));
    }
    if faults.iter().any(|fault| Severity::Warning <= fault.severity) {
        steps.push(("kitbag doctor", "see what is wrong, and what to write instead"));
    }
    if !has(EntryState::Used) {
        steps.push(("kitbag servers add time -- uvx mcp-server-time", "add a first server"));
    } else {
        steps.push(("kitbag tools", "see every tool of every server"));
        steps.push(("kitbag status", "see the state of every server, and why"));
        steps.push(("kitbag servers", "see every server and where it comes from"));
    }
    let _ = write!(text, "\n{}\n", styled(TITLE, "Next"));
    let mut table = table();
    for (command, why) in steps {
        table.add_row([command, why]);
    }
    text.push_str(&lines(&table));
}

/// On a terminal, the first time, with nothing of its own: offer what was found.
fn offer_import(context: &mut Context, setup: &Setup) -> Result<Exit, Failure> {
    let first = !setup.folders.registry().exists() && context.global.config.is_empty();
    let found = setup.merged.servers.iter().any(|row| row.state == EntryState::Found);
    if first && found && setup.used().next().is_none() && is_interactive() && !context.global.quiet {
        return import::offer(context, setup);
    }
    Ok(Exit::Done)
}

/// Broken entries in files that are not used are other programs' business.
fn is_foreign(row: &MergedServer) -> bool {
    matches!(row.layer, Layer::Host(_)) && row.faults.iter().all(|fault| fault.severity < Severity::Error)
}

/// A name that leaves room for the rest of its line.
fn name(row: &MergedServer) -> String {
    clip(&visible(&row.name), width().map_or(usize::MAX, |width| width / 3).max(MOST_NAME))
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
