//! One look at a schema before it is rewritten: whether it is of bearable size, and what of the costlier work
//! it needs at all.

use serde_json::{Map, Value};

use super::rewrite::Keys;
use crate::model::Limits;
use crate::schema::SchemaError;

/// What a schema holds.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    /// Some reference.
    pub(super) refs: bool,
    /// A reference to something else than a named definition.
    pub(super) odd_refs: bool,
    /// `unevaluatedProperties` or `unevaluatedItems`, for which it matters what else is said.
    pub(super) unevaluated: bool,
    /// Names of properties that the provider would refuse.
    pub(super) unfit_keys: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(schema: &'a Value, keys: Keys, limits: &Limits) -> Result<Self, SchemaError> {
        let mut look = Look { facts: Self::default(), keys, limits, nodes: 0, bytes: 0 };
        look.at(schema, 0)?;
        Ok(look.facts)
    }
}

struct Look<'a, 'l> {
    facts: Facts<'a>,
    keys: Keys,
    limits: &'l Limits,
    nodes: usize,
    bytes: usize,
}

impl<'a> Look<'a, '_> {
    fn at(&mut self, value: &'a Value, depth: usize) -> Result<(), SchemaError> {
        self.nodes += 1;
        if self.limits.schema_nodes < self.nodes {
            return Err(SchemaError::Large { limit: self.limits.schema_nodes });
        }
        if self.limits.schema_depth < depth {
            return Err(SchemaError::Deep { limit: self.limits.schema_depth });
        }
        match value {
            Value::String(text) => self.text(text)?,
            Value::Array(list) => list.iter().try_for_each(|inner| self.at(inner, depth + 1))?,
            Value::Object(object) => {
                for (key, inner) in object {
                    self.text(key)?;
                    self.key(key, inner);
                    self.at(inner, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), SchemaError> {
        self.bytes += text.len();
        if self.limits.schema_bytes < self.bytes {
            return Err(SchemaError::Long { limit: self.limits.schema_bytes });
        }
        Ok(())
    }

    /// What is data and only looks like a keyword costs a little work and changes nothing.
    fn key(&mut self, key: &'a str, inner: &'a Value) {
        match (key, inner) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                self.facts.refs = true;
                let named = ["#/$defs/", "#/definitions/"].iter().find_map(|at| reference.strip_prefix(at));
                self.facts.odd_refs |= named.is_none_or(|name| name.contains('/'));
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => self.facts.unevaluated = true,
            ("properties", Value::Object(table)) if self.keys != Keys::Any => {
                let unfit = table.keys().map(String::as_str).filter(|name| !self.keys.take(name));
                self.facts.unfit_keys.extend(unfit);
            }
            _ => {}
        }
    }
}

/// The values in a schema, what it refers to not counted.
pub(super) fn weight(object: &Map<String, Value>) -> usize {
    fn of(value: &Value) -> usize {
        1 + match value {
            Value::Array(list) => list.iter().map(of).sum(),
            Value::Object(object) => object.values().map(of).sum(),
            _ => 0,
        }
    }
    1 + object.values().map(of).sum::<usize>()
}
