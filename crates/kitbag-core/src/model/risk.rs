//! What a tool may do to the world: read, write, destroy, reach beyond the machine. The operator's word counts, or what
//! the server says in a definition that a person approved; else it is not known.

/// What a tool does to what it works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// It changes nothing.
    Read,
    /// It adds or changes.
    Write,
    /// It may destroy something.
    Destructive,
}

/// The risk of a tool, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Risk {
    /// What it does; none where nobody said so.
    pub effect: Option<Effect>,
    /// Whether it reaches beyond the machine; none where nobody said so.
    pub open: Option<bool>,
}

impl Risk {
    /// By the words of an operator: they say all there is to say, so a tool that is not called open is not.
    pub fn of_words<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<RiskWord> = words.into_iter().filter_map(RiskWord::parse).collect();
        let effect = words.iter().filter_map(|word| word.effect()).max();
        Self { effect, open: (!words.is_empty()).then(|| words.contains(&RiskWord::Open)) }
    }

    /// The same where it is known, else what another source says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self { effect: self.effect.or(other.effect), open: self.open.or(other.open) }
    }
}

/// The word after `risk:` in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RiskWord {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `destructive`
    Destructive,
    /// `open`
    Open,
}

impl RiskWord {
    /// All of them, as they are written.
    pub const WORDS: [&str; 4] = ["read", "write", "destructive", "open"];

    /// By how it is written.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "read" => Some(Self::Read),
            "write" => Some(Self::Write),
            "destructive" => Some(Self::Destructive),
            "open" => Some(Self::Open),
            _ => None,
        }
    }

    fn effect(self) -> Option<Effect> {
        match self {
            Self::Read => Some(Effect::Read),
            Self::Write => Some(Effect::Write),
            Self::Destructive => Some(Effect::Destructive),
            Self::Open => None,
        }
    }

    /// Whether a rule that restricts means this tool: what is not known counts as destructive and open, and what
    /// destroys writes, too.
    pub(crate) fn may_be(self, risk: Risk) -> bool {
        let effect = risk.effect.unwrap_or(Effect::Destructive);
        match self {
            Self::Read => effect == Effect::Read,
            Self::Write => Effect::Write <= effect,
            Self::Destructive => effect == Effect::Destructive,
            Self::Open => risk.open.unwrap_or(true),
        }
    }

    /// Whether what is known of a tool says if this word is true of it.
    pub(crate) fn is_decided(self, risk: Risk) -> bool {
        match self.effect() {
            Some(_) => risk.effect.is_some(),
            None => risk.open.is_some(),
        }
    }

    /// Whether a rule that permits means this tool: only what is known to be just that.
    pub(crate) fn surely_is(self, risk: Risk) -> bool {
        match self.effect() {
            Some(effect) => risk.effect == Some(effect),
            None => risk.open == Some(true),
        }
    }
}
