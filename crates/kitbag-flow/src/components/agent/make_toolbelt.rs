//! The tools and servers of a toolbelt, as they are now.

use std::future::ready;

use super::{AGENT, DEFAULT};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Dict, Value, items};

pub(super) struct AgentMakeToolbelt;

impl Component for AgentMakeToolbelt {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::optional("name")],
            outputs: &["toolbelt_spec"],
            ..Face::new("AgentMakeToolbelt", AGENT, "The tools and servers declared for a toolbelt so far")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(make(call).map(|()| Next::Follow)))
    }
}

fn make(call: &Call) -> Result<(), Raised> {
    let toolbelt = call.text_or("name", DEFAULT)?;
    let tools = Dict::default();
    if let Some(Value::Dict(declared)) = call.context().get(&format!("toolbelt_{toolbelt}")) {
        for (name, tool) in declared.rows() {
            tools.set(&name.text(), tool);
        }
    }
    let servers = match call.context().get(&format!("mcp_servers_{toolbelt}")) {
        Some(declared) => items(&declared)?,
        None => Vec::new(),
    };
    let spec = [("standard_tools", Value::Dict(tools)), ("mcp_servers", Value::list(servers))];
    call.set("toolbelt_spec", Value::dict(spec))
}
