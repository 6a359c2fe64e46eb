//! One call without a model: a tool by its name, as a line of a reply would call it.

use kitbag_core::present::text::{self, ANSWER, MARKER};

use super::{Talk, TalkRole, TextAgent};
use crate::agent::AgentError;

/// What came of one call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolRun {
    /// What the tool gave, or what is wrong.
    pub output: String,
    /// Whether something is wrong.
    pub is_error: bool,
    /// The conversation with the call and its result.
    pub conversation: Talk,
}

impl TextAgent {
    /// Calls one of its tools, given what would stand behind its name: JSON, or text. No model is asked.
    pub async fn call_tool(&self, tool: &str, arguments: &str, talk: &Talk) -> Result<ToolRun, AgentError> {
        let belt = self.belt().await?;
        let line = format!("{MARKER} {tool} {arguments}");
        let mut conversation = talk.clone();
        conversation.push(TalkRole::Assistant, line.trim_end());
        let Some(call) = text::parse(&line).calls.into_iter().next() else {
            let output = "the name of the tool is missing".to_owned();
            conversation.push(TalkRole::User, text::error(&output, &[]).content);
            return Ok(ToolRun { output, is_error: true, conversation });
        };
        let wanted = belt.written(&call);
        let outcome = wanted.carry_out().await;
        let message = outcome.message(&wanted.notes).map(|message| message.content).unwrap_or_default();
        let output = message.strip_prefix(ANSWER).unwrap_or(&message).trim().to_owned();
        conversation.push(TalkRole::User, message);
        Ok(ToolRun { output, is_error: outcome.is_error(), conversation })
    }
}
