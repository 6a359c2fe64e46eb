//! A tool made of nodes: what follows this node runs when a model calls the tool.

use std::future::ready;

use super::belt::DefinedTool;
use super::{AGENT, DEFAULT};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Object, Value};

pub(super) struct AgentDefineTool;

impl Component for AgentDefineTool {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[
                Input::required("tool_name"),
                Input::required("description"),
                Input::optional("for_toolbelt"),
            ],
            outputs: &["tool_input", "tool_args"],
            starts: true,
            ..Face::new("AgentDefineTool", AGENT, "Makes a tool of the nodes that follow it")
        };
        &FACE
    }

    fn init(&self, call: &Call) -> Result<(), Raised> {
        let (name, toolbelt) = (call.text("tool_name")?, call.text_or("for_toolbelt", DEFAULT)?);
        let key = format!("toolbelt_{toolbelt}");
        let tools = call.context().get(&key).unwrap_or_else(|| Value::dict([]));
        let tool = DefinedTool::new(&name, &call.text("description")?, call);
        if let Some(tools) = tools.as_dict() {
            tools.set(&name, Value::Object(Object::new("Tool", tool)));
        }
        call.context().set(&key, tools);
        Ok(())
    }

    fn run<'a>(&'a self, _call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(ready(Ok(Next::Follow)))
    }
}
