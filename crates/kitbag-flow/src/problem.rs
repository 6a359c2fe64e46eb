//! What is wrong with a drawing, said before anything of it runs: the file, the node, the port, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; it runs all the same.
    Note,
    /// It runs, and will probably not do what is meant.
    Warning,
    /// It is not run.
    Error,
}

/// One thing that is wrong with a drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    pub file: PathBuf,
    /// The node, if it is about one.
    pub node: Option<Box<NodePlace>>,
    /// The port of that node, if it is about one.
    pub port: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// Which node, for someone who looks at the drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct NodePlace {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// How far from the left it stands.
    pub x: f64,
    /// How far from the top it stands.
    pub y: f64,
}

impl Problem {
    pub(crate) fn error(file: &Path, what: impl Into<String>, fix: impl Into<String>) -> Self {
        let (what, fix) = (what.into(), fix.into());
        Self { severity: Severity::Error, file: file.to_owned(), node: None, port: None, what, fix }
    }

    pub(crate) fn softened(self, severity: Severity) -> Self {
        Self { severity, ..self }
    }

    pub(crate) fn at(self, node: &crate::drawing::Node) -> Self {
        let place = NodePlace { id: node.id.clone(), name: node.name.clone(), x: node.x, y: node.y };
        Self { node: Some(Box::new(place)), ..self }
    }

    pub(crate) fn port(self, port: &str) -> Self {
        Self { port: Some(port.to_owned()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(node) = &self.node {
            write!(f, "node {:?} at {:.0},{:.0}", node.name, node.x, node.y)?;
            match &self.port {
                Some(port) => write!(f, ", port {port:?}: ")?,
                None => write!(f, ": ")?,
            }
        }
        f.write_str(&self.what)
    }
}

impl std::error::Error for Problem {}
