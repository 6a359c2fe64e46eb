//! The providers, by the names people write. What is true of one of them alone stands in its own file, in one row.

use std::fmt;

use serde_json::{Map, Value};

use super::definition::Definition;
use super::rewrite::Rules;
use super::strict::StrictRules;
use super::{Made, NativeRequest, ToolAnswer, Unfit, anthropic, gemini, generic, openai, reduce, rewrite};
use crate::catalog::Tool;
use crate::present::ModelRequest;
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

/// All that is true of one provider.
pub(super) struct ProviderRow {
    /// What people write.
    pub(super) name: &'static str,
    /// Under which names an operator's options for it stand, the wider first.
    pub(super) options: &'static [&'static str],
    /// Puts options where its definitions have them.
    pub(super) place: fn(&mut Map<String, Value>),
    /// Tools in one request.
    pub(super) most_tools: Option<usize>,
    /// Characters of a description.
    pub(super) description: Option<usize>,
    /// How it takes schemas.
    pub(super) form: SchemaForm,
    /// What it takes in strict definitions; none where a definition cannot say that it is strict.
    pub(super) strict: Option<StrictRules>,
    /// One definition.
    pub(super) define: fn(Definition<'_>) -> Value,
    /// All of them.
    pub(super) list: fn(Vec<Value>) -> Value,
    /// Reads what a reply asks for.
    pub(super) decode: fn(&Value, &mut Vec<ModelRequest>),
    /// Writes what came of calls.
    pub(super) encode: fn(&[ToolAnswer]) -> Vec<Value>,
}

/// How a provider takes schemas.
pub(super) enum SchemaForm {
    /// As JSON Schema, by rules.
    Json(Rules),
    /// As a part of OpenAPI.
    OpenApi,
}

impl ProviderRow {
    /// A tool's schema as this provider takes it.
    pub(super) fn schema(&self, tool: &Tool, request: &NativeRequest) -> Result<Made, Unfit> {
        match &self.form {
            SchemaForm::Json(rules) => rewrite::made(tool, rules, request),
            SchemaForm::OpenApi => reduce::made(tool, request),
        }
    }
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

    pub(super) fn row(self) -> &'static ProviderRow {
        match self {
            Self::OpenAiChat => &openai::CHAT,
            Self::OpenAiResponses => &openai::RESPONSES,
            Self::Anthropic => &anthropic::MESSAGES,
            Self::Gemini => &gemini::JSON_SCHEMA,
            Self::GeminiOpenApi => &gemini::OPEN_API,
            Self::Generic => &generic::PLAIN,
        }
    }

    /// What people write.
    pub fn as_str(self) -> &'static str {
        self.row().name
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
        self.row().most_tools
    }

    /// Whether a definition can say that the model is held to it. Gemini is told so once for a request, by its
    /// calling mode.
    pub fn has_strict(self) -> bool {
        self.row().strict.is_some()
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
