//! What a tool made of nodes gives.

use std::future::ready;

use super::AGENT;
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, items};

pub(super) struct AgentToolOutput;

impl Component for AgentToolOutput {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::list("results")],
            ..Face::new("AgentToolOutput", AGENT, "What a tool gives: one value, or a list of several")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(give(call).map(|()| Next::Follow)))
    }
}

fn give(call: &Call) -> Result<(), Raised> {
    let results = call.get("results")?;
    let output = match items(&results)?.as_slice() {
        [] => Value::None,
        [one] => one.clone(),
        _ => results,
    };
    call.context().set("tool_output", output);
    Ok(())
}
