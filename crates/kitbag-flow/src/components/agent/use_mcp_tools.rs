//! Declares a server whose tools an agent may use. Nothing is opened by it.

use std::future::ready;

use super::{AGENT, DEFAULT};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, items};

pub(super) struct AgentUseMcpTools;

impl Component for AgentUseMcpTools {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::required("server_name"), Input::optional("toolbelt_name")],
            ..Face::new("AgentUseMCPTools", AGENT, "Declares a configured MCP server for a toolbelt")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(declare(call).map(|()| Next::Follow)))
    }
}

fn declare(call: &Call) -> Result<(), Raised> {
    let (server, toolbelt) = (call.text("server_name")?, call.text_or("toolbelt_name", DEFAULT)?);
    let key = format!("mcp_servers_{toolbelt}");
    let Some(Value::List(declared)) = call.context().get(&key) else {
        call.context().set(&key, Value::list([Value::from(server)]));
        return Ok(());
    };
    let is_known = items(&Value::List(declared.clone()))?.iter().any(|known| known.as_str() == Some(&server));
    if !is_known {
        declared.push(Value::from(server));
    }
    Ok(())
}
