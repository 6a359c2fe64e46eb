//! The walks over a schema that all stages share: bounded, and sure of which keywords hold schemas.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::SchemaError;
use super::keyword::{Holds, REFERENCES, Reach, Segment, is_data, is_table, members};
use super::refs::{Index, address};
use crate::model::Limits;

/// Schemas looked at in one walk along a value.
const MOST_STEPS: usize = 200_000;

/// Every value inside a value, itself first, in order, with its depth. Does not recurse, so depth costs nothing.
pub(crate) fn values(root: &Value) -> impl Iterator<Item = (&Value, usize)> {
    let mut open = vec![(root, 0)];
    std::iter::from_fn(move || {
        let (value, depth) = open.pop()?;
        match value {
            Value::Array(list) => open.extend(list.iter().rev().map(|inner| (inner, depth + 1))),
            Value::Object(object) => open.extend(object.values().rev().map(|inner| (inner, depth + 1))),
            _ => {}
        }
        Some((value, depth))
    })
}

/// Every schema inside a schema, itself first, also where nothing says that it is one: all but data.
pub(crate) fn schemas(root: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    let (mut next, mut open) = (Some(root), Vec::<&Value>::new());
    std::iter::from_fn(move || {
        while next.is_none() {
            match open.pop()? {
                Value::Object(object) => next = Some(object),
                Value::Array(list) => open.extend(list),
                _ => {}
            }
        }
        next.iter().for_each(|schema| inside(schema, |inner| open.push(inner)));
        next.take()
    })
}

/// What a schema holds that may be schemas, or lists of them.
pub(super) fn inside<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a Value)) {
    for (keyword, inner) in schema {
        match inner {
            Value::Object(table) if is_table(keyword) => table.values().for_each(&mut visit),
            Value::Object(_) | Value::Array(_) if !is_data(keyword) => visit(inner),
            _ => {}
        }
    }
}

/// Every reference in a schema, as it is written.
pub(crate) fn references(root: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let texts = |schema| REFERENCES.iter().filter_map(move |keyword| Map::get(schema, *keyword)?.as_str());
    schemas(root).flat_map(texts)
}

/// Every value in an object, itself counted.
pub(crate) fn count(object: &Map<String, Value>) -> usize {
    1 + object.values().map(|value| values(value).count()).sum::<usize>()
}

/// Size and depth of a schema, before anything that recurses or costs.
pub(crate) fn measure(raw: &Value, limits: &Limits) -> Result<(), SchemaError> {
    let mut bytes = 0;
    for (number, (value, depth)) in values(raw).enumerate() {
        let (inside, own) = match value {
            Value::String(text) => (0, text.len()),
            Value::Array(list) => (list.len(), 0),
            Value::Object(object) => (object.len(), object.keys().map(String::len).sum()),
            _ => (0, 0),
        };
        bytes += own;
        if limits.schema_nodes < number + 1 + inside {
            return Err(SchemaError::Large { limit: limits.schema_nodes });
        }
        if limits.schema_depth < depth {
            return Err(SchemaError::Deep { limit: limits.schema_depth });
        }
        if limits.schema_bytes < bytes {
            return Err(SchemaError::Long { limit: limits.schema_bytes });
        }
    }
    Ok(())
}

/// A schema document that is walked along a value: from the schemas of the value to those of its parts.
pub(crate) struct SchemaTree<'a> {
    root: &'a Value,
    index: Index<'a>,
    left: usize,
}

/// All schemas of a document that may look at one value.
pub(crate) struct Applied<'a>(Vec<&'a Map<String, Value>>);

impl<'a> SchemaTree<'a> {
    /// Of a document that is known to be within limits.
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, index: Index::new(root), left: MOST_STEPS }
    }

    /// Those that look at the whole value.
    pub(crate) fn root(&mut self) -> Applied<'a> {
        self.applied(vec![self.root])
    }

    /// These, what they refer to, and every part of theirs that looks at the same value: of all branches of a
    /// choice, and whether a condition holds or not.
    pub(crate) fn applied(&mut self, mut open: Vec<&'a Value>) -> Applied<'a> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        while let Some(schema) = open.pop() {
            let Value::Object(object) = schema else { continue };
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            if !seen.insert(address(schema)) {
                continue;
            }
            for (keyword, value) in object {
                if let (Holds::Reference, Value::String(reference)) = (Holds::of(keyword, value), value) {
                    open.extend(self.index.find(reference, schema).ok());
                }
                let same = members(keyword, value).into_iter().filter(|member| member.reach == Reach::Same);
                open.extend(same.map(|member| member.schema));
            }
            found.push(object);
        }
        Applied(found)
    }
}

impl<'a> Applied<'a> {
    /// Whether nothing is said about the value.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a property is spoken of by name.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.0.iter().any(|schema| {
            let in_table = |keyword: &str| schema.get(keyword).is_some_and(|table| table.get(name).is_some());
            let required = schema.get("required").and_then(Value::as_array);
            required.is_some_and(|names| names.iter().any(|one| one == name))
                || ["properties", "dependentRequired", "dependentSchemas", "dependencies"]
                    .into_iter()
                    .any(in_table)
        })
    }

    /// Every property that is described or required by name.
    pub(crate) fn all_names(&self) -> Vec<&'a str> {
        let named = |schema: &&'a Map<String, Value>| schema.get("properties")?.as_object();
        let required = |schema: &&'a Map<String, Value>| schema.get("required")?.as_array();
        let named = self.0.iter().filter_map(named).flat_map(Map::keys).map(String::as_str);
        named.chain(self.0.iter().filter_map(required).flatten().filter_map(Value::as_str)).collect()
    }

    /// The schemas of a property.
    pub(crate) fn property(&self, name: &str) -> Vec<&'a Value> {
        self.parts(|schema, keyword, reach, segment| match (reach, segment) {
            (Reach::Property, Some(Segment::Name(own))) => own == name,
            // What holds for the rest.
            (Reach::Properties, None) => {
                schema.get("properties").is_none_or(|named| named.get(name).is_none())
            }
            (Reach::Properties, Some(_)) => keyword == "patternProperties",
            _ => false,
        })
    }

    /// The schemas of an item.
    pub(crate) fn item(&self, at: usize) -> Vec<&'a Value> {
        self.parts(|schema, keyword, reach, segment| match (reach, segment) {
            (Reach::Item, Some(Segment::Index(own))) => own == at,
            (Reach::Items, _) => {
                let listed = ["prefixItems", "items"].iter().find_map(|key| schema.get(*key)?.as_array());
                keyword == "contains" || listed.is_none_or(|listed| listed.len() <= at)
            }
            _ => false,
        })
    }

    fn parts(
        &self,
        is_meant: impl Fn(&Map<String, Value>, &str, Reach, Option<Segment<'_>>) -> bool,
    ) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for schema in &self.0 {
            for (keyword, value) in *schema {
                let all = members(keyword, value).into_iter();
                let meant = all.filter(|member| is_meant(schema, keyword, member.reach, member.segment));
                found.extend(meant.map(|member| member.schema));
            }
        }
        found
    }
}
