//! Why a server that was asked for by name is not used, and the command that changes that.

use kitbag::{FaultKind, ServerName, Setup};
use kitbag_core::config::layers::EntryState;

use crate::exit::{Exit, Failure};

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
