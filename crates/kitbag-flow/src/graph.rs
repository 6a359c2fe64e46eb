//! A drawing that was checked: components with their ports resolved, ready to run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::component::Component;
use crate::value::Value;

/// A drawing, as a run needs it.
pub(crate) struct Graph {
    pub(crate) file: PathBuf,
    pub(crate) nodes: Vec<Node>,
    /// The components that start by themselves, in the order of the file.
    pub(crate) starts: Vec<usize>,
    /// What Start leads to; none if that is Finish.
    pub(crate) entry: Option<usize>,
    pub(crate) arguments: Vec<Argument>,
    /// What Finish is linked to.
    pub(crate) results: Vec<Source>,
}

/// What can be given when a drawing is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Its kind: string, int, float, boolean, secret or any.
    pub kind: String,
}

pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) what: What,
    pub(crate) inputs: HashMap<Box<str>, Wired>,
    pub(crate) next: Option<usize>,
    /// Where each branch leads; to nothing if that is Finish.
    pub(crate) branches: HashMap<Box<str>, Option<usize>>,
}

pub(crate) enum What {
    Component(Arc<dyn Component>),
    Workflow(Arc<Graph>),
}

/// What an input is linked to.
#[derive(Debug)]
pub(crate) enum Wired {
    One(Source),
    List(Vec<Source>),
    Tuple(Vec<Source>),
}

/// Where a value comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Literal(Value),
    Argument(String),
    Port { node: usize, port: Box<str> },
}

impl Wired {
    /// The same, with literals that nobody else can change.
    pub(crate) fn own_copy(&self) -> Self {
        let all = |sources: &[Source]| sources.iter().map(Source::own_copy).collect();
        match self {
            Self::One(source) => Self::One(source.own_copy()),
            Self::List(sources) => Self::List(all(sources)),
            Self::Tuple(sources) => Self::Tuple(all(sources)),
        }
    }

    pub(crate) fn sources(&self) -> &[Source] {
        match self {
            Self::One(source) => std::slice::from_ref(source),
            Self::List(sources) | Self::Tuple(sources) => sources,
        }
    }
}

impl Source {
    pub(crate) fn own_copy(&self) -> Self {
        match self {
            Self::Literal(value) => Self::Literal(value.deep_copy()),
            Self::Argument(name) => Self::Argument(name.clone()),
            Self::Port { node, port } => Self::Port { node: *node, port: port.clone() },
        }
    }
}

/// The name of the output at a place: `output`, `output_1`, …
pub(crate) fn result_name(place: usize) -> String {
    if place == 0 { "output".to_owned() } else { format!("output_{place}") }
}

/// The place of such a name.
pub(crate) fn result_place(name: &str) -> Option<usize> {
    match name.strip_prefix("output")? {
        "" => Some(0),
        rest => rest.strip_prefix('_')?.parse().ok(),
    }
}
