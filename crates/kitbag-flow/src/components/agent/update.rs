//! Changes an agent that was made.

use std::future::ready;

use super::{AGENT, AGENT_NAME, drive, record};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;

pub(super) struct AgentUpdate;

/// The inputs, and what of the record each one changes.
const CHANGES: [(&str, &str); 3] = [
    ("new_agent_provider", "agent_provider"),
    ("new_agent_model", "agent_model"),
    ("new_system_prompt", "agent_system_prompt"),
];

impl Component for AgentUpdate {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[
                AGENT_NAME,
                Input::optional("new_agent_provider"),
                Input::optional("new_agent_model"),
                Input::optional("new_system_prompt"),
            ],
            ..Face::new("AgentUpdate", AGENT, "Changes the model or the prompt of an agent")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(update(call).map(|()| Next::Follow)))
    }
}

fn update(call: &Call) -> Result<(), Raised> {
    let record = record(call)?;
    let provider = call.get("new_agent_provider")?;
    if !provider.is_none() {
        drive::vendor(&provider.text())?;
    }
    for (input, key) in CHANGES {
        let value = call.get(input)?;
        if !value.is_none() {
            record.set(key, value);
        }
    }
    Ok(())
}
