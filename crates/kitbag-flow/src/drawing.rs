//! A `.xircuits` file: read into nodes and links, and kept as it was written, so that saving it loses nothing.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::problem::Problem;

mod build;
mod place;
mod read;

#[cfg(test)]
mod tests;

pub use build::{DrawingBuilder, NodeId};
use place::Step;
pub(crate) use read::argument;

/// A drawing as its file has it.
#[derive(Clone, Debug)]
pub struct Drawing {
    file: PathBuf,
    text: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: HashMap<String, Link>,
    index: HashMap<String, usize>,
}

/// A value written into a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Literal {
    /// The id of its node.
    pub node: String,
    /// Its kind: string, int, float, boolean, list, dict, tuple, secret or chat.
    pub kind: String,
    /// How it is written.
    pub text: String,
}

/// One node.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: NodeKind,
    /// Where it stands in the drawing.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) ports: Vec<Port>,
    /// The key under which it stands in its layer.
    key: String,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Start,
    Finish,
    Comment,
    /// A value written into the drawing; by its kind.
    Literal(String),
    /// A value given when the drawing is run; by its kind.
    Argument(String),
    /// Code of a library.
    Component {
        path: String,
        starts: bool,
    },
    /// Another drawing.
    Workflow {
        path: String,
    },
    /// None of these.
    Unknown(String),
}

/// One port of a node.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) id: String,
    pub(crate) name: String,
    /// What it is called by, without its star.
    pub(crate) label: String,
    pub(crate) variable: String,
    pub(crate) data_type: String,
    pub(crate) is_in: bool,
    pub(crate) is_compulsory: bool,
    pub(crate) links: Vec<String>,
}

/// One link between two ports.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Whether it says what runs next; data goes along the others.
    pub(crate) is_flow: bool,
    pub(crate) source: (String, String),
    pub(crate) target: (String, String),
}

impl Drawing {
    /// Reads the text of a file. The path is for messages, and for finding the drawings it uses.
    pub fn read(file: impl Into<PathBuf>, text: impl Into<String>) -> Result<Self, Problem> {
        let (file, text) = (file.into(), text.into());
        let parts = read::parts(&file, &text)?;
        let index = parts.nodes.iter().enumerate().map(|(place, node)| (node.id.clone(), place)).collect();
        Ok(Self { file, text, nodes: parts.nodes, links: parts.links, index })
    }

    /// Begins one without a file.
    pub fn build(name: &str) -> DrawingBuilder {
        DrawingBuilder::new(name)
    }

    /// What is to be written into its file: byte for byte what was read, but for what was changed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The file it is of.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Writes another value into a literal. Nothing else of the file changes.
    pub fn set_literal(&self, node: &str, value: &str) -> Result<Self, Problem> {
        let refuse =
            |what: &str| Problem::error(&self.file, what.to_owned(), "`kitbag flow show` lists the nodes");
        let found = self.node(node).ok_or_else(|| refuse(&format!("there is no node {node:?}")))?;
        if !matches!(found.kind, NodeKind::Literal(_)) {
            return Err(refuse(&format!("node {node:?} is not a literal")));
        }
        let layer = self.layer().ok_or_else(|| refuse("it has no layer of nodes"))?;
        let steps = [
            Step::Key("layers"),
            Step::Place(layer),
            Step::Key("models"),
            Step::Key(&found.key),
            Step::Key("ports"),
            Step::Place(0),
            Step::Key("label"),
        ];
        let range = place::find(&self.text, &steps).ok_or_else(|| refuse("its label was not found"))?;
        let mut text = self.text.clone();
        text.replace_range(range, &Json::from(value).to_string());
        Self::read(&self.file, text)
    }

    /// The values written into it.
    pub fn literals(&self) -> Vec<Literal> {
        let literal = |node: &Node| match &node.kind {
            NodeKind::Literal(kind) => Some(Literal {
                node: node.id.clone(),
                kind: kind.clone(),
                text: node.ports.first().map(|port| port.label.clone()).unwrap_or_default(),
            }),
            _ => None,
        };
        self.nodes.iter().filter_map(literal).collect()
    }

    pub(crate) fn node(&self, id: &str) -> Option<&Node> {
        self.place_of(id).and_then(|place| self.nodes.get(place))
    }

    pub(crate) fn place_of(&self, id: &str) -> Option<usize> {
        self.index.get(id).copied()
    }

    fn layer(&self) -> Option<usize> {
        let json: Json = serde_json::from_str(&self.text).ok()?;
        let is_nodes = |layer: &Json| layer.get("type").and_then(Json::as_str) == Some(read::NODES);
        json.get("layers")?.as_array()?.iter().position(is_nodes)
    }
}

impl Node {
    pub(crate) fn port(&self, id: &str) -> Option<&Port> {
        self.ports.iter().find(|port| port.id == id)
    }

    /// The library a component is of, and `-` for what is of none.
    pub(crate) fn library(&self) -> String {
        match &self.kind {
            NodeKind::Component { path, .. } | NodeKind::Workflow { path } => library(path),
            _ => "-".to_owned(),
        }
    }
}

/// The folder of `xai_components` that a path is in.
fn library(path: &str) -> String {
    let mut folders = path.split(['/', '\\']).skip_while(|folder| *folder != "xai_components").skip(1);
    match (folders.next(), path.split(['/', '\\']).next()) {
        (Some(folder), _) | (None, Some(folder)) => folder.replace('-', "_").to_lowercase(),
        (None, None) => String::new(),
    }
}
