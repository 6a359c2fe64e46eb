//! From the arguments a model gives to those the view's schema wants.
//!
//! Numbers keep the digits they were written with. A name is only taken for another's where the schema has that
//! other one, in whichever branch or condition of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::rename::Renames;
use super::root::WRAPPER;
use crate::schema::ExactJson;
use crate::schema::tree::{Applied, SchemaTree};

/// Levels of nesting; what a parser of JSON takes.
const DEEPEST: usize = 128;

/// The way back for the arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Back {
    schema: Arc<Value>,
    renames: Renames,
    wrapped: bool,
    /// Optional properties that were made required: null says that they are not given.
    nulls: BTreeSet<String>,
}

impl Back {
    pub(super) fn new(schema: Arc<Value>, renames: Renames, wrapped: bool) -> Self {
        Self { schema, renames, wrapped, nulls: BTreeSet::new() }
    }

    pub(super) fn with_nulls(self, nulls: BTreeSet<String>) -> Self {
        Self { nulls, ..self }
    }

    /// Whether arguments are what they seem.
    pub fn is_plain(&self) -> bool {
        !self.wrapped && self.nulls.is_empty() && self.renames.is_empty()
    }

    /// Turns the arguments a model gave, as JSON text, into those the view's schema wants. What is already as it
    /// wants it stays so; what is no object with every key once is left to whoever checks it.
    pub fn restore_text(&self, text: &str) -> Option<String> {
        let mut whole = ExactJson::parse(text).ok().filter(|whole| matches!(whole, ExactJson::Object(_)))?;
        self.restored(&mut whole);
        Some(whole.to_string())
    }

    /// The same for arguments that were read already.
    pub fn restore(&self, arguments: &mut Map<String, Value>) {
        let mut whole = ExactJson::from(Value::Object(std::mem::take(arguments)));
        self.restored(&mut whole);
        if let Value::Object(whole) = whole.into() {
            *arguments = whole;
        }
    }

    fn restored(&self, whole: &mut ExactJson<'_>) {
        if self.wrapped {
            unwrap(whole);
        }
        self.rename(whole, Way::Back);
        if !self.nulls.is_empty() {
            self.drop_nulls(whole);
        }
    }

    /// Turns arguments as the view's schema wants them into those with the names a model was shown. A strict form
    /// also has null for every optional one, which may be left out here.
    pub fn apply(&self, arguments: &mut Map<String, Value>) {
        let mut whole = ExactJson::from(Value::Object(std::mem::take(arguments)));
        self.rename(&mut whole, Way::Forth);
        let whole = Value::from(whole);
        match whole {
            Value::Object(whole) if !self.wrapped => *arguments = whole,
            whole => drop(arguments.insert(WRAPPER.to_owned(), whole)),
        }
    }

    fn rename(&self, whole: &mut ExactJson<'_>, way: Way) {
        if !self.renames.is_empty() {
            let mut tree = SchemaTree::new(&self.schema);
            let applied = tree.root();
            self.rename_in(whole, &applied, &mut tree, way, DEEPEST);
        }
    }

    fn rename_in<'s>(
        &'s self,
        value: &mut ExactJson<'_>,
        applied: &Applied<'s>,
        tree: &mut SchemaTree<'s>,
        way: Way,
        room: usize,
    ) {
        match value {
            _ if room == 0 || applied.is_empty() => {}
            ExactJson::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    let inner = tree.applied(applied.item(at));
                    self.rename_in(item, &inner, tree, way, room - 1);
                }
            }
            ExactJson::Object(fields) => {
                for (key, value) in fields {
                    let (own, other) = match way {
                        Way::Back => (self.renames.own(key).unwrap_or(key), None),
                        Way::Forth => (key.as_str(), Some(self.renames.shown(key))),
                    };
                    let is_named = applied.names(own);
                    let own = if is_named { own } else { key.as_str() };
                    let inner = tree.applied(applied.property(own));
                    self.rename_in(value, &inner, tree, way, room - 1);
                    let name = other.filter(|_| is_named).unwrap_or(own).to_owned();
                    *key = name;
                }
            }
            _ => {}
        }
    }

    /// In a strict form every property is named, and one that may be left out is so wherever it stands.
    fn drop_nulls(&self, value: &mut ExactJson<'_>) {
        match value {
            ExactJson::Array(items) => items.iter_mut().for_each(|item| self.drop_nulls(item)),
            ExactJson::Object(fields) => {
                fields.retain(|(key, value)| *value != ExactJson::Null || !self.nulls.contains(key));
                fields.iter_mut().for_each(|(_, value)| self.drop_nulls(value));
            }
            _ => {}
        }
    }
}

/// A model may have seen through the wrapping; only what is wrapped is unwrapped.
fn unwrap(whole: &mut ExactJson<'_>) {
    if let ExactJson::Object(fields) = whole
        && let [(name, inner @ ExactJson::Object(_))] = fields.as_mut_slice()
        && name == WRAPPER
    {
        *whole = std::mem::replace(inner, ExactJson::Null);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}
