//! What becomes of a set of tools by which private data can be carried off: the words of `[policy] trifecta`.

/// What is done when the tools of one view read private data, bring in untrusted text and send something out. The later
/// ones are stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrifectaPolicy {
    /// Nobody decided: it is worth a note.
    #[default]
    Unset,
    /// It is a warning.
    Warn,
    /// A person is asked before every call of a tool that sends.
    Ask,
    /// The tools that send are not in the view.
    Deny,
}

impl TrifectaPolicy {
    /// The words it is written with.
    pub const WORDS: [&str; 3] = ["warn", "ask", "deny"];

    /// By its word.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "warn" => Some(Self::Warn),
            "ask" => Some(Self::Ask),
            "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}
