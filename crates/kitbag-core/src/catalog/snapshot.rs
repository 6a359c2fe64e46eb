//! Everything at one moment, never changed afterwards. A change in one server makes a new snapshot that
//! shares all the rest with the one before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::{CatalogNames, ServerTools, StaleList, Tool, notes};
use crate::fault::FaultKind;
use crate::model::ErrorKind;
use crate::names::{ServerName, ToolKey, ToolName};
use crate::text::rfc3339;

/// Why the tools of a server cannot be called now. They stay listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// The bare word, such as `starting` or `failed`: what may be told to a model.
    pub state: &'static str,
    /// In one line, without secrets; it may quote what the server wrote to its stderr log.
    pub why: String,
    /// How a call to one of its tools ends meanwhile.
    pub kind: ErrorKind,
    /// When that was found out, in seconds since 1970, if it is known.
    pub since: Option<u64>,
}

impl Unreachable {
    /// For this reason, whenever that was. Its state is `unavailable`.
    pub fn because(why: impl Into<String>) -> Self {
        Self { state: "unavailable", why: why.into(), kind: ErrorKind::Unavailable, since: None }
    }
}

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        match self.since {
            Some(since) => write!(f, " (since {})", rfc3339(since)),
            None => Ok(()),
        }
    }
}

/// Every tool of every server, with their names.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    version: u64,
    parts: Arc<BTreeMap<ServerName, Arc<ServerTools>>>,
    names: CatalogNames,
    away: Arc<BTreeMap<ServerName, Unreachable>>,
    stale: Arc<BTreeMap<ServerName, StaleList>>,
}

impl Snapshot {
    /// An empty one that knows names given earlier.
    pub fn new(names: CatalogNames) -> Self {
        Self { names, ..Self::default() }
    }

    /// Counts the changes of what is listed; availability is none.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The servers and their tools, in order of name.
    pub fn parts(&self) -> impl Iterator<Item = &Arc<ServerTools>> {
        self.parts.values()
    }

    /// One server's tools.
    pub fn part(&self, server: &ServerName) -> Option<&Arc<ServerTools>> {
        self.parts.get(server)
    }

    /// One tool by its server's own names.
    pub fn tool(&self, server: &ServerName, tool: &str) -> Option<&Arc<Tool>> {
        self.parts.get(server)?.tool(tool)
    }

    /// Every tool, in order of server and name.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.parts.values().flat_map(|part| &part.tools)
    }

    /// The names of all tools.
    pub fn names(&self) -> &CatalogNames {
        &self.names
    }

    /// Why a server's tools cannot be called now, if that is so.
    pub fn away(&self, server: &ServerName) -> Option<&Unreachable> {
        self.away.get(server)
    }

    /// Every server whose tools cannot be called now.
    pub fn all_away(&self) -> impl Iterator<Item = (&ServerName, &Unreachable)> {
        self.away.iter()
    }

    /// Since when a server's list is not confirmed, and why, if that is so. Its tools stay listed.
    pub fn stale(&self, server: &ServerName) -> Option<&StaleList> {
        self.stale.get(server)
    }

    /// Every server whose list is not confirmed or could not be had.
    pub fn all_stale(&self) -> impl Iterator<Item = (&ServerName, &StaleList)> {
        self.stale.iter()
    }

    /// The same with another answer to whether a server's list is what it would give now; none when it is known
    /// already.
    pub fn with_stale(&self, server: &ServerName, stale: Option<StaleList>) -> Option<Self> {
        if self.stale.get(server) == stale.as_ref() {
            return None;
        }
        let mut next = self.clone();
        let all = Arc::make_mut(&mut next.stale);
        match stale {
            Some(stale) => drop(all.insert(server.clone(), stale)),
            None => drop(all.remove(server)),
        }
        Some(next)
    }

    /// The same with these tools of one server; none when nothing would change.
    pub fn with(&self, part: ServerTools) -> Option<Self> {
        let next = self.with_all([part]);
        (next.version != self.version).then_some(next)
    }

    /// The same with the tools of many servers at once.
    pub fn with_all(&self, new: impl IntoIterator<Item = ServerTools>) -> Self {
        // Of one server named twice the last counts.
        let new: BTreeMap<ServerName, ServerTools> =
            new.into_iter().map(|part| (part.server.clone(), part)).collect();
        let changed: Vec<ServerTools> = new.into_values().filter_map(|part| self.changed(part)).collect();
        if changed.is_empty() {
            return self.clone();
        }
        let names = self.names.with(&changed.iter().flat_map(pairs).collect::<Vec<_>>());
        let mut parts = BTreeMap::clone(&self.parts);
        parts.extend(changed.into_iter().map(|part| (part.server.clone(), Arc::new(part))));
        Self { version: self.version + 1, parts: Arc::new(parts), names, ..self.clone() }
    }

    /// A part, sharing what is known of it; none when all of it is.
    fn changed(&self, mut part: ServerTools) -> Option<ServerTools> {
        let Some(old) = self.parts.get(&part.server) else { return Some(part) };
        part.share(old);
        (**old != part).then_some(part)
    }

    /// The same where each of these servers' gateways has a name; none when all have one already.
    pub fn with_gateways<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Option<Self> {
        let known = self.names.gateways();
        let new: Vec<&ServerName> =
            servers.into_iter().filter(|server| !known.contains_key(*server)).collect();
        if new.is_empty() {
            return None;
        }
        let names = self.names.with_gateways(new);
        (names.gateways() != known).then(|| Self { names, ..self.clone() })
    }

    /// The same with the names its tools and gateways would have if all of them had come at once to those who
    /// hold `held`; none when they have them already. Equal servers then have equal names in whichever order
    /// they came. What was given since `held` to tools that are gone is forgotten; reserved names and the owner
    /// of local tools are those of `held`.
    ///
    /// For the time until every server has listed its tools; after that, names stay.
    pub fn renamed(&self, held: &CatalogNames) -> Option<Self> {
        // Gateways first, as when a catalog is opened: their servers are known before any tool is.
        let names = held.with_gateways(self.names.gateways().keys());
        let names = names.with(&self.parts().flat_map(|part| pairs(part)).collect::<Vec<_>>());
        (names != self.names).then(|| Self { version: self.version + 1, names, ..self.clone() })
    }

    /// The same without one server; none when it was not there. Its names stay taken.
    pub fn without(&self, server: &ServerName) -> Option<Self> {
        let is_listed = self.parts.contains_key(server);
        if !is_listed && !self.away.contains_key(server) && !self.stale.contains_key(server) {
            return None;
        }
        // One without tools takes none away.
        let mut next = Self { version: self.version + u64::from(is_listed), ..self.clone() };
        Arc::make_mut(&mut next.parts).remove(server);
        Arc::make_mut(&mut next.away).remove(server);
        Arc::make_mut(&mut next.stale).remove(server);
        Some(next)
    }

    /// The same where names are given and reserved otherwise.
    #[must_use]
    pub fn with_names(&self, names: CatalogNames) -> Self {
        Self { names, ..self.clone() }
    }

    /// The same with another answer to whether a server's tools can be called; none when it is known already.
    pub fn with_away(&self, server: &ServerName, why: Option<Unreachable>) -> Option<Self> {
        self.with_all_away([(server.clone(), why)])
    }

    /// The same for many servers at once.
    pub fn with_all_away(
        &self,
        all: impl IntoIterator<Item = (ServerName, Option<Unreachable>)>,
    ) -> Option<Self> {
        let new: Vec<_> =
            all.into_iter().filter(|(server, why)| self.away.get(server) != why.as_ref()).collect();
        if new.is_empty() {
            return None;
        }
        let mut away = BTreeMap::clone(&self.away);
        for (server, why) in new {
            match why {
                Some(why) => drop(away.insert(server, why)),
                None => drop(away.remove(&server)),
            }
        }
        Some(Self { away: Arc::new(away), ..self.clone() })
    }
}

