//! What a tool would be called if it were alone, and within which bounds.

use std::collections::BTreeSet;

use super::{ShownName, ToolKey};

#[cfg(test)]
mod tests;

/// The longest name every provider takes.
pub const LONGEST: usize = 64;
/// The least room in which a name holds its hash and still something to read.
pub const SHORTEST: usize = 16;

/// What every name of the full form begins with.
const FULL: &str = "mcp_";

/// How much of its origin a name tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NameForm {
    /// `mcp_<server>_<tool>`
    #[default]
    Full,
    /// `<server>_<tool>`
    Short,
    /// `<tool>`
    Bare,
}

impl NameForm {
    /// Every form, the most telling first.
    pub const ALL: [Self; 3] = [Self::Full, Self::Short, Self::Bare];

    /// The form a setting names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.as_str() == word)
    }

    /// The form's word in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Short => "short",
            Self::Bare => "bare",
        }
    }

    /// The plain form of a pair: made of letters, digits and `_`, without a digit in front, of any length.
    pub(super) fn plain(self, (server, tool): &ToolKey) -> String {
        let (server, tool) = (server.as_str(), tool.as_str());
        let parts = match self {
            Self::Full => [FULL, server, "_", tool],
            Self::Short => ["", server, "_", tool],
            Self::Bare => ["", "", "", tool],
        };
        // Room for the `_` in front, too.
        let mut plain = String::with_capacity(1 + parts.iter().map(|part| part.len()).sum::<usize>());
        for c in parts.into_iter().flat_map(str::chars) {
            if plain.is_empty() && c.is_ascii_digit() {
                plain.push('_');
            }
            plain.push(if c.is_ascii_alphanumeric() { c } else { '_' });
        }
        plain
    }
}

/// Less room than any name needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} characters do not hold a name and its hash; the least is {SHORTEST}")]
pub struct TooNarrow(pub usize);

/// How names are given. A table of names belongs to one form and one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    form: NameForm,
    longest: usize,
    reserved: BTreeSet<ShownName>,
    most: usize,
}

impl Default for Naming {
    fn default() -> Self {
        Self::new(NameForm::default())
    }
}

impl Naming {
    /// Names of this form, as long as every provider takes them.
    pub fn new(form: NameForm) -> Self {
        Self { form, longest: LONGEST, reserved: BTreeSet::new(), most: usize::MAX }
    }

    /// The same within fewer characters: [`LONGEST`] less what the host will prepend. More than [`LONGEST`]
    /// is no more room; less than [`SHORTEST`] is refused, because longer names than asked for would fail
    /// one by one at the host.
    pub fn within(self, longest: usize) -> Result<Self, TooNarrow> {
        if longest < SHORTEST {
            return Err(TooNarrow(longest));
        }
        Ok(Self { longest: longest.min(LONGEST), ..self })
    }

    /// The same without these names, which an operator wrote down for particular tools. Only new pairs heed
    /// them: one that holds such a name already keeps it.
    pub fn reserving(self, reserved: BTreeSet<ShownName>) -> Self {
        Self { reserved, ..self }
    }

    /// The same with at most so many names kept for one server. What comes beyond gets the name with its hash,
    /// which is the same whenever it is given, and loses it once it is no longer listed.
    pub fn keeping(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The most names that are kept for one server.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The form of the names.
    pub fn form(&self) -> NameForm {
        self.form
    }

    /// The most characters a name has.
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Whether an operator gave this name away.
    pub(super) fn reserves(&self, name: &str) -> bool {
        self.reserved.contains(name)
    }

    /// Whether a plain form can be a name at all, if it is free.
    pub(super) fn takes(&self, plain: &str) -> bool {
        // In the other forms `mcp_…` would shadow the full name of a tool of another server.
        let full = self.form != NameForm::Full && plain.starts_with(FULL);
        plain.len() <= self.longest && is_readable(plain) && !full && !self.reserves(plain)
    }

    /// The beginning of a plain form, as much of it as stands before so many characters more.
    pub(super) fn readable<'a>(&self, plain: &'a str, before: usize) -> &'a str {
        let plain = if is_readable(plain) { plain } else { "tool" };
        &plain[..plain.len().min(self.longest.saturating_sub(before))]
    }
}

/// `文` and `文書` are `_` and `__`: valid, but nobody keeps them apart.
fn is_readable(plain: &str) -> bool {
    plain.bytes().any(|byte| byte != b'_')
}
