//! The components that run natively. What only computes is a row with a function; what runs branches, waits or talks to models
//! and servers is a file of its own.

use std::sync::Arc;

use kitbag::BoxFuture;

use crate::component::{Call, Component, Face, Next};
use crate::raised::Raised;

mod agent;
mod control;
mod lists;
mod objects;
mod patterns;
mod strings;
mod system;
mod variables;

const UTILS: &str = "xai_components/xai_utils/utils.py";
const CONTROL: &str = "xai_components/xai_controlflow/branches.py";

/// A component that only computes.
struct Row {
    face: Face,
    work: fn(&Call) -> Result<(), Raised>,
}

impl Component for &'static Row {
    fn face(&self) -> &Face {
        &self.face
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(std::future::ready((self.work)(call).map(|()| Next::Follow)))
    }
}

/// All of them.
pub(crate) fn all() -> Vec<Arc<dyn Component>> {
    let rows = [strings::ROWS, lists::ROWS, objects::ROWS, patterns::ROWS, system::ROWS, variables::ROWS];
    let mut all: Vec<Arc<dyn Component>> = Vec::new();
    for row in rows.into_iter().flatten() {
        all.push(Arc::new(row));
    }
    all.extend(control::all());
    all.extend(agent::all());
    all.push(Arc::new(system::Sleep));
    all
}
