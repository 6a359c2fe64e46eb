//! Which name belongs to whom, in both directions; cheap to copy and to add to.
//!
//! A table is published with every snapshot and grows by one server at a time, so its copies share their
//! parts: a change copies the few leaves it touches and the list of leaves, never all names.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ServerName, ShownName, ToolName};

#[cfg(test)]
mod tests;

/// Who a name belongs to.
pub type ToolKey = (ServerName, ToolName);

/// Names and the pairs they belong to, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    by_pair: Leaves<ServerName, ToolName, ShownName>,
    by_name: Leaves<u8, ShownName, ToolKey>,
}

impl NameTable {
    /// A table as it was kept, from rows of server, tool and name, and how many rows were not taken: those
    /// that are no names, or say otherwise than an earlier row.
    pub fn from_rows<T: AsRef<str>>(rows: impl IntoIterator<Item = (T, T, T)>) -> (Self, usize) {
        let mut table = Self::default();
        let mut skipped = 0;
        for (server, tool, name) in rows {
            let row = (
                ServerName::parse(server.as_ref()),
                ToolName::parse(tool.as_ref()),
                ShownName::parse(name.as_ref()),
            );
            let (Ok(server), Ok(tool), Ok(name)) = row else {
                skipped += 1;
                continue;
            };
            match (table.name(&server, &tool), table.has(name.as_str())) {
                (None, false) => table.give((server, tool), name),
                (Some(same), _) if *same == name => {}
                _ => skipped += 1,
            }
        }
        (table, skipped)
    }

    /// The name of a pair.
    pub fn name(&self, server: &ServerName, tool: &ToolName) -> Option<&ShownName> {
        self.by_pair.get(server, tool)
    }

    /// The pair of a name.
    pub fn pair(&self, name: &ShownName) -> Option<&ToolKey> {
        self.by_name.get(&leaf(name.as_str()), name)
    }

    /// All pairs and their names, in order of server and tool: equal tables give equal rows.
    pub fn iter(&self) -> impl Iterator<Item = (&ServerName, &ToolName, &ShownName)> {
        let servers = self.by_pair.0.iter();
        servers.flat_map(|(server, tools)| tools.iter().map(move |(tool, name)| (server, tool, name)))
    }

    /// How many names were given.
    pub fn len(&self) -> usize {
        self.by_pair.0.values().map(|tools| tools.len()).sum()
    }

    /// How many names one server's tools have.
    pub fn count(&self, server: &ServerName) -> usize {
        self.by_pair.0.get(server).map_or(0, |tools| tools.len())
    }

    /// One server's tools and their names, in order.
    pub(super) fn of(&self, server: &ServerName) -> impl Iterator<Item = (&ToolName, &ShownName)> {
        self.by_pair.0.get(server).into_iter().flat_map(|tools| tools.iter())
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.by_pair.0.is_empty()
    }

    /// The same without some names: they are free for others then, and their pairs are new.
    #[must_use]
    pub fn without(&self, is_freed: impl Fn(&ServerName, &ToolName, &ShownName) -> bool) -> Self {
        let mut table = self.clone();
        for (server, tool, name) in self.iter().filter(|(server, tool, name)| is_freed(server, tool, name)) {
            table.free(server, tool, name);
        }
        table
    }

    /// The name of a pair is free for others.
    pub(super) fn free(&mut self, server: &ServerName, tool: &ToolName, name: &ShownName) {
        self.by_pair.remove(server, tool);
        self.by_name.remove(&leaf(name.as_str()), name);
    }

    /// Whether a name was given to anybody.
    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.get(&leaf(name), name).is_some()
    }

    /// Both the pair and the name are new.
    pub(super) fn give(&mut self, pair: ToolKey, name: ShownName) {
        self.by_pair.insert(pair.0.clone(), pair.1.clone(), name.clone());
        self.by_name.insert(leaf(name.as_str()), name, pair);
    }
}

/// A map of two levels whose copies share every leaf that was not written since.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaves<A, B, C>(Arc<BTreeMap<A, Arc<BTreeMap<B, C>>>>);

impl<A, B, C> Default for Leaves<A, B, C> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<A: Ord + Clone, B: Ord + Clone, C: Clone> Leaves<A, B, C> {
    fn get<Q: Ord + ?Sized>(&self, leaf: &A, key: &Q) -> Option<&C>
    where
        B: Borrow<Q>,
    {
        self.0.get(leaf)?.get(key)
    }

    fn insert(&mut self, leaf: A, key: B, value: C) {
        let leaf = Arc::make_mut(&mut self.0).entry(leaf).or_default();
        Arc::make_mut(leaf).insert(key, value);
    }

    /// Leaves no empty leaf behind: equal tables are equal however they came about.
    fn remove(&mut self, leaf: &A, key: &B) {
        let leaves = Arc::make_mut(&mut self.0);
        let Some(keys) = leaves.get_mut(leaf) else { return };
        Arc::make_mut(keys).remove(key);
        if keys.is_empty() {
            leaves.remove(leaf);
        }
    }
}

/// Names are spread over 256 leaves: by their beginning they would crowd into a few (FNV-1a, folded).
fn leaf(name: &str) -> u8 {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_be_bytes().into_iter().fold(0, |folded, byte| folded ^ byte)
}
