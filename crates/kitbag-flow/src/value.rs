//! The values of a drawing. Its nodes were written for Python, and so lists and dictionaries are shared by whoever holds them:
//! a list that one node appends to is longer for every other one.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::raised::Raised;

mod format;
mod json;
mod ops;
mod patterns;
mod pretty;
mod read;
mod repr;

#[cfg(test)]
mod tests;

pub(crate) use format::format;
pub(crate) use json::dumps;
pub(crate) use ops::{add, compare, item, items, set_item, split_words};
pub(crate) use patterns::Pattern;
pub(crate) use pretty::pretty;
pub(crate) use read::{Dialect, read};

/// A value as Python has it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Value {
    /// `None`.
    #[default]
    None,
    /// `True` or `False`.
    Bool(bool),
    /// A whole number; what does not fit is an error.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// A string.
    Str(Arc<str>),
    /// A list, shared.
    List(List),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A dictionary, shared, in the order of its making.
    Dict(Dict),
    /// What only components look into: a tool, a memory, a client.
    Object(Object),
}

/// A list that several nodes may hold.
#[derive(Clone, Default)]
pub struct List(Arc<Mutex<Vec<Value>>>);

/// A dictionary that several nodes may hold.
#[derive(Clone, Default)]
pub struct Dict(Arc<Mutex<Entries>>);

/// What only components look into.
#[derive(Clone)]
pub struct Object {
    kind: &'static str,
    inner: Arc<dyn Any + Send + Sync>,
}

#[derive(Default)]
struct Entries {
    rows: Vec<(Value, Value)>,
    index: HashMap<Key, usize>,
}

/// A key by what Python takes for equal: `1`, `1.0` and `True` are one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    None,
    Int(i128),
    Float(u64),
    Str(Arc<str>),
    Tuple(Vec<Key>),
    Object(usize),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl List {
    /// What it holds now.
    pub fn to_vec(&self) -> Vec<Value> {
        lock(&self.0).clone()
    }

    /// One more at its end.
    pub fn push(&self, value: Value) {
        lock(&self.0).push(value);
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.0).len()
    }

    pub(crate) fn get(&self, place: usize) -> Option<Value> {
        lock(&self.0).get(place).cloned()
    }

    /// Whether there is such a place.
    pub(crate) fn put(&self, place: usize, value: Value) -> bool {
        lock(&self.0).get_mut(place).map(|old| *old = value).is_some()
    }

    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl Dict {
    /// The value of a key that is a string.
    pub fn get(&self, key: &str) -> Option<Value> {
        let entries = lock(&self.0);
        let place = *entries.index.get(&Key::Str(key.into()))?;
        entries.rows.get(place).map(|(_, value)| value.clone())
    }

    /// Sets the value of a key that is a string.
    pub fn set(&self, key: &str, value: impl Into<Value>) {
        lock(&self.0).put(Key::Str(key.into()), Value::from(key), value.into());
    }

    pub(crate) fn find(&self, key: &Value) -> Result<Option<Value>, Raised> {
        let key = Key::of(key)?;
        let entries = lock(&self.0);
        Ok(entries.index.get(&key).and_then(|place| entries.rows.get(*place)).map(|(_, value)| value.clone()))
    }

    pub(crate) fn put(&self, key: Value, value: Value) -> Result<(), Raised> {
        lock(&self.0).put(Key::of(&key)?, key, value);
        Ok(())
    }

    /// What it holds now.
    pub fn rows(&self) -> Vec<(Value, Value)> {
        lock(&self.0).rows.clone()
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.0).rows.len()
    }

    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl Entries {
    fn put(&mut self, key: Key, shown: Value, value: Value) {
        match self.index.get(&key).and_then(|place| self.rows.get_mut(*place)) {
            Some(row) => row.1 = value,
            None => {
                self.index.insert(key, self.rows.len());
                self.rows.push((shown, value));
            }
        }
    }
}

impl Object {
    /// Something that only those look into who know its type.
    pub fn new<T: Any + Send + Sync>(kind: &'static str, inner: T) -> Self {
        Self { kind, inner: Arc::new(inner) }
    }

    /// What is in it, if it is one of these.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::clone(&self.inner).downcast().ok()
    }
}

impl Key {
    fn of(value: &Value) -> Result<Self, Raised> {
        Ok(match value {
            Value::None => Self::None,
            Value::Bool(yes) => Self::Int((*yes).into()),
            Value::Int(number) => Self::Int(*number),
            Value::Float(number) => match ops::whole(*number) {
                Some(whole) => Self::Int(whole),
                None => Self::Float(number.to_bits()),
            },
            Value::Str(text) => Self::Str(Arc::clone(text)),
            Value::Tuple(parts) => Self::Tuple(parts.iter().map(Self::of).collect::<Result<_, _>>()?),
            Value::Object(object) => Self::Object(Arc::as_ptr(&object.inner).cast::<()>() as usize),
            Value::List(_) | Value::Dict(_) => {
                return Err(Raised::type_error(format!("unhashable type: '{}'", value.type_name())));
            }
        })
    }
}

impl Value {
    /// A list of these.
    pub fn list(values: impl IntoIterator<Item = Value>) -> Self {
        Self::List(List(Arc::new(Mutex::new(values.into_iter().collect()))))
    }

    /// A dictionary with these keys.
    pub fn dict<'a>(rows: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let dict = Dict::default();
        rows.into_iter().for_each(|(key, value)| dict.set(key, value));
        Self::Dict(dict)
    }

    /// It as a string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// It as a dictionary, if it is one.
    pub fn as_dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// What Python calls its type.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Dict(_) => "dict",
            Self::Object(object) => object.kind,
        }
    }

    /// Whether it counts as true.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(yes) => *yes,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Str(text) => !text.is_empty(),
            Self::List(list) => list.len() != 0,
            Self::Tuple(parts) => !parts.is_empty(),
            Self::Dict(dict) => dict.len() != 0,
            Self::Object(_) => true,
        }
    }

    /// One of its own, that shares nothing with it; what is shared within it stays so.
    pub(crate) fn deep_copy(&self) -> Self {
        self.copy_into(&mut HashMap::new())
    }

    fn copy_into(&self, known: &mut HashMap<usize, Value>) -> Self {
        match self {
            Self::List(list) => {
                if let Some(copy) = known.get(&list.address()) {
                    return copy.clone();
                }
                let copy = List::default();
                known.insert(list.address(), Self::List(copy.clone()));
                list.to_vec().iter().for_each(|value| copy.push(value.copy_into(known)));
                Self::List(copy)
            }
            Self::Dict(dict) => {
                if let Some(copy) = known.get(&dict.address()) {
                    return copy.clone();
                }
                let copy = Dict::default();
                known.insert(dict.address(), Self::Dict(copy.clone()));
                for (key, value) in dict.rows() {
                    // It was a key before.
                    let _ = copy.put(key, value.copy_into(known));
                }
                Self::Dict(copy)
            }
            Self::Tuple(parts) => Self::Tuple(parts.iter().map(|part| part.copy_into(known)).collect()),
            plain => plain.clone(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text.into())
    }
}

impl From<bool> for Value {
    fn from(yes: bool) -> Self {
        Self::Bool(yes)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Float(number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Int(i128::try_from(number).unwrap_or(i128::MAX))
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Value::List(self.clone()).repr())
    }
}

impl fmt::Debug for Dict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Value::Dict(self.clone()).repr())
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.kind)
    }
}
