//! Many documents, one set of servers. Later layers win; what loses is still listed, with the reason.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{Document, Toggle};
use crate::fault::{Fault, FaultKind, Severity};
use crate::model::{Origin, ServerSpec};
use crate::names::{ServerName, UserId};

#[cfg(test)]
mod tests;

/// Where a document stands among the others, lowest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Another program's file.
    Host(&'static str),
    /// Kitbag's own, for everybody.
    Shared,
    /// The working folder's.
    Project,
    /// One user's own.
    User(UserId),
    /// An environment variable.
    Env,
    /// The command line.
    Flags,
}

impl Layer {
    /// The word used in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Host(_) => "host",
            Self::Shared => "shared",
            Self::Project => "project",
            Self::User(_) => "user",
            Self::Env => "env",
            Self::Flags => "flags",
        }
    }

    /// Files only Kitbag writes; a switch there is the user's own word.
    fn is_own(&self) -> bool {
        matches!(self, Self::Shared | Self::User(_) | Self::Flags)
    }
}

/// What Kitbag does with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// It is used.
    Used,
    /// It is switched off.
    Disabled,
    /// It comes from the working folder and nobody approved it.
    Held,
    /// It starts a package without a version, and the policy wants one.
    Unpinned,
    /// It was found in another program's file and is not used.
    Found,
    /// A later layer says something else under the same name.
    Shadowed,
    /// It lives inside another program.
    Foreign,
    /// It cannot be used.
    Broken,
}

impl EntryState {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Disabled => "disabled",
            Self::Held | Self::Unpinned => "held",
            Self::Found => "found",
            Self::Shadowed => "shadowed",
            Self::Foreign => "foreign",
            Self::Broken => "broken",
        }
    }
}

/// One document in its layer.
#[derive(Clone, Debug)]
pub struct Layered {
    /// Which layer.
    pub layer: Layer,
    /// Whether its servers may be used, or are only listed.
    pub used: bool,
    /// Whose file it is, when it is one user's own.
    pub user: Option<UserId>,
    /// What it holds.
    pub document: Document,
}

/// One row of what was found.
#[derive(Clone, Debug)]
pub struct MergedServer {
    /// Its name as written.
    pub name: String,
    /// Which layer it comes from.
    pub layer: Layer,
    /// Whose it is, when it stands in one user's own file.
    pub user: Option<UserId>,
    /// What Kitbag does with it.
    pub state: EntryState,
    /// Where it stands.
    pub origin: Origin,
    /// Where else the same thing stands.
    pub also: Vec<Origin>,
    /// The server, unless it is broken.
    pub spec: Option<Arc<ServerSpec>>,
    /// What is wrong or odd about it.
    pub faults: Vec<Fault>,
}

/// Everything that was found, merged.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// All rows: the used ones first, by name, then the others in the order found.
    pub servers: Vec<MergedServer>,
    /// Faults that belong to no row.
    pub faults: Vec<Fault>,
}

/// Merges documents. `is_approved` is asked for every server of the project layer.
pub fn merge(documents: Vec<Layered>, is_approved: &dyn Fn(&ServerSpec) -> bool) -> Merged {
    let mut documents = documents;
    documents.sort_by(|a, b| a.layer.cmp(&b.layer)); // Stable: within a layer the order read decides.
    let mut merged = Merged::default();
    let mut toggles: Vec<(Layer, Toggle)> = Vec::new();
    let mut rows: Vec<(Say, MergedServer)> = Vec::new();
    for Layered { layer, used, user, document } in documents {
        let mut document = document;
        if !used {
            calm(&mut document);
        }
        merged.faults.extend(document.faults);
        if used && layer != Layer::Project {
            toggles.extend(document.toggles.into_iter().map(|toggle| (layer.clone(), toggle)));
        }
        for loaded in document.servers {
            let origin = Origin { dialect: document.dialect.id, place: loaded.place };
            let state = state(&layer, used, loaded.spec.as_ref(), &loaded.faults, is_approved);
            let say = match state {
                EntryState::Used | EntryState::Disabled => Say::Counts,
                // A mistake in a file that may decide hides what is below it; in any other it is only shown.
                EntryState::Broken if used && layer != Layer::Project => Say::Counts,
                _ => Say::None,
            };
            let row = MergedServer {
                name: loaded.name,
                layer: layer.clone(),
                user: user.clone(),
                state,
                origin,
                also: Vec::new(),
                spec: loaded.spec.map(Arc::new),
                faults: loaded.faults,
            };
            rows.push((say, row));
        }
    }
    let mut rows = settle(rows);
    switch(&mut rows, &toggles, &mut merged.faults);
    merged.servers = sorted(rows);
    merged
}

/// By rank and name. A row is large: sorting moves small keys, and then every row once.
fn sorted(rows: Vec<MergedServer>) -> Vec<MergedServer> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let key = |index: &usize| rows.get(*index).map(|row| (rank(row.state), row.name.as_str()));
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut rows: Vec<Option<MergedServer>> = rows.into_iter().map(Some).collect();
    order.into_iter().filter_map(|index| rows.get_mut(index)?.take()).collect()
}

/// What is wrong with a file that is not used is no more than a warning.
fn calm(document: &mut Document) {
    let faults =
        document.faults.iter_mut().chain(document.servers.iter_mut().flat_map(|loaded| &mut loaded.faults));
    for fault in faults {
        fault.severity = fault.severity.min(Severity::Warning);
    }
}

