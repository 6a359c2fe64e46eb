//! The providers, by the names people write.

use std::fmt;

use crate::text::{nearest, visible};

/// An API that takes definitions of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Provider {
    /// OpenAI's chat completions, and everything that imitates them.
    OpenAiChat,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini, with `parametersJsonSchema`.
    Gemini,
    /// Gemini's older form, with `parameters` in a part of OpenAPI.
    GeminiOpenApi,
    /// Nobody's in particular: name, description and schema.
    Generic,
}

/// No provider is called that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no provider {given:?}; there are {all}{hint}", all = Provider::names())]
pub struct UnknownProvider {
    given: String,
    hint: String,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::GeminiOpenApi,
        Self::Generic,
    ];

    /// What people write.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::GeminiOpenApi => "gemini-openapi",
            Self::Generic => "generic",
        }
    }

    /// The provider that is called so.
    pub fn parse(text: &str) -> Result<Self, UnknownProvider> {
        if let Some(found) = Self::ALL.into_iter().find(|provider| provider.as_str() == text) {
            return Ok(found);
        }
        let near = nearest(text, Self::ALL.map(Self::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        Err(UnknownProvider { given: visible(&text.chars().take(48).collect::<String>()), hint })
    }

    /// More tools than this it refuses in one request.
    pub fn most_tools(self) -> Option<usize> {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => Some(128),
            _ => None,
        }
    }

    /// Whether a definition can say that the model is held to it. Gemini is told so once for a request, by its
    /// calling mode.
    pub fn has_strict(self) -> bool {
        matches!(self, Self::OpenAiChat | Self::OpenAiResponses | Self::Anthropic)
    }

    fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
