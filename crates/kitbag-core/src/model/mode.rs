//! In which way tools are shown to a model.

/// How tools are shown to a model: native definitions, gateways, or text in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// As definitions of the provider, one for each tool.
    Native,
    /// As one tool a server, which lists and executes.
    Gateway,
    /// As one tool a server, which takes a task in words: a model of the program does it with the server's tools.
    Agent,
    /// As a text for the prompt, every tool under a heading.
    Markdown,
    /// As a text for the prompt, one line a tool.
    Signatures,
    /// As a text for the prompt, called by lines that begin with `TOOL:`.
    Text,
    /// By searching.
    Search,
    /// Whatever serves best.
    #[default]
    Auto,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Native,
        Self::Gateway,
        Self::Agent,
        Self::Markdown,
        Self::Signatures,
        Self::Text,
        Self::Search,
        Self::Auto,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Gateway => "gateway",
            Self::Agent => "agent",
            Self::Markdown => "markdown",
            Self::Signatures => "signatures",
            Self::Text => "text",
            Self::Search => "search",
            Self::Auto => "auto",
        }
    }

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}
