//! One look at a schema before it is rewritten: what of the costlier work it needs at all.

use serde_json::Value;

use super::rewrite::Keys;
use crate::model::Limits;
use crate::schema::SchemaError;
use crate::schema::tree::{measure, schemas};

/// What a schema holds.
#[derive(Debug, Default)]
pub(super) struct Facts<'a> {
    /// A reference to something else than a named definition.
    pub(super) odd_refs: bool,
    /// `unevaluatedProperties` or `unevaluatedItems`, for which it matters what else is said.
    pub(super) unevaluated: bool,
    /// Names of properties that the provider would refuse.
    pub(super) unfit_keys: Vec<&'a str>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(schema: &'a Value, keys: Keys, limits: &Limits) -> Result<Self, SchemaError> {
        measure(schema, limits)?;
        let mut facts = Self::default();
        for (key, inner) in schema.as_object().into_iter().flat_map(schemas).flatten() {
            facts.learn(key, inner, keys);
        }
        Ok(facts)
    }

    fn learn(&mut self, key: &'a str, inner: &'a Value, keys: Keys) {
        match (key, inner) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                let named = ["#/$defs/", "#/definitions/"].iter().find_map(|at| reference.strip_prefix(at));
                self.odd_refs |= named.is_none_or(|name| name.contains('/'));
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => self.unevaluated = true,
            ("properties", Value::Object(table)) if keys != Keys::Any => {
                self.unfit_keys.extend(table.keys().map(String::as_str).filter(|name| !keys.take(name)));
            }
            _ => {}
        }
    }
}
