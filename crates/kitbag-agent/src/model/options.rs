//! How a reply is to be made. Each API has its own place and its own words for it; what one has no word for is left out.

use serde_json::Value;

/// How a reply is to be made. What is not said is left to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplyOptions {
    /// How varied it is. Not sent to models that are known to refuse it.
    pub temperature: Option<f64>,
    /// How much thought is put into it, of models that think first.
    pub effort: Option<Effort>,
    /// Texts before which it ends. OpenAI's responses have no place for them.
    pub stop: Vec<String>,
    /// Its tokens, at most.
    pub max_tokens: Option<usize>,
    /// What it must be like.
    pub schema: Option<ReplySchema>,
}

/// The JSON a reply consists of.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplySchema {
    /// Its JSON Schema; the root is an object.
    pub schema: Value,
    /// Whether it keeps to the part of JSON Schema that OpenAI can hold a model to.
    pub is_strict: bool,
}

/// How much thought is put into a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

static USUAL: ReplyOptions =
    ReplyOptions { temperature: None, effort: None, stop: Vec::new(), max_tokens: None, schema: None };

impl ReplyOptions {
    /// As the model does it by itself.
    pub fn usual() -> &'static Self {
        &USUAL
    }
}

impl Effort {
    /// The word all APIs have for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
