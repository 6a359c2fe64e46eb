//! The definitions of one schema: which are referred to, what they are called, where they end up.

use std::collections::{BTreeSet, HashMap};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::present::native::Unfit;
use crate::schema::refs::{Index, address};

/// What may not stand in the fragment of a URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b':')
    .remove(b'@')
    .remove(b'$')
    .remove(b'!');

/// What is referred to in one document.
pub(super) struct Definitions<'a> {
    root: &'a Value,
    /// Made when the first reference is met.
    index: Option<Index<'a>>,
    /// `#` no longer means what it meant.
    moved: bool,
    /// Under which keyword and name each is found.
    known: HashMap<usize, Definition>,
    names: BTreeSet<String>,
    /// To be copied.
    open: Vec<(Definition, &'a Value)>,
    wanted: BTreeSet<Definition>,
    copied: HashMap<Definition, Value>,
    added: Vec<Definition>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Definition {
    keyword: &'static str,
    name: String,
}

impl Definition {
    pub(super) fn as_str(&self) -> &str {
        &self.name
    }
}

impl<'a> Definitions<'a> {
    pub(super) fn new(root: &'a Value, moved: bool) -> Self {
        let mut this = Self {
            root,
            index: None,
            moved,
            known: HashMap::new(),
            names: BTreeSet::new(),
            open: Vec::new(),
            wanted: BTreeSet::new(),
            copied: HashMap::new(),
            added: Vec::new(),
        };
        for (keyword, name, schema) in this.own() {
            let definition = Definition { keyword, name: name.clone() };
            this.names.insert(name.clone());
            this.known.insert(address(schema), definition);
        }
        this
    }

    /// Those of the root.
    fn own(&self) -> Vec<(&'static str, &'a String, &'a Value)> {
        let root = self.root;
        let tables =
            ["$defs", "definitions"].into_iter().filter_map(|keyword| Some((keyword, root.get(keyword)?)));
        let entries = tables.filter_map(|(keyword, table)| Some((keyword, table.as_object()?)));
        entries
            .flat_map(|(keyword, table)| table.iter().map(move |(name, schema)| (keyword, name, schema)))
            .collect()
    }

    /// Also those that nothing refers to.
    pub(super) fn want_all(&mut self) {
        for (keyword, name, schema) in self.own() {
            if schema.is_object() || schema.is_boolean() {
                self.want(Definition { keyword, name: name.clone() }, schema);
            }
        }
    }

    fn want(&mut self, definition: Definition, schema: &'a Value) {
        if self.wanted.insert(definition.clone()) {
            self.open.push((definition, schema));
        }
    }

    /// What to write for a reference found in a schema.
    pub(super) fn reference(&mut self, reference: &str, from: &Value) -> Result<String, Unfit> {
        let index = self.index.get_or_insert_with(|| Index::new(self.root));
        let target = index.target(reference, from)?;
        if std::ptr::eq(target, self.root) && !self.moved {
            return Ok("#".to_owned());
        }
        let definition = match self.known.get(&address(target)) {
            Some(known) => known.clone(),
            None => self.add(reference, target),
        };
        let pointer = definition.name.replace('~', "~0").replace('/', "~1");
        let written = format!("#/{}/{}", definition.keyword, utf8_percent_encode(&pointer, ESCAPED));
        self.want(definition, target);
        Ok(written)
    }

    fn add(&mut self, reference: &str, target: &Value) -> Definition {
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let plain: String =
            last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        let plain = if plain.is_empty() { "root".to_owned() } else { plain };
        let mut name = plain.clone();
        for number in 2.. {
            if !self.names.contains(&name) {
                break;
            }
            name = format!("{plain}_{number}");
        }
        self.names.insert(name.clone());
        let definition = Definition { keyword: "$defs", name };
        self.known.insert(address(target), definition.clone());
        self.added.push(definition.clone());
        definition
    }

    /// The next that is referred to and not copied yet.
    pub(super) fn next(&mut self) -> Option<(Definition, &'a Value)> {
        self.open.pop()
    }

    pub(super) fn put(&mut self, definition: Definition, copy: Value) {
        self.copied.insert(definition, copy);
    }

    /// Puts the copies into the schema, in the order they had.
    pub(super) fn write(&mut self, schema: &mut Map<String, Value>) {
        if self.copied.is_empty() {
            return;
        }
        let own = self.own().into_iter().map(|(keyword, name, _)| Definition { keyword, name: name.clone() });
        for definition in own.chain(std::mem::take(&mut self.added)).collect::<Vec<_>>() {
            let Some(copy) = self.copied.remove(&definition) else { continue };
            let table = schema.entry(definition.keyword).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(table) = table {
                table.insert(definition.name, copy);
            }
        }
    }
}
