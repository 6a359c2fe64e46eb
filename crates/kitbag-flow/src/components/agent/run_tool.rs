//! Calls one tool of an agent, without its model.

use super::{AGENT, AGENT_NAME, CONVERSATION, conversation, drive, record, talk_value};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;
use crate::value::{Value, dumps};

pub(super) struct AgentRunTool;

impl Component for AgentRunTool {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[AGENT_NAME, Input::required("tool_name"), Input::optional("tool_args"), CONVERSATION],
            outputs: &["tool_output", "updated_conversation"],
            ..Face::new("AgentRunTool", AGENT, "Calls one tool of an agent, its own or of its servers")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let (record, talk) = (record(call)?, conversation(call)?);
            let (tool, arguments) = (call.text("tool_name")?, call.get("tool_args")?);
            let arguments = match &arguments {
                Value::None => String::new(),
                Value::Str(text) => text.to_string(),
                other => dumps(other)?,
            };
            let agent = drive::agent(call, &record, drive::NoModel::new()).await?;
            let done = agent.call_tool(&tool, &arguments, &talk).await;
            let done = done.map_err(|error| drive::failed(&error.to_string()))?;
            call.set("tool_output", done.output)?;
            call.set("updated_conversation", talk_value(&done.conversation))?;
            Ok(Next::Follow)
        })
    }
}
