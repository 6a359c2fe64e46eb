//! What settings, and files that cannot be read, do to the servers that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::layers::{Merged, Server, State};
use kitbag_core::config::settings::Settings;
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind};

/// A file that is named after a server and cannot be read may have switched it off, or said who may have it: the
/// server of that name offers nothing until it can be.
pub(super) fn close_lost(merged: &mut Merged, lost: &[PathBuf]) {
    for file in lost {
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        for row in merged.servers.iter_mut().filter(|row| Some(row.name.as_str()) == stem) {
            let reason = format!("what {} says about it cannot be read", file.display());
            if let Some(spec) = &mut row.spec {
                Arc::make_mut(spec).rules.closed.get_or_insert(reason);
            }
        }
    }
}

/// What `[servers.x]` says about the servers that count.
pub(super) fn override_servers(merged: &mut Merged, file: &Path, settings: &Settings) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(reason) = &settings.all_servers {
        for spec in merged.servers.iter_mut().filter_map(|row| row.spec.as_mut()) {
            Arc::make_mut(spec).rules.closed.get_or_insert_with(|| reason.clone());
        }
    }
    for (name, over) in &settings.servers {
        let counts = |row: &Server| row.name == *name && matches!(row.state, State::Used | State::Disabled);
        let counting = merged.servers.iter().position(counts);
        let defined = merged.servers.iter().any(|row| row.name == *name);
        match counting.and_then(|index| merged.servers.get_mut(index)) {
            Some(Server { spec: Some(spec), state, .. }) => {
                let spec = Arc::make_mut(spec);
                spec.apply(&over.value);
                *state = if spec.enabled { State::Used } else { State::Disabled };
                spec.places.insert("settings", over.place.clone());
            }
            _ if defined => {}
            _ => {
                let near =
                    nearest(name, merged.servers.iter().map(|row| row.name.as_str())).map(str::to_owned);
                let fault = Fault::warning(
                    FaultKind::LooseToggle,
                    format!("[servers.{name}] speaks of a server that no file defines"),
                );
                let hint = near.map_or_else(
                    || format!("remove it from {}, or add the server", file.display()),
                    |near| format!("did you mean {near:?}?"),
                );
                faults.push(fault.hint(hint).at(over.place.clone()));
            }
        }
    }
    faults
}
