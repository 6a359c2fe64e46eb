//! Why a model gave no reply. Every message names the model and its host and says what to do; none holds a key.

use std::fmt;
use std::time::Duration;

use super::{ModelId, Vendor};

/// Which model, and where it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAt {
    /// The model.
    pub model: ModelId,
    /// The address of its API, without secrets.
    pub host: String,
}

impl fmt::Display for ModelAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.as_str() {
            "" => write!(f, "{}", self.model),
            host => write!(f, "{} at {host}", self.model),
        }
    }
}

/// Why there is no reply of a model, or no model.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nobody says which model to use.
    #[error(
        "no model is configured: set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or KITBAG_MODEL or --model \
         as <provider>/<name>; for a local one set OLLAMA_MODEL (with Ollama), or OPENAI_BASE_URL and OPENAI_MODEL \
         (any OpenAI-compatible server)"
    )]
    NoModel,
    /// The name of a model cannot be read.
    #[error(
        "{given:?} ({place}) is not a model: write <provider>/<name>; providers are {all}{hint}",
        all = Vendor::names()
    )]
    BadName {
        /// What was written.
        given: String,
        /// Where.
        place: String,
        /// What may have been meant.
        hint: String,
    },
    /// A provider is meant, and no model of it.
    #[error("no model of {vendor} is named: set {variable}, or --model {vendor}/<name>")]
    NoName {
        /// Which provider.
        vendor: Vendor,
        /// The variable that names one.
        variable: &'static str,
    },
    /// The provider wants a key, and there is none.
    #[error("{at} needs a key: set {variable}")]
    NoKey {
        /// Which model.
        at: ModelAt,
        /// The variable.
        variable: &'static str,
    },
    /// The address, or a key, cannot be used as it is written.
    #[error("{model} cannot be asked: {why}; correct {variable}")]
    BadSetting {
        /// Which model.
        model: ModelId,
        /// What is wrong, without the value.
        why: String,
        /// The variable.
        variable: &'static str,
    },
    /// The host refuses the key.
    #[error("{at} refuses the key ({status}{said}): check {variable}")]
    BadKey {
        /// Which model.
        at: ModelAt,
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: Said,
        /// The variable of the key.
        variable: &'static str,
    },
    /// The host has no such model.
    #[error("{at} is not known there ({status}{said}): check the model's name and {variable}")]
    UnknownModel {
        /// Which model.
        at: ModelAt,
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: Said,
        /// The variable of the address.
        variable: &'static str,
    },
    /// The host refuses the request.
    #[error("{at} refuses the request ({status}{said})")]
    Refused {
        /// Which model.
        at: ModelAt,
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: Said,
    },
    /// The host is busy, or has a fault of its own, and had it in every try.
    #[error(
        "{at} is busy or out of order ({status}{said}) after {tries} tries: try again later, or use another model"
    )]
    Busy {
        /// Which model.
        at: ModelAt,
        /// The HTTP status.
        status: u16,
        /// What it says.
        said: Said,
        /// How often it was asked.
        tries: usize,
        /// How long it asks to be left alone.
        wait: Option<Duration>,
    },
    /// No connection, or it broke off before the reply began.
    #[error("{at} cannot be reached after {tries} tries: {why}; check {variable} and the network")]
    Unreachable {
        /// Which model.
        at: ModelAt,
        /// The root cause.
        why: String,
        /// How often it was tried.
        tries: usize,
        /// The variable of the address.
        variable: &'static str,
    },
    /// It did not begin to answer, or stopped in the middle.
    #[error("{at} was silent for {after:?}: try again, or raise {limit} in [limits]")]
    Silent {
        /// Which model.
        at: ModelAt,
        /// How long.
        after: Duration,
        /// The limit.
        limit: &'static str,
    },
    /// The reply ended before its end.
    #[error("the reply of {at} broke off ({why}): try again")]
    Cut {
        /// Which model.
        at: ModelAt,
        /// What is known about it.
        why: String,
    },
    /// The reply cannot be read.
    #[error("the reply of {at} cannot be read ({why}): check that the address speaks the API of {vendor}", vendor = at.model.vendor)]
    Malformed {
        /// Which model.
        at: ModelAt,
        /// What is wrong with it.
        why: String,
    },
    /// The reply is longer than the limit.
    #[error("the reply of {at} is longer than {limit} bytes: raise model_reply in [limits]")]
    TooLarge {
        /// Which model.
        at: ModelAt,
        /// The limit.
        limit: usize,
    },
    /// The host said in the middle of a reply that it failed.
    #[error("{at} failed in the middle of its reply{said}: try again")]
    Failed {
        /// Which model.
        at: ModelAt,
        /// What it says.
        said: Said,
    },
    /// The reply is longer than the model may write.
    #[error(
        "{at} ran out of tokens before its reply was complete: ask for less at once, or raise model_tokens in [limits]"
    )]
    OutOfTokens {
        /// Which model.
        at: ModelAt,
    },
    /// The reply says nothing and calls nothing.
    #[error("{at} answered nothing: try again, or use another model")]
    Empty {
        /// Which model.
        at: ModelAt,
    },
    /// The provider's filter stopped the reply.
    #[error("the provider of {at} filtered the reply: say it in another way, or use another model")]
    Filtered {
        /// Which model.
        at: ModelAt,
    },
}

/// The host's own words, if it said any; bounded and on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(pub(crate) Option<String>);

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(said) => write!(f, ": {said}"),
            None => Ok(()),
        }
    }
}

impl ModelError {
    /// The stable code, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoModel | Self::BadName { .. } | Self::NoName { .. } => "no_model",
            Self::NoKey { .. } | Self::BadKey { .. } | Self::BadSetting { .. } => "model_key",
            Self::UnknownModel { .. } => "unknown_model",
            Self::Refused { .. } => "model_refused",
            Self::Busy { .. } => "model_busy",
            Self::Unreachable { .. } => "model_unreachable",
            Self::Silent { .. } => "model_silent",
            Self::Cut { .. } | Self::Failed { .. } => "model_cut",
            Self::Malformed { .. } | Self::TooLarge { .. } | Self::Empty { .. } => "model_malformed",
            Self::OutOfTokens { .. } => "out_of_tokens",
            Self::Filtered { .. } => "filtered",
        }
    }
}
