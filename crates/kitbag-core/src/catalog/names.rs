//! The names of all tools and gateways: three tables that grow together, so that nobody is called like
//! anybody else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::Limits;
use crate::names::{
    NameForm, NameTable, Naming, ServerName, ShownName, ToolKey, ToolName, assign, gateways, trim,
};

/// The names of all tools that were ever seen, in each form. A name that is kept is never given to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CatalogNames {
    full: NameTable,
    short: NameTable,
    bare: NameTable,
    reserved: Arc<BTreeSet<ShownName>>,
    local: Option<ServerName>,
    gateways: Arc<BTreeMap<ServerName, ShownName>>,
    /// How many are kept for one server.
    most: usize,
}

impl Default for CatalogNames {
    fn default() -> Self {
        Self::new(NameTable::default(), NameTable::default(), NameTable::default(), BTreeSet::new())
    }
}

impl CatalogNames {
    /// Names given earlier, and those that operators keep for particular tools.
    pub fn new(full: NameTable, short: NameTable, bare: NameTable, reserved: BTreeSet<ShownName>) -> Self {
        let (reserved, gateways, most) = (Arc::new(reserved), Arc::default(), Limits::default().names);
        Self { full, short, bare, reserved, local: None, gateways, most }
    }

    /// The same where so many names are kept for the tools of one server. Names that were given stay.
    #[must_use]
    pub fn keeping(&self, most: usize) -> Self {
        Self { most, ..self.clone() }
    }

    /// Whether new tools of a server get names with a hash, because as many names as are kept for it are taken.
    pub fn is_full(&self, server: &ServerName) -> bool {
        self.most <= self.full.count(server)
    }

    /// The same where local tools stand under this name. They go by their own names, so they take none of the
    /// shorter ones: whether a server's tool of the same name gives way is the agent's to say, not the table's.
    #[must_use]
    pub fn local(mut self, server: ServerName) -> Self {
        self.local = Some(server);
        self
    }

    /// The same where local tools stand under another name from now on. Names that were given stay; to give
    /// those anew that depend on it, see [`Snapshot::renamed`](super::Snapshot::renamed).
    #[must_use]
    pub fn with_local(&self, server: ServerName) -> Self {
        self.clone().local(server)
    }

    /// The same where operators keep these names for particular tools, and no longer those they kept before.
    /// Names that were given stay.
    #[must_use]
    pub fn with_reserved(&self, reserved: BTreeSet<ShownName>) -> Self {
        Self { reserved: Arc::new(reserved), ..self.clone() }
    }

    /// The same where these servers' gateways have these names; of two that have one name, one keeps it.
    #[must_use]
    pub fn holding(mut self, mut gateways: BTreeMap<ServerName, ShownName>) -> Self {
        let mut seen = BTreeSet::new();
        gateways.retain(|_, name| seen.insert(name.clone()));
        self.gateways = Arc::new(gateways);
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

    pub(super) fn with_gateways<'a>(&self, servers: impl IntoIterator<Item = &'a ServerName>) -> Self {
        let is_a_tool = |name: &ShownName| {
            self.reserved.contains(name)
                || NameForm::ALL.into_iter().any(|form| self.table(form).pair(name).is_some())
        };
        let gateways = Arc::new(gateways(&self.gateways, servers, is_a_tool));
        Self { gateways, ..self.clone() }
    }

    /// The table of one form.
    pub fn table(&self, form: NameForm) -> &NameTable {
        match form {
            NameForm::Full => &self.full,
            NameForm::Short => &self.short,
            NameForm::Bare => &self.bare,
        }
    }

    /// The same with names for the tools of some servers, which list these and no others. A pair that has a name
    /// keeps it, and loses it only where more are kept than may be.
    pub(super) fn with(&self, pairs: &[ToolKey]) -> Self {
        if pairs.is_empty() {
            return self.clone();
        }
        let mut listed: BTreeMap<&ServerName, BTreeSet<&ToolName>> = BTreeMap::new();
        for (server, tool) in pairs {
            listed.entry(server).or_default().insert(tool);
        }
        let next = |form: NameForm| {
            let kept = self.reserved.iter().chain(self.gateways.values()).cloned().collect();
            let naming = Naming::new(form).reserving(kept).keeping(self.most);
            let takes =
                |(server, _): &&ToolKey| form == NameForm::Full || Some(server) != self.local.as_ref();
            let mut table = assign(self.table(form), pairs.iter().filter(takes).cloned(), &naming);
            listed.iter().for_each(|(server, tools)| trim(&mut table, server, tools, &naming));
            table
        };
        Self {
            full: next(NameForm::Full),
            short: next(NameForm::Short),
            bare: next(NameForm::Bare),
            ..self.clone()
        }
    }
}

#[cfg(test)]
impl CatalogNames {
    /// Whether nothing was copied.
    pub(super) fn shares_everything_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.reserved, &other.reserved) && Arc::ptr_eq(&self.gateways, &other.gateways)
    }
}
