//! YAML, built from parser events: every key keeps its place, and an alias costs what it expands to.

use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Parser, ScalarStyle, Span, Tag};

use super::{Budget, KeyValue, Node, Position, Tree, too_large};
use crate::config::source::Source;
use crate::fault::{Fault, FaultKind};
use crate::model::Limits;

pub(super) fn parse(source: &Source<'_>, limits: &Limits) -> Result<Node, Box<Fault>> {
    let mut builder = Builder {
        source,
        budget: Budget::new(limits),
        open: Vec::new(),
        anchors: HashMap::new(),
        root: None,
    };
    for next in Parser::new_from_str(source.text()) {
        let (event, span) = next.map_err(|error| syntax(source, &error))?;
        if matches!(event, Event::DocumentEnd) {
            break; // One document a file; what follows belongs to somebody else.
        }
        builder.event(event, &span)?;
    }
    Ok(builder.root.unwrap_or(Node { at: Position { line: 1, column: 1 }, tree: Tree::Null }))
}

fn syntax(source: &Source<'_>, error: &granit_parser::ScanError) -> Box<Fault> {
    let at = position(error.marker());
    let message = error.info().lines().next().unwrap_or("syntax error").trim_end_matches('.').to_owned();
    let fault = Fault::error(FaultKind::Syntax, format!("not valid YAML: {message}"));
    let line = source.text().lines().nth(at.line.saturating_sub(1) as usize).unwrap_or("");
    let tab = line.starts_with(char::is_whitespace) && line.trim_start_matches(' ').starts_with('\t');
    Box::new(source.mark(if tab { fault.hint("YAML is indented with spaces, not tabs") } else { fault }, at))
}

/// The parser counts columns from 0.
fn position(marker: &granit_parser::Marker) -> Position {
    Position { line: marker.line() as u32, column: marker.col() as u32 + 1 }
}

/// A collection that is still being filled.
struct Open {
    at: Position,
    anchor: usize,
    kind: Filling,
}

enum Filling {
    List(Vec<Node>),
    Map { pairs: Vec<KeyValue>, key: Option<(String, Position)> },
}

struct Builder<'a> {
    source: &'a Source<'a>,
    budget: Budget<'a>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize)>,
    root: Option<Node>,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: &Span) -> Result<(), Box<Fault>> {
        let at = position(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tree = scalar(&text, style, tag.as_deref());
                self.close(Node { at, tree }, anchor, 1)
            }
            Event::SequenceStart(_, anchor, _) => self.begin(at, anchor, Filling::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => {
                self.begin(at, anchor, Filling::Map { pairs: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                let tree = match open.kind {
                    Filling::List(nodes) => Tree::List(nodes),
                    Filling::Map { pairs, .. } => Tree::Map(merged(pairs)),
                };
                self.close(Node { at: open.at, tree }, open.anchor, 1)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor) else {
                    let fault = Fault::error(
                        FaultKind::Syntax,
                        "not valid YAML: an alias refers to a value that contains it",
                    );
                    return Err(Box::new(self.source.mark(fault, at)));
                };
                let (deep, size) = (depth(node), *size);
                let spent = self.budget.spend(size, self.open.len() + deep);
                spent.map_err(|message| too_large(self.source, at, message))?;
                let node = Node { at, tree: node.tree.clone() };
                self.close(node, 0, 0)
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, at: Position, anchor: usize, kind: Filling) -> Result<(), Box<Fault>> {
        self.open.push(Open { at, anchor, kind });
        self.budget.spend(0, self.open.len()).map_err(|message| too_large(self.source, at, message))
    }

    /// A finished value goes where the innermost open collection wants it.
    fn close(&mut self, node: Node, anchor: usize, cost: usize) -> Result<(), Box<Fault>> {
        self.budget
            .spend(cost, self.open.len())
            .map_err(|message| too_large(self.source, node.at, message))?;
        if anchor != 0 {
            let size = size(&node);
            self.budget.spend(size, 0).map_err(|message| too_large(self.source, node.at, message))?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(Filling::List(nodes)) => nodes.push(node),
            Some(Filling::Map { pairs, key }) => match key.take() {
                Some((key, at)) => pairs.push(KeyValue { key, at, value: node }),
                None => *key = Some((key_text(&node), node.at)),
            },
        }
        Ok(())
    }
}

/// `<<: *base` brings in the base's keys; keys written out win.
fn merged(pairs: Vec<KeyValue>) -> Vec<KeyValue> {
    if !pairs.iter().any(|pair| pair.key == "<<") {
        return pairs;
    }
    let (bases, own): (Vec<KeyValue>, Vec<KeyValue>) = pairs.into_iter().partition(|pair| pair.key == "<<");
    let mut known: HashSet<String> = own.iter().map(|pair| pair.key.clone()).collect();
    let mut all = Vec::new();
    for base in bases {
        let maps = match base.value.tree {
            Tree::List(nodes) => nodes,
            tree => vec![Node { at: base.at, tree }],
        };
        for pair in maps
            .into_iter()
            .filter_map(|node| if let Tree::Map(pairs) = node.tree { Some(pairs) } else { None })
            .flatten()
        {
            if known.insert(pair.key.clone()) {
                all.push(pair);
            }
        }
    }
    own.into_iter().chain(all).collect()
}

fn key_text(node: &Node) -> String {
    match &node.tree {
        Tree::Text(text) | Tree::Number(text) => text.clone(),
        Tree::Bool(value) => value.to_string(),
        Tree::Null => String::new(),
        Tree::List(_) | Tree::Map(_) => "?".to_owned(),
    }
}

/// What a copy of this costs: its values, and its texts, long ones as several values.
fn size(node: &Node) -> usize {
    const VALUE: usize = 64;
    match &node.tree {
        Tree::List(nodes) => 1 + nodes.iter().map(size).sum::<usize>(),
        Tree::Map(pairs) => {
            1 + pairs.iter().map(|pair| pair.key.len() / VALUE + size(&pair.value)).sum::<usize>()
        }
        Tree::Text(text) | Tree::Number(text) => 1 + text.len() / VALUE,
        Tree::Null | Tree::Bool(_) => 1,
    }
}

fn depth(node: &Node) -> usize {
    match &node.tree {
        Tree::List(nodes) => 1 + nodes.iter().map(depth).max().unwrap_or(0),
        Tree::Map(pairs) => 1 + pairs.iter().map(|pair| depth(&pair.value)).max().unwrap_or(0),
        _ => 0,
    }
}

/// The core schema; only unquoted, untagged words can be anything but text.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Tree {
    let plain = matches!(style, ScalarStyle::Plain) && tag.is_none();
    match text {
        "" | "~" | "null" | "Null" | "NULL" if plain => Tree::Null,
        "true" | "True" | "TRUE" if plain => Tree::Bool(true),
        "false" | "False" | "FALSE" if plain => Tree::Bool(false),
        word if plain && is_number(word) => Tree::Number(word.trim_start_matches('+').to_owned()),
        word => Tree::Text(word.to_owned()),
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && word.len() - digits.len() <= 1
        && serde_json::from_str::<f64>(digits).is_ok()
}
