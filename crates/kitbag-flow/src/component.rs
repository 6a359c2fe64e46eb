//! What a component is: its ports, and what it does when the flow comes to it. Adding one is a file with one `impl`.
//!
//! ```
//! use kitbag_flow::{BoxFuture, Call, Component, Face, Input, Next, Raised};
//!
//! struct Shout;
//!
//! impl Component for Shout {
//!     fn face(&self) -> &Face {
//!         const FACE: Face = Face {
//!             inputs: &[Input::required("text")],
//!             outputs: &["loud"],
//!             ..Face::new("Shout", "xai_components/xai_mine/shout.py", "A text in capital letters")
//!         };
//!         &FACE
//!     }
//!
//!     fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
//!         Box::pin(async { call.set("loud", call.text("text")?.to_uppercase()).map(|()| Next::Follow) })
//!     }
//! }
//! ```

use std::sync::Arc;

use kitbag::BoxFuture;

use crate::host::Host;
use crate::raised::Raised;
use crate::run::{Cell, Running};
use crate::value::{Dict, Value};

/// A component as a drawing sees it.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    /// Its name.
    pub name: &'static str,
    /// The file of its library in Xircuits.
    pub path: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// What it takes.
    pub inputs: &'static [Input],
    /// What it gives.
    pub outputs: &'static [&'static str],
    /// The branches it may run.
    pub branches: &'static [&'static str],
    /// Whether it starts by itself instead of being led to.
    pub starts: bool,
}

impl Face {
    /// One without ports.
    pub const fn new(name: &'static str, path: &'static str, about: &'static str) -> Self {
        Self { name, path, about, inputs: &[], outputs: &[], branches: &[], starts: false }
    }

    /// The library it is of.
    pub fn library(&self) -> &'static str {
        self.path.split('/').nth(1).unwrap_or_default()
    }
}

/// One input of a component.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Its name.
    pub name: &'static str,
    /// Whether the component can do nothing without it.
    pub is_required: bool,
    /// Whether it takes one value or several.
    pub shape: Shape,
}

/// How many values an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One.
    One,
    /// Any number, as a list.
    List,
    /// Any number, as a tuple.
    Tuple,
}

impl Input {
    /// One value, or none.
    pub const fn optional(name: &'static str) -> Self {
        Self { name, is_required: false, shape: Shape::One }
    }

    /// One value, which must be there.
    pub const fn required(name: &'static str) -> Self {
        Self { name, is_required: true, shape: Shape::One }
    }

    /// Any number of values, as a list.
    pub const fn list(name: &'static str) -> Self {
        Self { name, is_required: false, shape: Shape::List }
    }

    /// Any number of values, as a tuple.
    pub const fn tuple(name: &'static str) -> Self {
        Self { name, is_required: false, shape: Shape::Tuple }
    }
}

/// Where the flow goes on behind a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Along its link.
    Follow,
    /// At the component itself, once more.
    Again,
}

/// What a component finds wrong with what is written at its inputs.
#[derive(Clone, Debug)]
pub struct Remark {
    /// The input.
    pub port: &'static str,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub fix: String,
}

/// A component.
pub trait Component: Send + Sync + 'static {
    /// Its name and ports.
    fn face(&self) -> &Face;

    /// Looks at values that are written into the drawing, before anything runs.
    fn check(&self, _literal: &dyn Fn(&str) -> Option<Value>) -> Option<Remark> {
        None
    }

    /// For those that start by themselves: done before the flow begins.
    fn init(&self, _call: &Call) -> Result<(), Raised> {
        Ok(())
    }

    /// What it does when the flow comes to it.
    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>>;
}

/// What a component is given: its inputs, its outputs, the context all share, and what surrounds the flow.
#[derive(Clone)]
pub struct Call {
    pub(crate) running: Arc<Running>,
    pub(crate) node: usize,
    pub(crate) depth: usize,
}

impl Call {
    /// What stands at an input now; `None` if nothing is linked to it.
    pub fn get(&self, port: &str) -> Result<Value, Raised> {
        self.running.input(self.node, port)
    }

    /// The string at an input.
    pub fn text(&self, port: &str) -> Result<String, Raised> {
        let value = self.get(port)?;
        match value.as_str() {
            Some(text) => Ok(text.to_owned()),
            None => Err(Raised::type_error(format!("{port} must be str, not {}", value.type_name()))),
        }
    }

    /// The string at an input, or this one if there is nothing or an empty one.
    pub fn text_or(&self, port: &str, default: &str) -> Result<String, Raised> {
        if self.get(port)?.truth() { self.text(port) } else { Ok(default.to_owned()) }
    }

    /// Sets an output.
    pub fn set(&self, port: &str, value: impl Into<Value>) -> Result<(), Raised> {
        self.running.set(self.node, port, Cell::Value(value.into()))
    }

    /// Makes an output what a key of the context is, whenever it is read.
    pub(crate) fn refer(&self, port: &str, name: &str) -> Result<(), Raised> {
        self.running.set(self.node, port, Cell::Variable(name.into()))
    }

    /// What it remembered with [`Self::remember`].
    pub fn state(&self) -> Value {
        self.running.state(self.node)
    }

    /// Remembers a value for the next time in the same run.
    pub fn remember(&self, value: Value) {
        self.running.remember(self.node, value);
    }

    /// Runs one of its branches to its end; whether there is such a branch.
    pub fn branch(&self, name: &str) -> BoxFuture<'static, Result<bool, Raised>> {
        self.running.clone().branch(self.node, name, self.depth)
    }

    /// Runs what follows it to its end; whether anything does.
    pub fn follow(&self) -> BoxFuture<'static, Result<bool, Raised>> {
        self.running.clone().follow(self.node, self.depth)
    }

    /// What all components of a run share, by names.
    pub fn context(&self) -> &Dict {
        self.running.context()
    }

    /// What surrounds the flow.
    pub fn host(&self) -> &Host {
        self.running.host()
    }

    /// Prints a line.
    pub fn print(&self, text: &str) {
        self.host().output().print(text);
    }
}
