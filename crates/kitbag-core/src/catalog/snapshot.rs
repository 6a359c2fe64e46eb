//! Everything at one moment, never changed afterwards. A change in one server makes a new snapshot that
//! shares all the rest with the one before it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::{Part, Tool};
use crate::names::{Form, Naming, Pair, ServerName, ShownName, Table, ToolName, assign, gateways};
use crate::text::rfc3339;

/// Why the tools of a server cannot be called now. They stay listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// In one line, without secrets.
    pub why: String,
    /// When that was found out, in seconds since 1970, if it is known.
    pub since: Option<u64>,
}

impl Away {
    /// For this reason, whenever that was.
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), since: None }
    }
}

impl fmt::Display for Away {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)?;
        match self.since {
            Some(since) => write!(f, " (since {})", rfc3339(since)),
            None => Ok(()),
        }
    }
}

/// The names of all tools that were ever seen, in each form. A name once given is never given to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    full: Table,
    short: Table,
    bare: Table,
    reserved: BTreeSet<ShownName>,
    local: Option<ServerName>,
    gateways: BTreeMap<ServerName, ShownName>,
}

impl Names {
    /// Names given earlier, and those that operators keep for particular tools.
    pub fn new(full: Table, short: Table, bare: Table, reserved: BTreeSet<ShownName>) -> Self {
        Self { full, short, bare, reserved, local: None, gateways: BTreeMap::new() }
    }

    /// The same where local tools stand under this name. They go by their own names, so they take none of the
    /// shorter ones: whether a server's tool of the same name gives way is the agent's to say, not the table's.
    #[must_use]
    pub fn local(mut self, server: ServerName) -> Self {
        self.local = Some(server);
        self
    }

    /// The same where these servers' gateways have these names; of two that have one name, one keeps it.
    #[must_use]
    pub fn holding(mut self, mut gateways: BTreeMap<ServerName, ShownName>) -> Self {
        let mut seen = BTreeSet::new();
        gateways.retain(|_, name| seen.insert(name.clone()));
        self.gateways = gateways;
        self
    }

    /// What each server's gateway is called. No tool is called so.
    pub fn gateways(&self) -> &BTreeMap<ServerName, ShownName> {
        &self.gateways
    }

    /// Whose gateway is called so.
    pub fn gateway(&self, name: &str) -> Option<&ServerName> {
        self.gateways.iter().find(|(_, own)| own.as_str() == name).map(|(server, _)| server)
    }

    fn with_gateways<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Self {
        let is_a_tool = |name: &ShownName| {
            self.reserved.contains(name)
                || Form::ALL.into_iter().any(|form| self.table(form).pair(name).is_some())
        };
        let gateways = gateways(&self.gateways, servers, is_a_tool);
        Self { gateways, ..self.clone() }
    }

    /// The table of one form.
    pub fn table(&self, form: Form) -> &Table {
        match form {
            Form::Full => &self.full,
            Form::Short => &self.short,
            Form::Bare => &self.bare,
        }
    }

    fn with(&self, pairs: &[Pair]) -> Self {
        let next = |form: Form| {
            let kept = self.reserved.iter().chain(self.gateways.values()).cloned().collect();
            let naming = Naming::new(form).reserving(kept);
            let takes = |(server, _): &&Pair| form == Form::Full || Some(server) != self.local.as_ref();
            assign(self.table(form), pairs.iter().filter(takes).cloned(), &naming)
        };
        Self {
            full: next(Form::Full),
            short: next(Form::Short),
            bare: next(Form::Bare),
            reserved: self.reserved.clone(),
            local: self.local.clone(),
            gateways: self.gateways.clone(),
        }
    }
}

/// Every tool of every server, with their names.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    version: u64,
    parts: Arc<BTreeMap<ServerName, Arc<Part>>>,
    names: Names,
    away: Arc<BTreeMap<ServerName, Away>>,
}

impl Snapshot {
    /// An empty one that knows names given earlier.
    pub fn new(names: Names) -> Self {
        Self { names, ..Self::default() }
    }

    /// Counts the changes of what is listed; availability is none.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The servers and their tools, in order of name.
    pub fn parts(&self) -> impl Iterator<Item = &Arc<Part>> {
        self.parts.values()
    }

