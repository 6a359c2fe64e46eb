//! Why a server that was asked for by name is not used, and the command that changes that.

use kitbag::cli::speaks_of;
use kitbag::{FaultKind, ServerName, Setup};
use kitbag_core::config::layers::{EntryState, MergedServer};

use crate::context::Context;
use crate::exit::{Exit, Failure};

/// Says which of the servers that are asked for are not used, and why; an error where none of them is.
pub(crate) fn all(context: &mut Context, setup: &Setup, asked: &[ServerName]) -> Option<Failure> {
    let mut unused: Vec<Failure> = asked.iter().filter_map(|name| why(setup, name)).collect();
    let first = (!unused.is_empty() && unused.len() == asked.len()).then(|| unused.remove(0));
    unused.iter().for_each(|failure| context.failed(failure));
    first
}

/// None where it is used, or nobody knows it.
pub(crate) fn why(setup: &Setup, name: &ServerName) -> Option<Failure> {
    let row = setup.merged.get(name)?;
    let failed = |exit, why: &str| Failure::new(exit, format!("{name} {why}"));
    Some(match row.state {
        EntryState::Used | EntryState::Shadowed => return None,
        EntryState::Disabled => {
            failed(Exit::Unavailable, "is disabled").hint(format!("kitbag servers enable {name}"))
        }
        EntryState::Held => {
            failed(Exit::Held, "comes from the working folder and is not trusted yet").hint("kitbag trust")
        }
        EntryState::Found => failed(Exit::Unavailable, "is another program's server and is not used")
            .hint(format!("kitbag servers import {name}")),
        EntryState::Foreign => {
            failed(Exit::Unavailable, "runs inside another program and cannot be used here")
        }
        EntryState::Unpinned => {
            let fault = row.faults.iter().find(|fault| fault.kind == FaultKind::Unpinned);
            let why = fault.map_or("has no fixed version", |fault| fault.message.as_str());
            let hint = fault.and_then(|fault| fault.hint.clone());
            failed(Exit::Held, &format!("is held: {why}")).hint(hint.unwrap_or_default())
        }
        EntryState::Broken => {
            let fault = row.faults.iter().max_by_key(|fault| fault.severity);
            let why = fault.map_or_else(String::new, |fault| format!(": {}", fault.message));
            failed(Exit::Config, &format!("cannot be used{why}")).hint("kitbag doctor")
        }
    })
}

/// The same for a tool's name, where it is the name of a tool of such a server and of no other.
pub(crate) fn why_tool(setup: &Setup, name: &str) -> Option<Failure> {
    let parsed = |row: &MergedServer| ServerName::parse(&row.name).ok();
    let means = |row: &&MergedServer| parsed(row).is_some_and(|server| speaks_of(&server, name));
    let mut rows = setup.merged.servers.iter().filter(means).peekable();
    let listed = setup.catalog.iter().any(|part| speaks_of(&part.server, name));
    rows.peek()?;
    let all: Vec<&MergedServer> = rows.collect();
    if listed || all.iter().any(|row| row.state == EntryState::Used) {
        return None;
    }
    all.into_iter().find_map(|row| why(setup, &parsed(row)?))
}

/// The same before anything is started, for a name in the form `server/tool`: no other server can have such a tool.
pub(crate) fn why_written(setup: &Setup, name: &str) -> Option<Failure> {
    let begins =
        |row: &MergedServer| name.strip_prefix(row.name.as_str()).is_some_and(|rest| rest.starts_with('/'));
    setup.merged.servers.iter().any(begins).then(|| why_tool(setup, name))?
}
