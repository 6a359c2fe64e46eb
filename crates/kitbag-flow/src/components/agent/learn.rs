//! Lets an agent take from a conversation into its memory what is worth it.

use kitbag_agent::TalkRole;

use super::{AGENT, AGENT_NAME, CONVERSATION, conversation, drive, record};
use crate::BoxFuture;
use crate::component::{Call, Component, Face, Input, Next};
use crate::raised::Raised;

/// What it is asked at the end of the conversation.
const TASK: &str = "Review the conversation so far with your memory tools: update what you remember, or create new \
                    memories. Then answer with a summary of what you have learned.";

pub(super) struct AgentLearn;

impl Component for AgentLearn {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[AGENT_NAME, Input::optional("metadata"), CONVERSATION],
            outputs: &["out_conversation", "last_response"],
            branches: &["on_thought"],
            ..Face::new("AgentLearn", AGENT, "Lets an agent remember what a conversation taught")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let record = record(call)?;
            let talk = conversation(call)?.with(TalkRole::System, TASK);
            let agent = drive::agent(call, &record, drive::model(call, &record)?).await?;
            drive::work(call, &drive::watched(agent, call)?, &talk).await?;
            Ok(Next::Follow)
        })
    }
}
