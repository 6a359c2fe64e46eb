//! What checking one value takes, counted before it is done.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Graph, Step};
use crate::schema::refs::address;
use crate::schema::tree::values;

/// Visits nested in each other while a value is checked. Each takes some frames of the stack.
const DEEPEST: usize = 512;
/// The size of patterns that stay cheap for any text.
const SMALL: u64 = 12;

/// How long a check may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::schema) enum Effort {
    /// Short enough to collect what is wrong.
    Small,
    /// Short enough to say whether it is valid.
    Large,
    /// Not to be tried.
    Unbounded,
}

impl Graph {
    /// What checking `value` takes at most.
    pub(in crate::schema) fn effort(&self, value: &Value) -> Effort {
        let (size, depth) = extent(value, self.reads);
        // Some keywords go through a whole value by themselves.
        if DEEPEST < depth || self.steps.saturating_mul(4) < size {
            return Effort::Unbounded;
        }
        // A schema without sharing looks at each value with each of its parts at most once.
        let rough = self.weight.saturating_mul(size);
        if !self.shared && rough <= self.steps / 20 {
            return Effort::Small;
        }
        let visits = Meter { graph: self, known: HashMap::new(), left: self.steps }.visits(0, value, DEEPEST);
        match visits {
            Some(visits) if visits <= self.steps / 20 => Effort::Small,
            Some(visits) if visits <= self.steps => Effort::Large,
            _ => Effort::Unbounded,
        }
    }
}

/// The size of a value, texts included where patterns read them, and its depth.
fn extent(value: &Value, reads: u64) -> (u64, usize) {
    let (mut size, mut deepest) = (0u64, 0);
    for (value, depth) in values(value) {
        deepest = deepest.max(depth);
        let read = match value {
            Value::String(text) => read_cost(text, reads),
            Value::Object(object) => names_cost(object, reads),
            _ => 0,
        };
        size = size.saturating_add(1).saturating_add(read);
    }
    (size, deepest)
}

/// Linear time is the length of the text times the size of the pattern, unless the pattern is so small that
/// its automaton is built once and for all.
fn read_cost(text: &str, pattern: u64) -> u64 {
    let length = text.len() as u64;
    match pattern {
        0 => 0,
        1..=SMALL => length / 64,
        _ => length.saturating_mul(pattern) / 10,
    }
}

fn names_cost(object: &Map<String, Value>, pattern: u64) -> u64 {
    object.keys().fold(0, |all, name| all.saturating_add(1 + read_cost(name, pattern)))
}

struct Meter<'g> {
    graph: &'g Graph,
    /// Each pair of shared part and value is counted once, so that counting is no explosion of its own.
    known: HashMap<(usize, usize), u64>,
    left: u64,
}

impl Meter<'_> {
    /// Visits that checking `value` against a part of the schema makes if nothing is cut short.
    fn visits(&mut self, id: usize, value: &Value, room: usize) -> Option<u64> {
        let key = (id, address(value));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let room = room.checked_sub(1)?;
        let graph = self.graph;
        let node = &graph.nodes[id];
        self.left = self.left.checked_sub(node.weight)?;
        let mut sum = match value {
            Value::String(text) => node.weight.saturating_add(read_cost(text, node.reads)),
            Value::Object(object) if 0 < node.reads_names => {
                node.weight.saturating_add(names_cost(object, node.reads_names))
            }
            _ => node.weight,
        };
        for (step, next) in &node.edges {
            let more = match (step, value) {
                (Step::Same, _) => self.visits(*next, value, room)?.saturating_mul(node.times()),
                (Step::Property(name), Value::Object(object)) => match object.get(&**name) {
                    Some(inner) => self.visits(*next, inner, room)?,
                    None => 0,
                },
                (Step::Properties, Value::Object(object)) => self.all(*next, object.values(), room)?,
                (Step::Names, Value::Object(object)) => {
                    graph.nodes[*next].ways.saturating_mul(names_cost(object, graph.reads))
                }
                (Step::Item(index), Value::Array(list)) => match list.get(*index) {
                    Some(inner) => self.visits(*next, inner, room)?,
                    None => 0,
                },
                (Step::Items, Value::Array(list)) => self.all(*next, list.iter(), room)?,
                _ => 0,
            };
            sum = sum.saturating_add(more);
            if self.graph.steps < sum {
                return None;
            }
        }
        if node.shared {
            self.known.insert(key, sum);
        }
        Some(sum)
    }

    fn all<'v>(&mut self, id: usize, values: impl Iterator<Item = &'v Value>, room: usize) -> Option<u64> {
        let mut sum = 0u64;
        for value in values {
            sum = sum.saturating_add(self.visits(id, value, room)?);
        }
        Some(sum)
    }
}