fn state(
    layer: &Layer,
    used: bool,
    spec: Option<&ServerSpec>,
    faults: &[Fault],
    is_approved: &dyn Fn(&ServerSpec) -> bool,
) -> EntryState {
    match spec {
        None if faults.iter().any(|fault| fault.severity != Severity::Note) => EntryState::Broken,
        None => EntryState::Foreign,
        Some(_) if !used => EntryState::Found,
        // An unapproved file may show a server but not move one: it neither wins nor switches.
        Some(spec) if *layer == Layer::Project && !is_approved(spec) => EntryState::Held,
        Some(spec) if !spec.enabled => EntryState::Disabled,
        Some(_) => EntryState::Used,
    }
}

/// Whether a row has a say in which server of its name is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Say {
    Counts,
    None,
}

/// What is already known of one name.
#[derive(Default)]
struct Known {
    /// Whether a row of it takes part, so that lower ones do not.
    taken: bool,
    /// Whether there is a row that could equal another.
    seen: bool,
    /// The only row so far: most names stand once, and need no fingerprint.
    only: Option<usize>,
    /// Its rows by fingerprint, once there are several; of each at most one a state.
    rows: HashMap<String, Vec<usize>>,
}

/// Of several servers with one name the last layer's counts; equal ones become one row with several origins.
fn settle(rows: Vec<(Say, MergedServer)>) -> Vec<MergedServer> {
    let mut kept: Vec<MergedServer> = Vec::with_capacity(rows.len());
    let mut by_name: HashMap<String, Known> = HashMap::new();
    for (say, mut row) in rows.into_iter().rev() {
        let known = by_name.entry(row.name.clone()).or_default();
        if let Some(only) = known.only.take()
            && let Some(spec) = kept.get(only).and_then(|row| row.spec.as_ref())
        {
            known.rows.entry(spec.fingerprint()).or_default().push(only);
        }
        if row.spec.is_some() && !known.seen {
            known.only = Some(kept.len());
        } else if let Some(spec) = &row.spec {
            let same = known.rows.entry(spec.fingerprint()).or_default();
            let winner =
                same.iter().find(|index| kept.get(**index).is_some_and(|w| joins(w.state, row.state)));
            if let Some(winner) = winner.and_then(|index| kept.get_mut(*index)) {
                winner.also.push(row.origin);
                continue;
            }
            same.push(kept.len());
        }
        known.seen |= row.spec.is_some();
        if say == Say::Counts {
            if known.taken && row.state != EntryState::Broken {
                row.state = EntryState::Shadowed;
            }
            known.taken = true;
        }
        kept.push(row);
    }
    kept.reverse();
    kept
}

/// Whether a lower row adds nothing to the one above it. A held or found row never swallows a used one.
fn joins(winner: EntryState, lower: EntryState) -> bool {
    match winner {
        EntryState::Used | EntryState::Disabled => true,
        _ => winner == lower,
    }
}

/// Applies the switches. One in Kitbag's own files counts for whatever server has the name; one in another
/// program's file only for servers of its own layer or below.
fn switch(rows: &mut [MergedServer], toggles: &[(Layer, Toggle)], faults: &mut Vec<Fault>) {
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, row) in rows.iter().enumerate().filter(|_| !toggles.is_empty()) {
        by_name.entry(row.name.clone()).or_default().push(index);
    }
    for (layer, toggle) in toggles {
        let named = by_name.get(toggle.name.as_str()).map(Vec::as_slice).unwrap_or_default();
        for index in named {
            let Some(row) = rows.get_mut(*index) else { continue };
            let reaches = layer.is_own() || row.layer <= *layer;
            let live = matches!(row.state, EntryState::Used | EntryState::Disabled);
            if let Some(spec) = row.spec.as_mut().filter(|_| reaches && live) {
                let spec = Arc::make_mut(spec);
                spec.enabled = toggle.enabled;
                spec.places.insert("enabled", toggle.place.clone());
                row.state = if toggle.enabled { EntryState::Used } else { EntryState::Disabled };
            }
        }
        if named.is_empty() {
            let message = format!(
                "switches {} {}, but no file defines it",
                toggle.name,
                if toggle.enabled { "on" } else { "off" }
            );
            let fault = Fault::warning(FaultKind::LooseToggle, message)
                .hint("remove the entry, or add \"command\" or \"url\"");
            faults.push(fault.of(&toggle.name).at(toggle.place.clone()));
        }
    }
}

fn rank(state: EntryState) -> u8 {
    match state {
        EntryState::Used | EntryState::Disabled => 0,
        EntryState::Broken => 1,
        EntryState::Held | EntryState::Unpinned => 2,
        EntryState::Found => 3,
        EntryState::Foreign => 4,
        EntryState::Shadowed => 5,
    }
}

impl Merged {
    /// The servers that are used, in order of name.
    pub fn used(&self) -> impl Iterator<Item = &ServerSpec> {
        self.servers.iter().filter(|row| row.state == EntryState::Used).filter_map(|row| row.spec.as_deref())
    }

    /// The row that counts for a name: used, switched off or broken before held, held before found.
    pub fn get(&self, name: &ServerName) -> Option<&MergedServer> {
        self.servers.iter().find(|row| row.name == name.as_str())
    }
}
