//! Which kinds of value a schema takes, read from the definition alone.
//!
//! The answer errs on the wide side: a kind that is left out is certainly refused, one that is in may be.

use serde_json::{Map, Value};

use super::refs::local;

/// Parts of a schema looked at for one value; beyond that everything counts as taken.
const MOST_STEPS: usize = 100_000;
/// References and choices in a row.
pub(super) const DEEPEST: usize = 24;

/// A set of kinds of JSON value. An integer is also a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);
    /// What a word can be.
    pub(super) const SCALAR: Self = Self(1 | 2 | 4 | 8 | 16);

    pub(super) fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }

    fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The kind of a value. A number without a fraction is an integer, however it is written.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() == 0.0) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    fn named(name: &str) -> Self {
        match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::INTEGER.or(Self::FRACTION),
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => Self::ALL,
        }
    }
}

/// Reads a schema, with bounds: one reader serves one value, however many parts that has.
pub(super) struct Reader<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Reader<'a> {
    /// References are those of `root`.
    pub(super) fn new(root: &'a Value) -> Self {
        Self { root, left: MOST_STEPS }
    }

    /// What a schema takes.
    pub(super) fn accepted(&mut self, schema: &Value) -> Kinds {
        self.kinds(schema, DEEPEST)
    }

    fn kinds(&mut self, schema: &Value, room: usize) -> Kinds {
        let object = match schema {
            Value::Bool(false) => return Kinds::NONE,
            Value::Object(object) => object,
            _ => return Kinds::ALL,
        };
        if self.left == 0 || room == 0 {
            return Kinds::ALL;
        }
        // Every value of an `enum` is looked at, for every item of a list anew.
        self.left = self.left.saturating_sub(1 + parts(object, "enum").len());
        let room = room - 1;
        let target = object.get("$ref").and_then(Value::as_str).map(|reference| local(self.root, reference));
        let mut kinds = match target {
            Some(Some(target)) => self.kinds(target, room),
            _ => Kinds::ALL,
        };
        // Up to draft 7 nothing counts beside a reference; which draft it is stands elsewhere, so the wide
        // reading holds for all.
        if target.is_some() {
            return kinds;
        }
        kinds = kinds.and(own(object));
        for part in parts(object, "allOf") {
            kinds = kinds.and(self.kinds(part, room));
        }
        for choice in ["anyOf", "oneOf"] {
            if !parts(object, choice).is_empty() {
                let any = |any: Kinds, part| any.or(self.kinds(part, room));
                kinds = kinds.and(parts(object, choice).iter().fold(Kinds::NONE, any));
            }
        }
        kinds
    }

    /// The schemas that all hold for a value of that kind: the schema itself, what it refers to, its `allOf`,
    /// and of a choice the one branch that takes the kind at all.
    pub(super) fn holding(&mut self, schema: &'a Value, kind: Kinds) -> Vec<&'a Map<String, Value>> {
        let mut found = Vec::new();
        let mut open = vec![(schema, DEEPEST)];
        while let Some((schema, room)) = open.pop() {
            let Value::Object(object) = schema else { continue };
            if self.left == 0 || room == 0 || DEEPEST * 4 < found.len() {
                break;
            }
            self.left -= 1;
            if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
                open.extend(local(self.root, reference).map(|target| (target, room - 1)));
                continue;
            }
            found.push(object);
            open.extend(parts(object, "allOf").iter().map(|part| (part, room - 1)));
            for choice in ["anyOf", "oneOf"] {
                let mut taking = parts(object, choice).iter().filter(|part| self.accepted(part).has(kind));
                if let (Some(only), None) = (taking.next(), taking.next()) {
                    open.push((only, room - 1));
                }
            }
        }
        found
    }
}

/// By `type`, `enum` and `const`.
fn own(object: &Map<String, Value>) -> Kinds {
    let any = |list: &[Value], kind: fn(&Value) -> Kinds| {
        list.iter().fold(Kinds::NONE, |any, value| any.or(kind(value)))
    };
    let named = |value: &Value| value.as_str().map_or(Kinds::ALL, Kinds::named);
    let mut kinds = match object.get("type") {
        Some(Value::Array(list)) if !list.is_empty() => any(list, named),
        Some(name) => named(name),
        None => Kinds::ALL,
    };
    if let Some(Value::Array(list)) = object.get("enum")
        && !list.is_empty()
    {
        kinds = kinds.and(any(list, Kinds::of));
    }
    if let Some(value) = object.get("const") {
        kinds = kinds.and(Kinds::of(value));
    }
    kinds
}

/// The schemas in a list.
pub(super) fn parts<'a>(object: &'a Map<String, Value>, keyword: &str) -> &'a [Value] {
    object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The schema of a property, also where it stands behind a reference or in one of several parts.
pub fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let holding = Reader::new(schema).holding(schema, Kinds::OBJECT);
    holding.into_iter().find_map(|object| object.get("properties")?.get(name))
}

/// Whether null may be among what a schema takes; if not, it is certainly refused. References are those of `root`.
pub(crate) fn may_be_null(root: &Value, schema: &Value) -> bool {
    Reader::new(root).accepted(schema).has(Kinds::NULL)
}
