//! Restrictions that cannot be read. A slip in a restriction must not show more than was meant, so whatever it
//! could have restricted is closed: the agent, server, tool or user it stands with, and nothing else.

use std::collections::HashMap;

use super::super::source::Source;
use super::super::tree::{KeyValue, Node, Position};
use super::check::fits;
use super::keys::{self, AGENT, ARG, GROUP, Key, ROOT, Role, SERVER, TOOL};

/// How much of a name of the user's choice a reason shows.
const LONGEST: usize = 64;

/// Finds out why something is closed, in one sentence with its place and never with a value.
pub(super) struct Restrictions<'a> {
    source: &'a Source<'a>,
    root: &'a Node,
    misspelt: Vec<Misspelt<'a>>,
    /// Sections of which no entry can be relied on: a key of theirs stands outside of them, and why.
    misplaced: Vec<(&'static str, String)>,
}

/// An unknown section that is probably meant to be a known one.
pub(super) struct Misspelt<'a> {
    meant: &'static str,
    /// What it holds.
    pub(super) node: &'a Node,
    /// Why what it names is closed.
    pub(super) reason: String,
}

impl<'a> Restrictions<'a> {
    pub(super) fn new(source: &'a Source<'a>, root: &'a Node) -> Self {
        let mut new = Self { source, root, misspelt: Vec::new(), misplaced: Vec::new() };
        let unknown = |pair: &&KeyValue| ROOT.iter().all(|key| key.name != pair.key);
        // Once: a file may have very many unknown keys.
        for pair in root.map().unwrap_or_default().iter().filter(unknown) {
            match keys::near(&pair.key, ROOT) {
                Some(key) if key.role != Role::Plain => {
                    let reason = new.because(&format!("unknown section {}", title(&[&pair.key])), pair.at);
                    new.misspelt.push(Misspelt { meant: key.name, node: &pair.value, reason });
                }
                Some(_) => {}
                None => new.misplace(pair),
            }
        }
        new
    }

    /// A restriction above the heading of its entry could have been meant for any of them.
    fn misplace(&mut self, pair: &KeyValue) {
        for section in sections_of(&pair.key) {
            if self.misplaced.iter().all(|(known, _)| *known != section) {
                let what = format!("key {:?} is outside of the entries of [{section}]", shortened(&pair.key));
                let reason = self.because(&what, pair.at);
                self.misplaced.push((section, reason));
            }
        }
    }

    /// Why the restrictions in one table cannot be relied on, if that is so. What is inside of its own tables
    /// is asked for by itself.
    pub(super) fn in_table(&self, title: &str, keys: &'static [Key], node: &Node) -> Option<String> {
        let Some(pairs) = node.map() else {
            return Some(self.because(&format!("{title} cannot be read"), node.at));
        };
        pairs.iter().find_map(|pair| self.in_pair(title, keys, pair))
    }

    fn in_pair(&self, title: &str, keys: &'static [Key], pair: &KeyValue) -> Option<String> {
        match keys.iter().find(|key| key.name == pair.key) {
            Some(key) if key.role == Role::Restricts && !fits(&key.shape, &pair.value) => {
                Some(self.because(&format!("{:?} in {title} cannot be read", key.name), pair.value.at))
            }
            Some(_) => None,
            // A key near to nothing may be a restriction we do not know by this name, such as `deny`.
            None => keys::near(&pair.key, keys).is_none_or(|key| key.role != Role::Plain).then(|| {
                self.because(&format!("unknown key {:?} in {title}", shortened(&pair.key)), pair.at)
            }),
        }
    }

    /// A reason with its place.
    pub(super) fn because(&self, what: &str, at: Position) -> String {
        format!("{what} ({})", self.source.place(at))
    }

    /// The unknown sections that are probably meant to be this one.
    pub(super) fn misspelt(&self, section: &str) -> impl Iterator<Item = &Misspelt<'a>> {
        self.misspelt.iter().filter(move |misspelt| misspelt.meant == section)
    }

    /// Why all entries of a section are closed: it is not a table, a misspelt one is not, or a key of its entries
    /// stands outside of them.
    pub(super) fn whole_section(&self, section: &str) -> Option<String> {
        let mut misplaced = self.misplaced.iter().filter(|(of, _)| *of == section);
        self.unread_section(section).or_else(|| misplaced.next().map(|(_, reason)| reason.clone()))
    }

    /// Why nothing is known of the entries of a section: it is not a table, or a misspelt one is not.
    pub(super) fn unread_section(&self, section: &str) -> Option<String> {
        let known = self.root.get(section).filter(|node| node.map().is_none());
        let known = known.map(|node| self.because(&format!("{} cannot be read", title(&[section])), node.at));
        let mut others = self.misspelt(section).filter(|misspelt| misspelt.node.map().is_none());
        known.or_else(|| others.next().map(|misspelt| misspelt.reason.clone()))
    }

    /// Closes the entries that a misspelt section names, known ones and others alike.
    pub(super) fn close_misspelt<T: Closes>(
        &self,
        section: &str,
        entries: &mut Vec<(String, T)>,
        empty: impl Fn(&KeyValue) -> T,
    ) {
        if self.misspelt(section).next().is_none() {
            return;
        }
        let known = entries.iter().enumerate().map(|(index, (name, _))| (name.clone(), index));
        let known: HashMap<String, usize> = known.collect();
        for Misspelt { node, reason, .. } in self.misspelt(section) {
            for named in node.map().unwrap_or_default() {
                match known.get(&named.key).and_then(|index| entries.get_mut(*index)) {
                    Some((_, entry)) => entry.close(reason.clone()),
                    None => {
                        let mut entry = empty(named);
                        entry.close(reason.clone());
                        entries.push((named.key.clone(), entry));
                    }
                }
            }
        }
    }
}

/// The sections whose entries have a restriction of this name, or of one a slip away.
fn sections_of(key: &str) -> impl Iterator<Item = &'static str> {
    let is_in = |tables: &[&'static [Key]]| tables.iter().any(|keys| restricts(key, keys));
    let of = |tables: &[&'static [Key]], section| is_in(tables).then_some(section);
    let sections = [of(&[AGENT], "agents"), of(&[SERVER, TOOL, ARG], "servers"), of(&[GROUP], "groups")];
    sections.into_iter().flatten()
}

/// Whether a table has a restriction of this name, or of one a slip away.
fn restricts(key: &str, keys: &'static [Key]) -> bool {
    let known = keys.iter().find(|known| known.name == key).or_else(|| keys::near(key, keys));
    known.is_some_and(|known| known.role != Role::Plain)
}

/// What can be closed; the first reason stays.
pub(super) trait Closes {
    fn close(&mut self, reason: String);
}

/// A table's heading as it stands in the file.
pub(super) fn title(path: &[&str]) -> String {
    let is_bare = |key: &str| {
        !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let spelt = |key: &&str| {
        let short = shortened(key);
        if is_bare(key) { short } else { format!("{short:?}") }
    };
    format!("[{}]", path.iter().map(spelt).collect::<Vec<_>>().join("."))
}

fn shortened(key: &str) -> String {
    match key.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &key[..end]),
        None => key.to_owned(),
    }
}
