//! What came of an intent, and how each presentation tells it to the model.

use kitbag_core::present::gateway::{ErrorFlag, GatewayOutcome, Listing, outcome};
use kitbag_core::present::native::ToolAnswer;
use kitbag_core::present::text::{self, TextMessage};
use kitbag_core::present::{Intent, ModelRequest};
use serde_json::{Value, json};

use super::{CallError, CallResult, ContentBlock};

/// The outcome of an [`Intent`], see [`crate::Kitbag::run`].
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every outcome is that of a call")]
pub enum IntentOutcome {
    /// A call came back, or did not.
    Called(Result<CallResult, CallError>),
    /// A server's tools.
    Listed(Listing),
    /// Tools that fit some words, a line each.
    Found(Vec<String>),
    /// Something was said; there is nothing to answer.
    Said(String),
    /// It could not be done as it was written; how it is done right.
    Malformed(String),
}

impl IntentOutcome {
    /// Whether the model should take it for a failure.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Called(Ok(result)) => result.is_error,
            Self::Called(Err(_)) | Self::Malformed(_) => true,
            Self::Listed(_) | Self::Found(_) | Self::Said(_) => false,
        }
    }

    /// What a model reads, as content.
    pub fn blocks(&self) -> Vec<ContentBlock> {
        match self {
            Self::Called(Ok(result)) => result.for_model(),
            Self::Called(Err(failure)) => vec![ContentBlock::text(failure.for_model())],
            Self::Listed(listing) => vec![ContentBlock::text(listed(listing).to_string())],
            Self::Found(lines) if lines.is_empty() => vec![ContentBlock::text("No tool fits.")],
            Self::Found(lines) => vec![ContentBlock::text(lines.join("\n"))],
            Self::Said(text) | Self::Malformed(text) => vec![ContentBlock::text(text.clone())],
        }
    }

    /// The answer to a call of a provider's API; none to what was only said.
    pub fn answer(&self, asked: &ModelRequest) -> Option<ToolAnswer> {
        if matches!(asked.intent, Intent::Say(_)) {
            return None;
        }
        let blocks = self.blocks().into_iter().map(ContentBlock::into_value).collect();
        Some(ToolAnswer { id: asked.id.clone(), tool: asked.tool.clone(), blocks, is_error: self.is_error() })
    }

    /// The answer of a gateway, by type.
    pub fn typed(&self) -> GatewayOutcome {
        match self {
            Self::Called(Ok(result)) => {
                let blocks: Vec<Value> =
                    result.content.iter().map(|block| block.neutral().into_value()).collect();
                let flag = if result.is_error { ErrorFlag::Failed } else { ErrorFlag::Fine };
                outcome(&blocks, result.structured.as_ref(), flag)
            }
            Self::Called(Err(failure)) => GatewayOutcome::Error(failure.for_model()),
            Self::Listed(listing) => {
                GatewayOutcome::Result { objects: objects(listing), blocks: notes(listing) }
            }
            Self::Found(lines) => GatewayOutcome::Text(lines.join("\n")),
            Self::Said(text) => GatewayOutcome::Text(text.clone()),
            Self::Malformed(repair) => GatewayOutcome::Error(repair.clone()),
        }
    }

    /// The message of the text protocol; none to what was only said.
    pub fn message(&self, said_beside: &[String]) -> Option<TextMessage> {
        if matches!(self, Self::Said(_)) {
            return None;
        }
        let blocks = self.blocks();
        let words: Vec<String> = blocks.iter().map(words).collect();
        let words = words.join("\n");
        let tell = if self.is_error() { text::error } else { text::result };
        Some(tell(&words, said_beside))
    }
}

/// A block as words: what is no text is told by its kind.
fn words(block: &ContentBlock) -> String {
    match (block.as_text(), block.bytes()) {
        (Some(text), _) => text.to_owned(),
        (None, Some((kind, bytes))) => format!("[{} of {} bytes, {kind}]", block.kind(), bytes.len()),
        (None, None) => block.as_value().to_string(),
    }
}

fn listed(listing: &Listing) -> Value {
    let mut value = json!({"tools": listing.tools, "total": listing.total});
    if let Some(note) = &listing.note {
        value["note"] = note.as_str().into();
    }
    value
}

fn objects(listing: &Listing) -> Vec<Value> {
    listing.tools.as_array().cloned().unwrap_or_default()
}

fn notes(listing: &Listing) -> Vec<Value> {
    listing.note.iter().map(|note| json!({"type": "text", "text": note})).collect()
}
