//! What settings, and files that cannot be read, do to the servers that were found.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::layers::{EntryState, Layer, Merged, MergedServer};
use kitbag_core::config::settings::{Located, Settings};
use kitbag_core::model::{Overrides, UnpinnedPackage};
use kitbag_core::text::all_nearest;
use kitbag_core::{Fault, FaultKind};

/// A file that cannot be read, and never could be.
pub(super) enum Lost {
    /// Of one server, which it is named after.
    One(PathBuf),
    /// Of any servers.
    Many(Layer, PathBuf),
}

/// What cannot be read may have switched servers off, or said who may have them: these offer nothing until it can be.
/// That is the server a file is named after, or those that a switch in a file counts for. The file of another program
/// is taken to speak of that program's servers only.
pub(super) fn close_lost(merged: &mut Merged, lost: &[Lost]) {
    for lost in lost {
        let (Lost::One(file) | Lost::Many(_, file)) = lost;
        let stem = file.file_stem().and_then(|stem| stem.to_str());
        let reason = format!("what {} says about it cannot be read", file.display());
        close(merged, &reason, |row| match lost {
            Lost::One(_) => Some(row.name.as_str()) == stem,
            Lost::Many(Layer::Host(host), _) => row.layer == Layer::Host(host),
            Lost::Many(..) => true,
        });
    }
}

/// What `[servers.x]` says about the servers that count.
pub(super) fn override_servers(merged: &mut Merged, settings: &Settings) {
    if let Some(reason) = &settings.all_servers {
        close(merged, reason, |_| true);
    }
    for (name, over) in &settings.servers {
        let row = merged.servers.iter_mut().find(|row| row.name == *name && counts(row));
        if let Some(MergedServer { spec: Some(spec), state, .. }) = row {
            let spec = Arc::make_mut(spec);
            spec.apply(&over.value);
            *state = if spec.enabled { EntryState::Used } else { EntryState::Disabled };
            spec.places.insert("settings", over.place.clone());
        }
    }
}

/// Holds the servers that would start a package or an image without a version, where a file wants one.
pub(super) fn hold_unpinned(merged: &mut Merged, settings: &[(PathBuf, Settings)]) {
    let Some((file, _)) = settings.iter().find(|(_, settings)| settings.pinned_only) else { return };
    for row in merged.servers.iter_mut().filter(|row| row.state == EntryState::Used) {
        let Some(spec) = &row.spec else { continue };
        let Some(UnpinnedPackage { package, write }) = spec.unpinned() else { continue };
        let message = format!(
            "{package:?} has no fixed version and is not started: pinned_only under [policy] in {}",
            file.display()
        );
        let place = spec.places.get("args").unwrap_or(&spec.origin.place).clone();
        let hint = format!("write the version, such as {write:?}");
        row.state = EntryState::Unpinned;
        row.faults.push(Fault::warning(FaultKind::Unpinned, message).hint(hint).of(&spec.name).at(place));
    }
}

/// What is said about servers that no file defines. They may be elsewhere; but where a restriction is a slip away from
/// servers that are here, it could have been meant for these, and they offer nothing.
pub(super) fn loose_overrides(merged: &mut Merged, file: &Path, settings: &Settings) -> Vec<Fault> {
    let is_loose = |name: &str| merged.servers.iter().all(|row| row.name != name);
    let loose: Vec<_> = settings.servers.iter().filter(|(name, _)| is_loose(name)).collect();
    loose.into_iter().map(|(name, over)| loose_override(merged, file, name, over)).collect()
}

fn loose_override(merged: &mut Merged, file: &Path, name: &str, over: &Located<Overrides>) -> Fault {
    let near = |is_meant: fn(&MergedServer) -> bool| -> Vec<String> {
        let names = merged.servers.iter().filter(|row| is_meant(row)).map(|row| row.name.as_str());
        all_nearest(name, names).into_iter().map(str::to_owned).collect()
    };
    let message = format!("[servers.{name}] speaks of a server that no file defines");
    let meant = if over.value.restricts() { near(counts) } else { Vec::new() };
    if !meant.is_empty() {
        let reason = format!("[servers.{name}] may be meant for it ({})", over.place);
        close(merged, &reason, |row| meant.contains(&row.name));
        let message = format!("{message} and may be meant for {}, which offers no tool", meant.join(" or "));
        let hint = format!("correct the name, or remove it from {}", file.display());
        return Fault::error(FaultKind::LooseToggle, message).hint(hint).at(over.place.clone());
    }
    let hint = near(|_| true).first().map_or_else(
        || format!("remove it from {}, or add the server", file.display()),
        |near| format!("did you mean {near:?}?"),
    );
    Fault::warning(FaultKind::LooseToggle, message).hint(hint).at(over.place.clone())
}

/// Whether settings have a say about a row.
fn counts(row: &MergedServer) -> bool {
    matches!(row.state, EntryState::Used | EntryState::Disabled)
}

/// Closes servers; the first reason stays.
fn close(merged: &mut Merged, reason: &str, is_meant: impl Fn(&MergedServer) -> bool) {
    for row in merged.servers.iter_mut().filter(|row| is_meant(row)) {
        if let Some(spec) = &mut row.spec {
            Arc::make_mut(spec).rules.closed.get_or_insert_with(|| reason.to_owned());
        }
    }
}
