//! Results as each provider wants them told to the model: its own message, its own kinds of content, its own
//! way of saying that something failed.

use serde_json::{Value, json};

use super::Provider;

mod block;

pub(super) use block::Block;

/// What came of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolAnswer {
    /// What the provider calls the call.
    pub id: Option<String>,
    /// The name the model called; empty if it called nothing that can be named.
    pub tool: String,
    /// What the tool gave: content blocks of MCP.
    pub blocks: Vec<Value>,
    /// Whether that is an error.
    pub is_error: bool,
}

/// What is told where there is nothing to tell.
pub(super) const NOTHING: &str = "(no output)";

/// The messages, or items, that tell a model what came of its calls, in the order of the calls. Providers that
/// want all results of a turn in one message get one.
pub fn encode(provider: Provider, answers: &[ToolAnswer]) -> Vec<Value> {
    (provider.row().encode)(answers)
}

impl ToolAnswer {
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.tool)
    }

    /// Whether there is no call it could be the result of. It is told as a message then.
    pub(super) fn is_to_nothing(&self) -> bool {
        self.id.is_none() && self.tool.is_empty()
    }

    pub(super) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        self.blocks.iter().map(Block::of)
    }

    /// Everything as text.
    pub(super) fn text(&self) -> String {
        joined(self.blocks().map(|block| block.text()))
    }
}

pub(super) fn joined(texts: impl Iterator<Item = String>) -> String {
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    if texts.is_empty() { NOTHING.to_owned() } else { texts.join("\n") }
}

/// Where there is no flag for it, an error must not look like a result.
pub(super) fn error(text: &str) -> String {
    json!({ "error": text }).to_string()
}
