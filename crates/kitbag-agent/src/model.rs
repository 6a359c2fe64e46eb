//! What an agent needs of a model: it is given what was said so far and the definitions of tools, and answers in events.
//!
//! Each API has its own wire format (one file below [`wire`]); above this line nobody knows which.

use std::fmt;

use futures_util::stream::BoxStream;
use kitbag::Provider;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::conversation::ChatItem;

mod choice;
mod error;
mod frames;
mod http;
mod options;
mod vendor;
mod wire;

pub use choice::{ModelChoice, choose};
pub use error::{ModelAt, ModelError, Said};
pub use http::HttpModel;
pub use options::{Effort, ReplyOptions, ReplySchema};
pub use vendor::Vendor;

/// A model by the name people write: `<provider>/<name>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModelId {
    /// Whose API it is reached by.
    pub vendor: Vendor,
    /// What that API calls it.
    pub name: String,
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.vendor, self.name)
    }
}

/// What a model is asked: everything it must know to go on.
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    /// Who it is and what it should do.
    pub system: &'a str,
    /// What was said so far, oldest first.
    pub items: &'a [&'a ChatItem],
    /// The definitions of tools, as [`kitbag::Presentation::tools`] has them for [`Model::provider`]. They are sent as they
    /// are, so equal definitions are equal bytes.
    pub tools: &'a Value,
    /// How it is to answer; [`ReplyOptions::usual`] leaves that to it.
    pub options: &'a ReplyOptions,
}

/// What comes of a reply while it is made.
#[derive(Clone, Debug)]
pub enum ModelEvent {
    /// The next piece of its text.
    Text(String),
    /// The next piece of its reasoning, where the provider shows it.
    Reasoning(String),
    /// It has decided to call a tool; which is known before the arguments are.
    Calling {
        /// The name of the tool.
        tool: String,
    },
    /// A try failed, and another one follows.
    Retrying {
        /// Why.
        error: ModelError,
    },
    /// The whole reply; always the last event.
    End(Reply),
}

/// A whole reply, in the provider's own words.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Whose words these are. No other provider is ever given them as they stand: what it made of its reasoning is signed.
    pub model: ModelId,
    /// What the next request takes back, and [`kitbag::Presentation::decode_str`] reads.
    pub raw: Box<RawValue>,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended.
    pub stop: Stop,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// All was said, or calls were made.
    #[default]
    Finished,
    /// It was longer than it may be.
    Length,
    /// The provider filtered it.
    Filtered,
}

/// Tokens, as the provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Read, those of the cache included.
    pub input: u64,
    /// Of these, read from the provider's cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached += other.cached;
        self.output += other.output;
    }
}

/// A model that several share.
impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn id(&self) -> &ModelId {
        (**self).id()
    }

    fn at(&self) -> ModelAt {
        (**self).at()
    }

    fn provider(&self) -> Provider {
        (**self).provider()
    }

    fn is_reasoning(&self) -> bool {
        (**self).is_reasoning()
    }

    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        (**self).stream(prompt)
    }
}

/// A model.
pub trait Model: Send + Sync + 'static {
    /// Which it is.
    fn id(&self) -> &ModelId;

    /// Which it is and where it is asked, for messages.
    fn at(&self) -> ModelAt {
        ModelAt { model: self.id().clone(), host: String::new() }
    }

    /// In which form it takes definitions and results of tools.
    fn provider(&self) -> Provider {
        self.id().vendor.provider()
    }

    /// Whether it thinks before it answers: it is then asked for more effort, where others are for more variety.
    fn is_reasoning(&self) -> bool {
        self.id().vendor.is_reasoning(&self.id().name)
    }

    /// Asks it for the next reply. The stream ends with [`ModelEvent::End`] or with an error; dropping it ends the request.
    fn stream(&self, prompt: &Prompt<'_>) -> BoxStream<'static, Result<ModelEvent, ModelError>>;
}
