//! When a tool is held until a person approves its definition.

/// `[pins] mode`: how surely a tool must be the one that was approved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PinMode {
    /// Definitions may change at any time.
    Off,
    /// A definition counts from the first call on; when it changes, the tool is held.
    #[default]
    FirstUse,
    /// Every tool is held until a person approves it.
    Strict,
}

impl PinMode {
    /// By its word in `kitbag.toml`.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "off" => Some(Self::Off),
            "first-use" => Some(Self::FirstUse),
            "strict" => Some(Self::Strict),
            _ => None,
        }
    }
}