    /// One server's tools.
    pub fn part(&self, server: &ServerName) -> Option<&Arc<Part>> {
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
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Why a server's tools cannot be called now, if that is so.
    pub fn away(&self, server: &ServerName) -> Option<&Away> {
        self.away.get(server)
    }

    /// Every server whose tools cannot be called now.
    pub fn all_away(&self) -> impl Iterator<Item = (&ServerName, &Away)> {
        self.away.iter()
    }

    /// The same with these tools of one server; none when nothing would change.
    pub fn with(&self, part: Part) -> Option<Self> {
        let next = self.with_all([part]);
        (next.version != self.version).then_some(next)
    }

    /// The same with the tools of many servers at once.
    pub fn with_all(&self, new: impl IntoIterator<Item = Part>) -> Self {
        let mut parts = BTreeMap::clone(&self.parts);
        let mut pairs = Vec::new();
        let mut version = self.version;
        for mut part in new {
            if let Some(old) = self.parts.get(&part.server) {
                part.share(old);
                if **old == part {
                    parts.insert(part.server.clone(), old.clone());
                    continue;
                }
            }
            pairs.extend(part.tools.iter().map(|tool| (tool.server.clone(), tool.name.clone())));
            parts.insert(part.server.clone(), Arc::new(part));
            version = self.version + 1;
        }
        let names = self.names.with(&pairs);
        Self { version, parts: Arc::new(parts), names, away: self.away.clone() }
    }

    /// The same where each of these servers' gateways has a name; none when all have one already.
    pub fn with_gateways<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Option<Self> {
        let names = self.names.with_gateways(servers);
        (names.gateways != self.names.gateways).then(|| Self { names, ..self.clone() })
    }

    /// The same without one server; none when it was not there. Its names stay taken.
    pub fn without(&self, server: &ServerName) -> Option<Self> {
        self.parts.get(server)?;
        let (mut parts, mut away) = (BTreeMap::clone(&self.parts), BTreeMap::clone(&self.away));
        parts.remove(server);
        away.remove(server);
        let (parts, away) = (Arc::new(parts), Arc::new(away));
        Some(Self { version: self.version + 1, parts, away, names: self.names.clone() })
    }

    /// The same with another answer to whether a server's tools can be called; none when it is known already.
    pub fn with_away(&self, server: &ServerName, why: Option<Away>) -> Option<Self> {
        if self.away.get(server) == why.as_ref() {
            return None;
        }
        let mut away = BTreeMap::clone(&self.away);
        match why {
            Some(why) => drop(away.insert(server.clone(), why)),
            None => drop(away.remove(server)),
        }
        Some(Self { away: Arc::new(away), ..self.clone() })
    }
}

impl Part {
    /// Takes over what did not change, so that whoever knows a tool already sees that it is the same.
    fn share(&mut self, old: &Self) {
        for tool in &mut self.tools {
            if let Some(known) = old.tool(tool.name.as_str()).filter(|known| *known == tool) {
                *tool = known.clone();
            }
        }
    }
}

/// What happened to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It is new.
    Registered,
    /// Its definition is another.
    Changed,
    /// It is gone.
    Removed,
}

impl ChangeKind {
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
pub struct Change {
    /// Whose it is.
    pub server: ServerName,
    /// What its server calls it.
    pub tool: ToolName,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened between two snapshots, in order of server and tool.
pub fn changes(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
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

fn part_changes(server: &ServerName, old: Option<&Arc<Part>>, new: Option<&Arc<Part>>) -> Vec<Change> {
    let tools = |part: Option<&Arc<Part>>| -> BTreeMap<ToolName, Arc<Tool>> {
        let tools = part.map(|part| part.tools.as_slice()).unwrap_or_default();
        tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect()
    };
    let (old, new) = (tools(old), tools(new));
    let change = |tool: &ToolName, kind| Change { server: server.clone(), tool: tool.clone(), kind };
    let mut changes: Vec<Change> = old
        .iter()
        .filter_map(|(name, tool)| match new.get(name) {
            None => Some(change(name, ChangeKind::Removed)),
            Some(now) if now.raw != tool.raw => Some(change(name, ChangeKind::Changed)),
            Some(_) => None,
        })
        .collect();
    let added = new.keys().filter(|name| !old.contains_key(*name));
    changes.extend(added.map(|name| change(name, ChangeKind::Registered)));
    changes.sort();
    changes
}
