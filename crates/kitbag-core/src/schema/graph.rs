//! How a schema's parts lead to each other, and how much work that makes.
//!
//! Thirty definitions that each refer twice to the next are thirty lines of text and a thousand million
//! visits. So the ways through a schema are counted before anything follows them: once when it is compiled
//! (how often can it look at one value), and before each check of a value that could take long.

use std::collections::HashMap;

use serde_json::Value;

use super::SchemaError;
use super::keyword::{Holds, Reach, Segment, members};
use super::pattern::Patterns;
use super::refs::{Index, address};
use crate::model::Limits;

mod effort;

pub(super) use effort::Effort;

/// Which part of a value an edge leads to.
#[derive(Clone, Debug)]
enum Step {
    Same,
    Property(Box<str>),
    Properties,
    Names,
    Item(usize),
    Items,
}

#[derive(Clone, Debug, Default)]
struct GraphNode {
    edges: Vec<(Step, usize)>,
    /// What one visit costs.
    weight: u64,
    /// Whether more than one way leads here.
    shared: bool,
    /// The size of its pattern for texts.
    reads: u64,
    /// The size of its patterns for names.
    reads_names: u64,
    /// Whether it asks what the schemas inside have looked at, which takes another visit of each.
    twice: bool,
    /// Visits of one value that start here, at most.
    ways: u64,
}

impl GraphNode {
    /// Visits of the schemas inside for one visit of this.
    fn times(&self) -> u64 {
        if self.twice { 2 } else { 1 }
    }
}

/// The parts of a schema that can be reached.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    nodes: Vec<GraphNode>,
    /// Whether two ways lead to one part, so that the size of the schema says little about the work.
    shared: bool,
    weight: u64,
    /// The size of the largest pattern.
    reads: u64,
    steps: u64,
}

/// A part of a schema that references lead to.
pub(super) struct Target<'a> {
    pub(super) schema: &'a Value,
    /// The reference as it was written first.
    pub(super) reference: &'a str,
}

/// What following all references gave.
pub(super) struct Survey<'a> {
    pub(super) index: Index<'a>,
    pub(super) targets: Vec<Target<'a>>,
    /// The number of a target, by its address.
    pub(super) numbers: HashMap<usize, usize>,
    nodes: Vec<GraphNode>,
    ids: HashMap<usize, usize>,
    /// References with the schema that holds them and its node, to be followed.
    open: Vec<(&'a Value, &'a str, usize)>,
    shared: bool,
    /// The patterns met on the way.
    pub(super) patterns: Patterns<'a>,
}

impl<'a> Survey<'a> {
    pub(super) fn of(root: &'a Value, limits: &Limits) -> Result<(Self, Graph), SchemaError> {
        let mut survey = Self {
            index: Index::new(root),
            targets: Vec::new(),
            numbers: HashMap::new(),
            nodes: Vec::new(),
            ids: HashMap::new(),
            open: Vec::new(),
            shared: false,
            patterns: Patterns::default(),
        };
        survey.visit(root);
        while let Some((from, reference, node)) = survey.open.pop() {
            survey.follow(from, reference, node)?;
        }
        let mut nodes = std::mem::take(&mut survey.nodes);
        count_ways(&mut nodes, limits)?;
        let weight = nodes.iter().map(|node| node.weight).sum();
        let reads = nodes.iter().map(|node| node.reads.max(node.reads_names)).max().unwrap_or(0);
        let steps = limits.schema_steps as u64;
        let graph = Graph { nodes, shared: survey.shared, weight, reads, steps };
        Ok((survey, graph))
    }

    fn follow(&mut self, from: &'a Value, reference: &'a str, node: usize) -> Result<(), SchemaError> {
        let schema = self.index.target(reference, from)?;
        let target = self.visit(schema);
        self.nodes[node].edges.push((Step::Same, target));
        let number = self.targets.len();
        self.numbers.entry(address(schema)).or_insert_with(|| {
            self.targets.push(Target { schema, reference });
            number
        });
        Ok(())
    }

