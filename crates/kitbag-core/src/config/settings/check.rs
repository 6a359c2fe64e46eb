//! Whether a tree fits the table of keys.

use super::super::source::Source;
use super::super::tree::{KeyValue, Node};
use super::keys::{self, Key, ROOT, Shape};
use super::units::{bound, duration};
use crate::fault::{Fault, FaultKind};
use crate::model::{Limits, MillionTokens};
use crate::text::nearest;

/// Every key that nobody reads and every value that does not fit.
pub(super) fn check(source: &Source<'_>, root: &Node, most: usize) -> Vec<Fault> {
    let mut checker = Checker { source, faults: Vec::new(), most };
    checker.node("kitbag.toml", &Shape::Table(ROOT), root);
    checker.faults
}

struct Checker<'a> {
    source: &'a Source<'a>,
    faults: Vec<Fault>,
    /// Nobody reads more.
    most: usize,
}

impl Checker<'_> {
    /// The table is a few levels deep and bounds this recursion.
    fn node(&mut self, name: &str, shape: &Shape, node: &Node) {
        let fits = fits(shape, node);
        match shape {
            Shape::Any => {}
            Shape::Text => self.expect(name, node, fits, "a string"),
            Shape::Bool => self.expect(name, node, fits, "true or false"),
            Shape::Count => self.expect(name, node, fits, "a whole number"),
            Shape::Price => self.expect(name, node, fits, "a number of US dollars such as 0.25"),
            Shape::Texts => self.expect(name, node, fits, "a list of strings"),
            Shape::Variables => self.expect(name, node, fits, "a list of names or \"all\""),
            Shape::Duration => self.expect(name, node, fits, "a time such as \"5s\" or \"500ms\""),
            Shape::OneOf(words) => self.one_of(name, node, words),
            Shape::Words(words) => match node.list() {
                Some(nodes) => nodes.iter().for_each(|node| self.one_of(name, node, words)),
                None => self.expect(name, node, false, "a list of strings"),
            },
            Shape::Hosts => self.hosts(name, node),
            Shape::Limits => self.limits(node),
            Shape::Table(keys) => self.table(name, keys, node),
            Shape::Named(inner) => match node.map() {
                Some(pairs) => pairs.iter().for_each(|pair| self.node(&pair.key, inner, &pair.value)),
                None => self.expect(name, node, false, "a table"),
            },
            Shape::List(inner) => match node.list() {
                Some(nodes) => nodes.iter().for_each(|node| self.node(name, inner, node)),
                None => self.expect(name, node, false, "a list"),
            },
        }
    }

    fn table(&mut self, name: &str, keys: &'static [Key], node: &Node) {
        let Some(pairs) = node.map() else { return self.expect(name, node, false, "a table") };
        for pair in pairs {
            match keys.iter().find(|key| key.name == pair.key) {
                Some(key) => self.node(key.name, &key.shape, &pair.value),
                None => self.unknown(name, pair, &keys::strictest_first(keys)),
            }
        }
    }

    fn limits(&mut self, node: &Node) {
        let Some(pairs) = node.map() else { return self.expect("limits", node, false, "a table") };
        for pair in pairs {
            let fits = bound(&pair.value).is_some_and(|bound| Limits::default().set(&pair.key, bound));
            if !keys::limits().any(|name| name == pair.key) {
                self.unknown("limits", pair, Limits::NAMES);
            } else {
                self.expect(
                    &pair.key,
                    &pair.value,
                    fits,
                    "a number from 1, a size such as \"16MiB\" or a time such as \"5s\"",
                );
            }
        }
    }

    fn hosts(&mut self, name: &str, node: &Node) {
        self.expect(name, node, are_texts(node), "a list of strings");
        for node in node.list().unwrap_or(std::slice::from_ref(node)) {
            if self.most <= self.faults.len() {
                return;
            }
            let Some(word) = node.text().filter(|word| !keys::hosts().any(|host| host == *word)) else {
                continue;
            };
            let fault = Fault::error(FaultKind::WrongValue, format!("unknown program {word:?}"));
            let fault = match nearest(word, keys::hosts()) {
                Some(near) => fault.hint(format!("did you mean {near:?}?")),
                None => fault.hint(format!("one of {}", keys::hosts().collect::<Vec<_>>().join(", "))),
            };
            self.say(fault, node);
        }
    }

    fn one_of(&mut self, name: &str, node: &Node, words: &'static [&'static str]) {
        let Some(word) = node.text() else { return self.expect(name, node, false, "a string") };
        if !words.contains(&word) {
            let fault = Fault::error(FaultKind::WrongValue, format!("{name:?} cannot be {word:?}"));
            self.say(fault.hint(format!("one of {}", words.join(", "))), node);
        }
    }

    /// The first of `keys` that is a slip away is what was probably meant.
    fn unknown(&mut self, table: &str, pair: &KeyValue, keys: &[&'static str]) {
        if self.most <= self.faults.len() {
            return;
        }
        let fault = Fault::error(FaultKind::UnknownKey, format!("unknown key {:?} in {table}", pair.key));
        let fault = match nearest(&pair.key, keys.iter().copied()) {
            Some(near) => fault.hint(format!("did you mean {near:?}?")),
            None => fault.hint(format!("known keys: {}", keys.join(", "))),
        };
        let fault = self.source.mark(fault, pair.at);
        self.faults.push(fault);
    }

    fn expect(&mut self, name: &str, node: &Node, fits: bool, what: &str) {
        if !fits {
            self.say(
                Fault::error(FaultKind::WrongType, format!("{name:?} must be {what}, found {}", node.kind())),
                node,
            );
        }
    }

    fn say(&mut self, fault: Fault, node: &Node) {
        if self.faults.len() < self.most {
            let fault = self.source.mark(fault, node.at);
            self.faults.push(fault);
        }
    }
}

/// Whether a value is what a key wants; what is inside of a table is judged key by key.
pub(super) fn fits(shape: &Shape, node: &Node) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Text => node.text().is_some(),
        Shape::Bool => node.bool().is_some(),
        Shape::Count => node.number().is_some_and(is_count),
        Shape::Price => node.number().and_then(MillionTokens::of_dollars).is_some(),
        Shape::Duration => node.text().and_then(duration).is_some(),
        Shape::Texts | Shape::Hosts => are_texts(node),
        Shape::Variables => node.text() == Some("all") || are_texts(node),
        Shape::OneOf(words) => node.text().is_some_and(|word| words.contains(&word)),
        Shape::Words(words) => {
            node.list().is_some_and(|nodes| nodes.iter().all(|node| fits(&Shape::OneOf(words), node)))
        }
        Shape::Limits | Shape::Table(_) | Shape::Named(_) => node.map().is_some(),
        Shape::List(_) => node.list().is_some(),
    }
}

/// Whether a number counts things.
pub(super) fn is_count(number: f64) -> bool {
    0.0 <= number && number.fract() == 0.0 && number < 1e15
}

fn are_texts(node: &Node) -> bool {
    node.list().is_some_and(|nodes| nodes.iter().all(|node| node.text().is_some()))
}
