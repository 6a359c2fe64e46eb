//! Lets an agent work on a conversation.

use super::{AGENT, AGENT_NAME, CONVERSATION, conversation, drive, record};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;

pub(super) struct AgentRun;

impl Component for AgentRun {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[AGENT_NAME, Input::optional("metadata"), CONVERSATION],
            outputs: &["out_conversation", "last_response"],
            branches: &["on_thought"],
            ..Face::new("AgentRun", AGENT, "Lets an agent answer, with its tools")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let (record, talk) = (record(call)?, conversation(call)?);
            let agent = drive::agent(call, &record, drive::model(call, &record)?).await?;
            drive::work(call, &drive::watched(agent, call)?, &talk).await?;
            Ok(Next::Follow)
        })
    }
}
