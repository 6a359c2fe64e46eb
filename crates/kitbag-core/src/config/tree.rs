//! One located tree for JSON, JSONC, YAML and TOML, so that every dialect is read by the same code and
//! every fault can point at its line.

#[cfg(feature = "files")]
mod json;
#[cfg(feature = "files")]
mod toml;
#[cfg(feature = "files")]
mod yaml;

use std::fmt;
use std::path::Path;

use serde_json::Value;

#[cfg(feature = "files")]
pub(super) use json::JSONC;

use super::source::Source;
use crate::fault::{Fault, FaultKind};
use crate::model::Limits;
use crate::text::MASK;

/// No bound in the settings goes beyond this: trees are walked and dropped by recursion.
const DEEPEST: usize = 512;

/// Line and column, both from 1; columns in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
    pub at: Position,
    /// What it is.
    pub tree: Tree,
}

/// What a value is; texts and numbers do not print, they may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum Tree {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Node>),
    /// Keys and values in order; a key may stand twice.
    Map(Vec<KeyValue>),
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(_) | Self::Text(_) => f.write_str(MASK),
            Self::List(nodes) => f.debug_list().entries(nodes.iter().map(|node| &node.tree)).finish(),
            Self::Map(pairs) => {
                f.debug_map().entries(pairs.iter().map(|pair| (&pair.key, &pair.value.tree))).finish()
            }
        }
    }
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: Position,
    /// Its value.
    pub value: Node,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, with comments and trailing commas allowed.
    Json,
    /// YAML.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// By the file's extension; JSON when it says nothing.
    pub fn of(file: &Path) -> Self {
        let extension = file.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("yaml" | "yml") => Self::Yaml,
            Some("toml") => Self::Toml,
            _ => Self::Json,
        }
    }

    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        }
    }
}

/// Reads a text into a tree, within bounds.
pub fn parse(source: &Source<'_>, format: Format, limits: &Limits) -> Result<Node, Box<Fault>> {
    if limits.config_file < source.text().len() {
        let message = format!("file is larger than {} bytes", limits.config_file);
        return Err(Box::new(
            Fault::error(FaultKind::TooLarge, message).at(source.place(Position::default())),
        ));
    }
    #[cfg(feature = "files")]
    match format {
        Format::Json => json::parse(source, limits),
        Format::Yaml => yaml::parse(source, limits),
        Format::Toml => toml::parse(source, limits),
    }
    #[cfg(not(feature = "files"))]
    {
        let message =
            format!("{} files cannot be read: built without the feature \"files\"", format.as_str());
        Err(Box::new(Fault::error(FaultKind::Unsupported, message).at(source.place(Position::default()))))
    }
}

/// Counts what a parser builds, so that no file can grow without bound.
struct Budget<'a> {
    limits: &'a Limits,
    nodes: usize,
}

impl<'a> Budget<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self { limits, nodes: 0 }
    }

    /// Accounts for one value at a depth; the message says which bound it breaks.
    fn spend(&mut self, nodes: usize, depth: usize) -> Result<(), String> {
        self.nodes = self.nodes.saturating_add(nodes);
        let deepest = self.limits.config_depth.min(DEEPEST);
        if deepest < depth {
            return Err(format!("nested more than {deepest} levels deep"));
        }
        if self.limits.config_nodes < self.nodes {
            return Err(format!("holds more than {} values", self.limits.config_nodes));
        }
        Ok(())
    }
}

fn too_large(source: &Source<'_>, at: Position, message: String) -> Box<Fault> {
    Box::new(source.mark(Fault::error(FaultKind::TooLarge, message), at))
}

impl Node {
    /// The value under a key; of two with one key the later, as JSON readers do.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.pair(key).map(|pair| &pair.value)
    }

    /// The key and value under a key.
    pub fn pair(&self, key: &str) -> Option<&KeyValue> {
        self.map()?.iter().rev().find(|pair| pair.key == key)
    }

    /// The value at the end of a path of keys.
    pub fn at_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Its pairs, if it is a map.
    pub fn map(&self) -> Option<&[KeyValue]> {
        if let Tree::Map(pairs) = &self.tree { Some(pairs) } else { None }
    }

    /// Its values, if it is a list.
    pub fn list(&self) -> Option<&[Node]> {
        if let Tree::List(nodes) = &self.tree { Some(nodes) } else { None }
    }

    /// Its text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Tree::Text(text) = &self.tree { Some(text) } else { None }
    }

    /// Its number, if it is one.
    pub fn number(&self) -> Option<f64> {
        if let Tree::Number(digits) = &self.tree { digits.replace('_', "").parse().ok() } else { None }
    }

    /// Yes or no, if it is one.
    pub fn bool(&self) -> Option<bool> {
        if let Tree::Bool(value) = self.tree { Some(value) } else { None }
    }

    /// What it is, in words for a message.
    pub fn kind(&self) -> &'static str {
        match &self.tree {
            Tree::Null => "null",
            Tree::Bool(_) => "true or false",
            Tree::Number(_) => "a number",
            Tree::Text(_) => "a string",
            Tree::List(_) => "a list",
            Tree::Map(_) => "a map",
        }
    }

    /// The same value without places.
    pub fn to_json(&self) -> Value {
        match &self.tree {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Number(digits) => serde_json::from_str(&digits.replace('_', ""))
                .unwrap_or_else(|_| Value::String(digits.clone())),
            Tree::Text(text) => Value::String(text.clone()),
            Tree::List(nodes) => nodes.iter().map(Self::to_json).collect(),
            Tree::Map(pairs) => {
                Value::Object(pairs.iter().map(|pair| (pair.key.clone(), pair.value.to_json())).collect())
            }
        }
    }
}
