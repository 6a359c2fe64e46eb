//! Which server takes the calls of another one that is not available, as far as the files can be followed.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::config::layers::{EntryState, MergedServer as Row};
use kitbag_core::model::FallbackServer;
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, ServerName, ServerSpec, Stage};

use super::Setup;

/// Which server takes the calls of which other one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fallbacks {
    /// By the server that may not be available.
    pub by_server: BTreeMap<ServerName, ServerName>,
    /// What cannot be followed, and why.
    pub faults: Vec<Fault>,
}

impl Setup {
    /// Which server takes the calls of which other one. What leads nowhere, back to where it began, or to a server that is
    /// somebody else's, is a fault, and nothing comes of it.
    pub fn fallbacks(&self) -> Fallbacks {
        let mut found = Fallbacks::default();
        let mut written = Vec::new();
        for row in self.merged.servers.iter().filter(|row| row.state == EntryState::Used) {
            let Some(spec) = row.spec.as_deref() else { continue };
            let Some(fallback) = &spec.fallback else { continue };
            match self.fallback_of(row, spec, fallback) {
                Ok(other) => {
                    found.by_server.insert(spec.name.clone(), other);
                    written.push((&spec.name, fallback));
                }
                Err(fault) => found.faults.push(fault_of(*fault, &spec.name, fallback)),
            }
        }
        let circling = circling(&found.by_server);
        for (server, fallback) in written.into_iter().filter(|(server, _)| circling.contains(*server)) {
            let message = format!("\"fallback\" of {server} leads back to {server}");
            let fault = Fault::error(FaultKind::WrongValue, message);
            let fault = fault.hint("remove \"fallback\" from one of these servers");
            found.faults.push(fault_of(fault, server, fallback));
        }
        found.by_server.retain(|server, _| !circling.contains(server));
        found
    }

    fn fallback_of(
        &self,
        row: &Row,
        spec: &ServerSpec,
        fallback: &FallbackServer,
    ) -> Result<ServerName, Box<Fault>> {
        let wrong = |message: String| Fault::error(FaultKind::WrongValue, message);
        let hinted = |fault: Fault, hint: String| Box::new(fault.hint(hint));
        let name = fallback.server.as_str();
        // What nobody named for use, or is another user's, is no server of this setup.
        let known = || self.merged.servers.iter().filter(|row| is_known(row.state));
        let Some(other) = known().find(|row| row.name == name) else {
            let fault = wrong(format!("no server is called {name:?}"));
            return Err(match nearest(name, known().map(|row| row.name.as_str())) {
                Some(near) => hinted(fault, format!("did you mean {near:?}?")),
                None => hinted(
                    fault,
                    "write the name of a server that has the same tools, or remove the key".to_owned(),
                ),
            });
        };
        if name == spec.name.as_str() {
            let fault = wrong("a server cannot be its own \"fallback\"".to_owned());
            return Err(hinted(fault, "write the name of another server that has the same tools".to_owned()));
        }
        let is_own = |row: &Row, spec: &ServerSpec| self.is_own(row, spec);
        if other.spec.as_deref().is_some_and(|other_spec| is_own(other, other_spec) != is_own(row, spec)) {
            let message = format!(
                "one of {} and {name} is shared by all users and the other is each user's own, so no call goes from one to \
                 the other",
                spec.name
            );
            return Err(hinted(wrong(message), "set per_user = true for both".to_owned()));
        }
        ServerName::parse(name).map_err(|invalid| Box::new(wrong(invalid.to_string())))
    }
}

fn fault_of(fault: Fault, server: &ServerName, fallback: &FallbackServer) -> Fault {
    Fault { stage: Stage::Config, ..fault }.of(server).at(fallback.place.clone())
}

fn is_known(state: EntryState) -> bool {
    match state {
        EntryState::Used
        | EntryState::Disabled
        | EntryState::Held
        | EntryState::Unpinned
        | EntryState::Broken => true,
        EntryState::Found | EntryState::Foreign | EntryState::Shadowed => false,
    }
}

/// The servers from which the way leads back to themselves.
fn circling(by_server: &BTreeMap<ServerName, ServerName>) -> BTreeSet<ServerName> {
    let mut circling = BTreeSet::new();
    let mut seen: BTreeSet<&ServerName> = BTreeSet::new();
    for start in by_server.keys() {
        let (mut path, mut next) = (Vec::new(), Some(start));
        while let Some(server) = next.filter(|server| seen.insert(*server)) {
            path.push(server);
            next = by_server.get(server);
        }
        // It ended at a server that was seen: on this way, or on an earlier one.
        let begin = next.and_then(|next| path.iter().position(|server| *server == next));
        circling.extend(path.iter().skip(begin.unwrap_or(path.len())).map(|server| (*server).clone()));
    }
    circling
}
