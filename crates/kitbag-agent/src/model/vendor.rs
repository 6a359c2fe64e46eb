//! The APIs that models are reached by. What is true of one of them alone stands in its row, or in its wire format.

use std::fmt;

use kitbag::Provider;
use kitbag_core::text::nearest;

use super::wire::{AnthropicWire, ChatWire, GeminiWire, OllamaWire, ResponsesWire, WireFormat};

/// Whose API a model is reached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// OpenAI's chat completions, and every host that speaks them.
    OpenAi,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// A local Ollama.
    Ollama,
}

/// All that is true of one API.
pub(crate) struct VendorRow {
    /// What people write before the `/`.
    pub(crate) name: &'static str,
    /// Where it is unless a variable says otherwise.
    pub(crate) base: &'static str,
    /// The variables of its address, the first that is set counts.
    pub(crate) base_from: &'static [&'static str],
    /// The variables of its key; none where it has none.
    pub(crate) key_from: &'static [&'static str],
    /// The variables of the model's name.
    pub(crate) model_from: &'static [&'static str],
    /// The model that is used where none is named; none where hosts differ.
    pub(crate) usual: Option<&'static str>,
    /// How the names of its models begin that take an effort, and neither a temperature nor stop sequences.
    pub(crate) reasoning: &'static [&'static str],
    /// In which form it takes tools.
    pub(crate) provider: Provider,
    /// How it is spoken to.
    pub(crate) wire: &'static dyn WireFormat,
}

const OPENAI: VendorRow = VendorRow {
    name: "openai",
    base: "https://api.openai.com/v1",
    base_from: &["OPENAI_BASE_URL"],
    key_from: &["OPENAI_API_KEY"],
    model_from: &["OPENAI_MODEL"],
    usual: Some("gpt-5-mini"),
    reasoning: &["o1", "o3", "o4", "gpt-5"],
    provider: Provider::OpenAiChat,
    wire: &ChatWire,
};

const RESPONSES: VendorRow = VendorRow {
    name: "openai-responses",
    provider: Provider::OpenAiResponses,
    wire: &ResponsesWire,
    ..OPENAI
};

const ANTHROPIC: VendorRow = VendorRow {
    name: "anthropic",
    base: "https://api.anthropic.com",
    base_from: &["ANTHROPIC_BASE_URL"],
    key_from: &["ANTHROPIC_API_KEY"],
    model_from: &["ANTHROPIC_MODEL"],
    usual: Some("claude-sonnet-4-5"),
    reasoning: &[],
    provider: Provider::Anthropic,
    wire: &AnthropicWire,
};

const GEMINI: VendorRow = VendorRow {
    name: "gemini",
    base: "https://generativelanguage.googleapis.com",
    base_from: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    key_from: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    model_from: &["GEMINI_MODEL"],
    usual: Some("gemini-2.5-flash"),
    reasoning: &[],
    provider: Provider::Gemini,
    wire: &GeminiWire,
};

const OLLAMA: VendorRow = VendorRow {
    name: "ollama",
    base: "http://127.0.0.1:11434",
    base_from: &["OLLAMA_BASE_URL"],
    key_from: &[],
    model_from: &["OLLAMA_MODEL"],
    usual: None,
    reasoning: &[],
    provider: Provider::OpenAiChat,
    wire: &OllamaWire,
};

impl Vendor {
    /// All of them, in the order in which one is chosen by the variables that are set.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Ollama];

    pub(crate) fn row(self) -> &'static VendorRow {
        match self {
            Self::OpenAi => &OPENAI,
            Self::OpenAiResponses => &RESPONSES,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
            Self::Ollama => &OLLAMA,
        }
    }

    /// What people write before the `/`.
    pub fn as_str(self) -> &'static str {
        self.row().name
    }

    /// In which form it takes definitions of tools.
    pub fn provider(self) -> Provider {
        self.row().provider
    }

    /// Whether a model of it takes an effort, and neither a temperature nor stop sequences.
    pub(crate) fn is_reasoning(self, model: &str) -> bool {
        let name = model.rsplit('/').next().unwrap_or_default();
        self.row().reasoning.iter().any(|begin| name.starts_with(begin))
    }

    /// The one that is called so.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.as_str() == text)
    }

    /// What may have been meant.
    pub(crate) fn near(text: &str) -> Option<&'static str> {
        nearest(text, Self::ALL.map(Self::as_str))
    }

    /// All names, for a message.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::as_str).join(", ")
    }
}

impl fmt::Display for Vendor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