fn pairs(part: &ServerTools) -> impl Iterator<Item = ToolKey> {
    part.tools.iter().map(|tool| (tool.server.clone(), tool.name.clone()))
}

#[cfg(test)]
impl Snapshot {
    /// Whether nothing was copied.
    pub(super) fn shares_everything_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts) && self.names.shares_everything_with(&other.names)
    }
}

impl ServerTools {
    /// Takes over what did not change, so that whoever knows a tool already sees that it is the same. What changed
    /// its schema is marked, and stays so: whoever looks later shall see it, too.
    fn share(&mut self, old: &Self) {
        for tool in &mut self.tools {
            let Some(known) = old.tool(tool.name.as_str()) else { continue };
            if known == tool || known.is_marked(tool) {
                *tool = known.clone();
            } else if let Some(note) = notes::schema_changed(known, tool) {
                Arc::make_mut(tool).notes.push(note);
            }
        }
    }
}

impl Tool {
    /// Whether it is another but for the mark that its schema changed.
    fn is_marked(&self, other: &Self) -> bool {
        let is_mark = |kind: FaultKind| kind == FaultKind::SchemaChanged;
        if !self.notes.iter().any(|note| is_mark(note.kind)) {
            return false;
        }
        let mut plain = self.clone();
        plain.notes.retain(|note| !is_mark(note.kind));
        plain == *other
    }
}

/// What happened to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ToolChangeKind {
    /// It is new.
    Registered,
    /// Its definition is another.
    Changed,
    /// It is gone.
    Removed,
}

impl ToolChangeKind {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// One tool that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolChange {
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: ToolName,
    /// What happened to it.
    pub kind: ToolChangeKind,
}

/// What happened between two snapshots, in order of server and tool.
pub fn changes(old: &Snapshot, new: &Snapshot) -> Vec<ToolChange> {
    let servers: BTreeSet<&ServerName> = old.parts.keys().chain(new.parts.keys()).collect();
    let mut all = Vec::new();
    for server in servers {
        match (old.parts.get(server), new.parts.get(server)) {
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => {}
            (old, new) => all.extend(part_changes(server, old, new)),
        }
    }
    all
}

fn part_changes(
    server: &ServerName,
    old: Option<&Arc<ServerTools>>,
    new: Option<&Arc<ServerTools>>,
) -> Vec<ToolChange> {
    let tools = |part: Option<&Arc<ServerTools>>| -> BTreeMap<ToolName, Arc<Tool>> {
        let tools = part.map(|part| part.tools.as_slice()).unwrap_or_default();
        tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect()
    };
    let (old, new) = (tools(old), tools(new));
    let change = |tool: &ToolName, kind| ToolChange { server: server.clone(), tool: tool.clone(), kind };
    let mut changes: Vec<ToolChange> = old
        .iter()
        .filter_map(|(name, tool)| match new.get(name) {
            None => Some(change(name, ToolChangeKind::Removed)),
            Some(now) if now.raw != tool.raw => Some(change(name, ToolChangeKind::Changed)),
            Some(_) => None,
        })
        .collect();
    let added = new.keys().filter(|name| !old.contains_key(*name));
    changes.extend(added.map(|name| change(name, ToolChangeKind::Registered)));
    changes.sort();
    changes
}
