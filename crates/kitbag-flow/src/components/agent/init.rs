//! Makes an agent: a record in the context, which AgentRun reads.

use std::future::ready;

use super::{AGENT, AGENT_NAME, drive};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next, Remark};
use crate::raised::Raised;
use crate::value::Value;

pub(super) struct AgentInit;

impl Component for AgentInit {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[
                AGENT_NAME,
                Input::required("agent_provider"),
                Input::required("agent_model"),
                Input::optional("agent_memory"),
                Input::required("system_prompt"),
                Input::optional("max_thoughts"),
                Input::required("toolbelt_spec"),
            ],
            ..Face::new("AgentInit", AGENT, "Makes an agent of a model, a prompt and a toolbelt")
        };
        &FACE
    }

    fn check(&self, literal: &dyn Fn(&str) -> Option<Value>) -> Option<Remark> {
        let provider = literal("agent_provider")?.text();
        let error = drive::vendor(&provider).err()?;
        Some(Remark { port: "agent_provider", what: error.to_string(), fix: drive::PROVIDERS.to_owned() })
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(make(call).map(|()| Next::Follow)))
    }
}

fn make(call: &Call) -> Result<(), Raised> {
    let provider = call.text("agent_provider")?;
    drive::vendor(&provider)?;
    let spec = call.get("toolbelt_spec")?;
    let part = |key: &str, missing: Value| spec.as_dict().and_then(|spec| spec.get(key)).unwrap_or(missing);
    let thoughts = match call.get("max_thoughts")? {
        Value::None => Value::from(call.host().bounds().agent_thoughts),
        given => given,
    };
    let key = format!("agent_{}", call.text("agent_name")?);
    let known = call.context().get(&key).filter(|known| known.as_dict().is_some());
    let record = known.unwrap_or_else(|| Value::dict([]));
    if let Some(record) = record.as_dict() {
        // The agent's own from here on: what is declared later does not reach it.
        record.set("agent_toolbelt", part("standard_tools", Value::dict([])).deep_copy());
        record.set("enabled_mcp_servers", part("mcp_servers", Value::list([])).deep_copy());
        record.set("agent_provider", provider);
        record.set("agent_memory", call.get("agent_memory")?);
        record.set("agent_model", call.get("agent_model")?);
        record.set("agent_system_prompt", call.get("system_prompt")?);
        record.set("max_thoughts", thoughts);
    }
    call.context().set(&key, record);
    Ok(())
}
