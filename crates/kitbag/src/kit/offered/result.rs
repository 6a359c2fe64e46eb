//! What reading a resource or getting a prompt came back with.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::execute::{CallInfo, ContentBlock};

/// The result of [`Kitbag::read_resource`](crate::Kitbag::read_resource) and
/// [`Kitbag::get_prompt`](crate::Kitbag::get_prompt): as its server wrote it, and how it was had.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ServerResult {
    /// As received; without the server's secrets where its entry says `mask_results`.
    pub result: Box<RawValue>,
    /// Which server, and how.
    pub info: CallInfo,
}

/// One part of what a resource holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct ResourceContents {
    /// Its URI, as its server calls it.
    #[serde(default)]
    pub uri: String,
    /// What kind of data it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its text, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its bytes in base64, where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// One message of a prompt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptMessage {
    /// Who says it: `user` or `assistant`.
    pub role: String,
    /// What is said.
    pub content: ContentBlock,
}

impl ResourceContents {
    /// As a piece of content: a text, or an embedded resource.
    pub fn as_block(&self) -> ContentBlock {
        match &self.text {
            Some(text) => ContentBlock::text(text),
            None => ContentBlock::other(serde_json::json!({"type": "resource", "resource": self})),
        }
    }
}

impl ServerResult {
    /// What a resource holds; nothing where the server wrote something else.
    pub fn contents(&self) -> Vec<ResourceContents> {
        #[derive(Deserialize)]
        struct Read {
            #[serde(default)]
            contents: Vec<ResourceContents>,
        }
        serde_json::from_str::<Read>(self.result.get()).map(|read| read.contents).unwrap_or_default()
    }

    /// The messages of a prompt; nothing where the server wrote something else.
    pub fn messages(&self) -> Vec<PromptMessage> {
        #[derive(Deserialize)]
        struct Got {
            #[serde(default)]
            messages: Vec<Message>,
        }
        #[derive(Deserialize)]
        struct Message {
            #[serde(default)]
            role: String,
            #[serde(default)]
            content: serde_json::Value,
        }
        let got = serde_json::from_str::<Got>(self.result.get()).map(|got| got.messages).unwrap_or_default();
        let message =
            |Message { role, content }| PromptMessage { role, content: ContentBlock::other(content) };
        got.into_iter().map(message).collect()
    }
}