    /// What a keyword adds to the cost of one visit.
    fn weigh(&mut self, id: usize, keyword: &str, value: &'a Value) {
        let node = &mut self.nodes[id];
        match (keyword, value) {
            ("pattern", Value::String(pattern)) => node.reads += self.patterns.cost(pattern),
            ("patternProperties", Value::Object(table)) => {
                let all = table.keys().fold(0u64, |all, name| all.saturating_add(self.patterns.cost(name)));
                node.reads_names = all;
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => node.twice = true,
            (_, Value::Array(list)) => node.weight += list.len() as u64 / 4,
            _ => {}
        }
    }

    /// Adds a schema and those inside it; goes as deep as the document does.
    fn visit(&mut self, schema: &'a Value) -> usize {
        let id = self.nodes.len();
        if let Some(known) = self.ids.insert(address(schema), id) {
            self.ids.insert(address(schema), known);
            self.nodes[known].shared = true;
            self.shared = true;
            return known;
        }
        self.nodes.push(GraphNode { weight: 1, ..GraphNode::default() });
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            self.weigh(id, keyword, value);
            if let (Holds::Reference, Value::String(reference)) = (Holds::of(keyword, value), value) {
                self.open.push((schema, reference, id));
            }
            for member in members(keyword, value) {
                let step = match (member.reach, member.segment) {
                    (Reach::Property, Some(Segment::Name(name))) => Step::Property(name.into()),
                    (Reach::Item, Some(Segment::Index(index))) => Step::Item(index),
                    (Reach::Names, _) => Step::Names,
                    (Reach::Items | Reach::Item, _) => Step::Items,
                    (Reach::Properties | Reach::Property, _) => Step::Properties,
                    (Reach::Same, _) => Step::Same,
                };
                let inner = self.visit(member.schema);
                self.nodes[id].edges.push((step, inner));
            }
        }
        id
    }
}

/// Fills in [`GraphNode::ways`], or says why there are too many.
fn count_ways(nodes: &mut [GraphNode], limits: &Limits) -> Result<(), SchemaError> {
    let mut marks = vec![Mark::New; nodes.len()];
    // The compiler follows the ways itself where it must know what was looked at: then all count together.
    let mut followed = 0u64;
    for id in 0..nodes.len() {
        ways_from(nodes, &mut marks, id, limits.schema_depth).map_err(|turn| match turn {
            Turn::Back => SchemaError::Loop,
            Turn::Deep => SchemaError::Deep { limit: limits.schema_depth },
        })?;
        let node = &nodes[id];
        followed = followed.saturating_add(if node.twice { node.ways } else { 0 });
        if (limits.schema_ways as u64) < node.ways.max(followed) {
            return Err(SchemaError::FanOut { limit: limits.schema_ways });
        }
    }
    Ok(())
}

/// Why a way has no end in sight.
enum Turn {
    Back,
    Deep,
}

#[derive(Clone, Copy)]
enum Mark {
    New,
    Open,
    /// Known, with the longest way from here.
    Done(usize),
}

/// The longest way from a node that stays at one value. `room` bounds how deep this goes itself.
fn ways_from(nodes: &mut [GraphNode], marks: &mut [Mark], id: usize, room: usize) -> Result<usize, Turn> {
    match marks[id] {
        Mark::Open => return Err(Turn::Back),
        Mark::Done(longest) if longest <= room => return Ok(longest),
        Mark::New if 0 < room => {}
        Mark::Done(_) | Mark::New => return Err(Turn::Deep),
    }
    marks[id] = Mark::Open;
    let (mut ways, mut longest) = (nodes[id].weight, 0);
    for edge in 0..nodes[id].edges.len() {
        let (Step::Same, next) = nodes[id].edges[edge] else { continue };
        longest = longest.max(ways_from(nodes, marks, next, room - 1)?);
        let more = nodes[next].ways.saturating_mul(nodes[id].times());
        ways = ways.saturating_add(more);
    }
    nodes[id].ways = ways;
    marks[id] = Mark::Done(longest + 1);
    Ok(longest + 1)
}
