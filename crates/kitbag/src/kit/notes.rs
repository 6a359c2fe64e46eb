//! What is worth knowing about the lists and tools of all servers, and what only calls bring to light.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use kitbag_core::catalog::{Snapshot, Tool};
use kitbag_core::names::{ServerName, ToolName};
use kitbag_core::schema::Problem;
use kitbag_core::{Fault, FaultKind, Stage};
use serde_json::Value;

use super::Kitbag;
use crate::roster::Now;
use crate::world::ServerStatus;

/// Results that did not match the schema of their tool: where, by whose tool it was, the last one each.
#[derive(Default)]
pub(super) struct Mismatches(Mutex<BTreeMap<(ServerName, ToolName), String>>);

impl Mismatches {
    /// Takes note of one. What stood there is the caller's own and is not kept, nor are keys of it.
    pub(super) fn note(&self, tool: &Tool, problem: &Problem, most: usize) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (tool.server.clone(), tool.name.clone());
        if known.len() < most || known.contains_key(&key) {
            known.insert(key, declared(&problem.path, tool.output.as_deref()).to_owned());
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

/// As much of a place in a result as the schema names itself: what follows may be a key that only its caller knows.
fn declared<'p>(path: &'p str, mut schema: Option<&Value>) -> &'p str {
    let mut end = 0;
    while let Some(here) = schema.filter(|_| end < path.len()) {
        let rest = &path[end..];
        let next = rest.char_indices().skip(1).find(|(_, c)| matches!(c, '.' | '['));
        let step = &rest[..next.map_or(rest.len(), |(at, _)| at)];
        schema = match step.strip_prefix('[') {
            Some(index) if index.starts_with(|c: char| c.is_ascii_digit()) => here.get("items"),
            Some(_) => None,
            None => here.get("properties").and_then(|all| all.get(step.trim_start_matches('.'))),
        };
        if schema.is_none() {
            break;
        }
        end += step.len();
    }
    &path[..end]
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

#[cfg(test)]
mod tests {
    use kitbag_core::Limits;
    use kitbag_core::catalog::ServerTools;
    use kitbag_core::schema::Schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn f81_a_mismatch_tells_no_key_of_a_result() {
        let number = json!({"type": "integer"});
        let output = json!({"type": "object", "properties": {
            "rows": {"type": "array", "items": {"properties": {"count": number}}},
            "by": {"type": "object", "additionalProperties": number},
        }});
        let definition = json!({"name": "a", "inputSchema": {"type": "object"}, "outputSchema": output});
        let limits = Limits::default();
        let server = ServerName::parse("s").unwrap();
        let part = ServerTools::parse(&server, [definition.to_string().as_str()], &limits);
        let tool = part.tools[0].clone();
        let snapshot = Snapshot::default().with(part).unwrap();
        let told = |result: &Value| {
            let schema = Schema::compile(tool.output.as_ref().unwrap(), &limits).unwrap();
            let mismatches = Mismatches::default();
            mismatches.note(&tool, &schema.check(result)[0], 1);
            mismatches.notes(&snapshot).remove(0).message
        };
        let said = told(&json!({"rows": [{"count": 1}, {"count": "x"}]}));
        assert!(said.ends_with(" at rows[1].count"), "{said}");
        for key in ["alice", "alice@example.com", "é.[0]"] {
            let said = told(&json!({"by": {key: "x"}}));
            assert!(said.ends_with(" at by"), "{said}");
        }
    }
}
