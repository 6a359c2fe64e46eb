//! A schema in one piece with what it refers to and its `allOf`, within a budget.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::SchemaError;
use super::keyword::REFERENCES;
use super::merge::merge;
use super::refs::Index;
use super::tree::count;

/// Makes one schema of several that all hold.
pub(crate) struct Flattener<'a> {
    root: &'a Value,
    /// Made when the first reference is met.
    index: Option<Index<'a>>,
    /// References on the way here.
    pub(crate) followed: Vec<String>,
    /// References of parts that are done.
    done: Vec<String>,
    /// Keywords that one schema cannot say for all of them.
    pub(crate) lost: BTreeSet<String>,
    parts: Parts,
    left: usize,
    limit: usize,
    deepest: usize,
}

/// One schema, or nothing where a reference leads back to itself.
type Flat = Result<Option<Map<String, Value>>, SchemaError>;

/// What becomes part of the one schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// What it refers to.
    References,
    /// Its `allOf` as well.
    All,
    /// One branch of each choice as well, the one of that number where there are as many.
    Branch(usize),
}

impl<'a> Flattener<'a> {
    /// For schemas of one document. Not more than `limit` values are copied, nor `deepest` levels followed.
    pub(crate) fn new(root: &'a Value, parts: Parts, limit: usize, deepest: usize) -> Self {
        let (followed, done, lost) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { root, index: None, followed, done, lost, parts, left: limit, limit, deepest }
    }

    /// Takes so many values off the budget.
    pub(crate) fn spend(&mut self, values: usize, depth: usize) -> Result<(), SchemaError> {
        if self.deepest < depth {
            return Err(SchemaError::Deep { limit: self.deepest });
        }
        self.left = self.left.checked_sub(values).ok_or(SchemaError::FanOut { limit: self.limit })?;
        Ok(())
    }

    /// All in one; nothing if that leads back here. What was referred to is then on the way to what is inside.
    pub(crate) fn whole(&mut self, object: &Map<String, Value>, depth: usize) -> Flat {
        let flat = self.flat(object, depth)?;
        self.followed.append(&mut self.done);
        Ok(flat)
    }

    fn flat(&mut self, object: &Map<String, Value>, depth: usize) -> Flat {
        self.spend(count(object), depth)?;
        let mut flat = object.clone();
        for keyword in REFERENCES {
            let Some(reference) = flat.shift_remove(keyword) else { continue };
            let reference = reference.as_str().ok_or_else(|| SchemaError::not_a_schema(keyword))?;
            if self.followed.iter().any(|before| before == reference) {
                return Ok(None);
            }
            let index = self.index.get_or_insert_with(|| Index::new(self.root));
            let target = index.target(reference, self.root)?;
            self.followed.push(reference.to_owned());
            if !self.add(&mut flat, target, depth)? {
                return Ok(None);
            }
        }
        if self.parts == Parts::References {
            return Ok(Some(flat));
        }
        if let Some(Value::Array(parts)) = flat.shift_remove("allOf") {
            for part in &parts {
                if !self.add(&mut flat, part, depth)? {
                    return Ok(None);
                }
            }
        }
        let Parts::Branch(number) = self.parts else { return Ok(Some(flat)) };
        for choice in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = flat.shift_remove(choice) else { continue };
            let turned = branches.iter().cycle().skip(number % branches.len().max(1)).take(branches.len());
            let mut taken = turned.filter_map(|branch| self.part(branch, depth).ok()?);
            match taken.next() {
                Some(taken) => merge(&mut flat, &taken, &mut self.lost),
                None if branches.is_empty() => {}
                None => return Ok(None),
            }
        }
        Ok(Some(flat))
    }

    /// Adds what a schema asks for; whether that leads somewhere.
    fn add(
        &mut self,
        whole: &mut Map<String, Value>,
        part: &Value,
        depth: usize,
    ) -> Result<bool, SchemaError> {
        let part = self.part(part, depth)?;
        part.iter().for_each(|part| merge(whole, part, &mut self.lost));
        Ok(part.is_some())
    }

    fn part(&mut self, schema: &Value, depth: usize) -> Flat {
        match schema {
            Value::Object(object) => {
                let before = self.followed.len();
                let flat = self.flat(object, depth + 1);
                self.done.extend(self.followed.drain(before..));
                flat
            }
            Value::Bool(true) => Ok(Some(Map::new())),
            Value::Bool(false) => {
                self.lost.insert("false".to_owned());
                Ok(Some(Map::new()))
            }
            _ => Err(SchemaError::not_a_schema("")),
        }
    }
}
