//! What is worth knowing about the lists and tools of all servers, and what only calls bring to light.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kitbag_core::catalog::{Snapshot, Tool};
use kitbag_core::names::{ServerName, ToolName};
use kitbag_core::schema::Problem;
use kitbag_core::{Fault, FaultKind, Stage};

use super::Kitbag;
use crate::roster::Now;
use crate::world::ServerStatus;

/// Results that did not match the schema of their tool: where, by whose tool it was, the last one each.
#[derive(Default)]
pub(super) struct Mismatches(Mutex<BTreeMap<(ServerName, ToolName), String>>);

impl Mismatches {
    /// Takes note of one. What stood there is the caller's own and is not kept.
    pub(super) fn note(&self, tool: &Tool, problem: &Problem, most: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tool.server.clone(), tool.name.clone());
        if known.len() < most || known.contains_key(&key) {
            known.insert(key, problem.path.clone());
        }
    }

    /// As notes, of the tools that are still there.
    fn notes(&self, snapshot: &Snapshot) -> Vec<Fault> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_there =
            |(server, tool): &(ServerName, ToolName)| snapshot.tool(server, tool.as_str()).is_some();
        let note = |((server, tool), path): (&(ServerName, ToolName), &String)| {
            let at = if path.is_empty() { String::new() } else { format!(" at {path}") };
            let message =
                format!("the tool \"{tool}\" gave a result that does not match its output schema{at}");
            let fault = Fault::warning(FaultKind::ResultMismatch, message).on(server, tool);
            Fault { stage: Stage::Execute, ..fault }
        };
        known.iter().filter(|(pair, _)| is_there(pair)).map(note).collect()
    }
}

impl Kitbag {
    /// What is worth knowing about the lists and tools of all servers, each with its code ([`Fault::kind`]): lists that
    /// are cut, old or cannot be had, definitions that are left out or odd, names that look alike, schemas that
    /// changed, results that did not match theirs.
    pub fn notes(&self) -> Vec<Fault> {
        self.notes_in(&self.0.now())
    }

    pub(super) fn notes_in(&self, now: &Now) -> Vec<Fault> {
        let written = |tool: &Tool| {
            let rules = &now.world.servers.get(&tool.server)?.spec().rules.tools;
            let (_, rules) = rules.iter().find(|(name, _)| *name == tool.name.as_str())?;
            rules.name.clone()
        };
        let mut notes = now.snapshot.notes(&written);
        notes.extend(self.0.mismatches.notes(&now.snapshot));
        notes
    }

    /// The state of every server, those that are not used too, with what is worth knowing about its list and tools.
    pub fn status(&self) -> Vec<ServerStatus> {
        let now = self.0.now();
        let mut notes: BTreeMap<ServerName, Vec<Fault>> = BTreeMap::new();
        for note in self.notes_in(&now) {
            if let Some(server) = &note.server {
                notes.entry(server.clone()).or_default().push(note);
            }
        }
        let mut rows: Vec<ServerStatus> = Vec::new();
        for (name, opened) in &*now.links {
            let part = now.snapshot.part(name);
            let mut status = opened.status();
            // Those that can be used; a link counts what its server sent.
            status.tools = status.tools.map(|listed| part.map_or(listed, |part| part.tools.len()));
            rows.push(ServerStatus {
                name: name.to_string(),
                transport: Some(opened.server.spec().transport()),
                left_out: part.map_or(0, |part| part.left_out()),
                notes: notes.remove(name).unwrap_or_default(),
                status,
            });
        }
        rows.extend(now.world.others.iter().cloned());
        rows
    }
}
