//! From the arguments a model gives to those the view's schema wants, and forth for arguments shown to it.
//!
//! Both go along the schema itself: a name is only taken for another's where the schema has that other one.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::rename::Renames;
use super::root::WRAPPER;
use crate::schema::refs::Index;

mod schemas;

use schemas::Holding;

/// Values of the arguments looked at, and parts of the schema.
const MOST_STEPS: usize = 200_000;
/// Levels of nesting.
const DEEPEST: usize = 64;

/// The way back for the arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Back {
    schema: Arc<Value>,
    renames: Renames,
    wrapped: bool,
    /// Optional properties were made required, and null says that they are not given.
    nulls: bool,
}

impl Back {
    pub(super) fn new(schema: Arc<Value>, renames: Renames, wrapped: bool) -> Self {
        Self { schema, renames, wrapped, nulls: false }
    }

    pub(super) fn with_nulls(self) -> Self {
        Self { nulls: true, ..self }
    }

    /// Whether arguments are what they seem.
    pub fn is_plain(&self) -> bool {
        !self.wrapped && !self.nulls && self.renames.is_empty()
    }

    /// Turns the arguments a model gave into those the view's schema wants. What is already as it wants it
    /// stays so.
    pub fn restore(&self, arguments: &mut Map<String, Value>) {
        if self.wrapped {
            unwrap(arguments);
        }
        self.walk(arguments, Way::Back);
    }

    /// Turns arguments as the view's schema wants them into those the model would have given.
    pub fn apply(&self, arguments: &mut Map<String, Value>) {
        self.walk(arguments, Way::Forth);
        if self.wrapped {
            let inner = std::mem::take(arguments);
            arguments.insert(WRAPPER.to_owned(), Value::Object(inner));
        }
    }

    fn walk(&self, arguments: &mut Map<String, Value>, way: Way) {
        if self.nulls || !self.renames.is_empty() {
            let index = Index::new(&self.schema);
            let mut walk = Walk { back: self, index, way, left: MOST_STEPS };
            let mut whole = Value::Object(std::mem::take(arguments));
            walk.value(&mut whole, &[&*self.schema], DEEPEST);
            if let Value::Object(whole) = whole {
                *arguments = whole;
            }
        }
    }
}

/// A model may have seen through the wrapping; only what is wrapped is unwrapped.
fn unwrap(arguments: &mut Map<String, Value>) {
    if arguments.len() == 1
        && let Some(inner) = arguments.get_mut(WRAPPER)
        && inner.is_object()
        && let Value::Object(inner) = inner.take()
    {
        *arguments = inner;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}

struct Walk<'a> {
    back: &'a Back,
    index: Index<'a>,
    way: Way,
    left: usize,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &mut Value, schemas: &[&'a Value], room: usize) {
        if self.left == 0 || room == 0 || schemas.is_empty() {
            return;
        }
        self.left -= 1;
        let holding = self.holding(schemas, value, room);
        match value {
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    self.value(item, &holding.item(at), room - 1);
                }
            }
            Value::Object(object) => {
                let old = std::mem::take(object);
                for (key, mut value) in old {
                    let own = match self.way {
                        Way::Forth => key.as_str(),
                        Way::Back => {
                            self.back.renames.own(&key).filter(|own| holding.names(own)).unwrap_or(&key)
                        }
                    };
                    if self.way == Way::Back && value.is_null() && self.back.nulls && holding.may_miss(own) {
                        continue;
                    }
                    self.value(&mut value, &holding.property(own), room - 1);
                    let name = match self.way {
                        Way::Back => own,
                        Way::Forth if holding.names(own) => self.back.renames.shown(own),
                        Way::Forth => own,
                    };
                    object.insert(name.to_owned(), value);
                }
                if self.way == Way::Forth && self.back.nulls {
                    for name in holding.all_names() {
                        object.entry(self.back.renames.shown(name)).or_insert(Value::Null);
                    }
                }
            }
            _ => {}
        }
    }

    /// The schemas that speak of a value: these, what they refer to, their parts, and of a choice the branch
    /// that the value fits, or all if none stands out.
    fn holding(&mut self, schemas: &[&'a Value], value: &Value, room: usize) -> Holding<'a> {
        let mut holding = Holding::default();
        let mut open: Vec<(&'a Value, usize)> = schemas.iter().map(|schema| (*schema, room)).collect();
        while let Some((schema, room)) = open.pop() {
            let Value::Object(object) = schema else { continue };
            if self.left == 0 || room == 0 {
                break;
            }
            self.left -= 1;
            for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let target = object.get(keyword).and_then(Value::as_str);
                let target = target.and_then(|reference| self.index.find(reference, schema).ok());
                open.extend(target.map(|target| (target, room - 1)));
            }
            if let Some(Value::Array(parts)) = object.get("allOf") {
                open.extend(parts.iter().map(|part| (part, room - 1)));
            }
            for keyword in ["anyOf", "oneOf"] {
                let Some(Value::Array(branches)) = object.get(keyword) else { continue };
                match branches.iter().find(|branch| self.fits(branch, value, room - 1)) {
                    Some(branch) => open.push((branch, room - 1)),
                    None => open.extend(branches.iter().map(|branch| (branch, room - 1))),
                }
            }
            holding.push(object);
        }
        holding
    }

    /// Whether a branch could be the one that was meant, by what lies at the surface.
    fn fits(&mut self, branch: &'a Value, value: &Value, room: usize) -> bool {
        let Value::Object(object) = branch else { return *branch == Value::Bool(true) };
        if self.left == 0 || room == 0 {
            return false;
        }
        self.left -= 1;
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = self.index.find(reference, branch).ok();
            return target.is_some_and(|target| self.fits(target, value, room - 1));
        }
        if !schemas::takes(object, value) {
            return false;
        }
        let Value::Object(given) = value else { return true };
        let named = object.get("properties").and_then(Value::as_object);
        let has = |name: &str| {
            let name = if self.way == Way::Back { self.back.renames.shown(name) } else { name };
            given.get(name).filter(|value| self.way == Way::Forth || !self.back.nulls || !value.is_null())
        };
        let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
        if !required
            .filter_map(Value::as_str)
            .all(|name| has(name).is_some() || self.may_be_null(named, name, given))
        {
            return false;
        }
        let known = |key: &String| {
            let own = if self.way == Way::Back { self.back.renames.own(key).unwrap_or(key) } else { key };
            named.is_some_and(|named| named.contains_key(own))
        };
        let closed = self.back.nulls || object.get("additionalProperties") == Some(&Value::Bool(false));
        if closed && !given.keys().all(known) {
            return false;
        }
        named.into_iter().flatten().all(|(name, schema)| match (has(name), schema.as_object()) {
            (Some(value), Some(schema)) => schemas::takes(schema, value),
            _ => true,
        })
    }

    /// A required property that is given as null and takes it.
    fn may_be_null(
        &self,
        named: Option<&Map<String, Value>>,
        name: &str,
        given: &Map<String, Value>,
    ) -> bool {
        given.get(self.back.renames.shown(name)).is_some_and(Value::is_null)
            && named.and_then(|named| named.get(name)).is_none_or(schemas::takes_null)
    }
}
