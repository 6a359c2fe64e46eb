//! `get_*`, `fs/*`, `*`: patterns over names, compiled once.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Some patterns. A name fits when any of them does.
#[derive(Clone, Debug, Default)]
pub struct Globs(GlobSet);

/// A pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pattern:?} is not a valid pattern: {why}")]
pub struct BadGlob {
    /// As written.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

impl Globs {
    /// Compiles patterns: `*` and `?` stand for anything, `[ab]` and `{a,b}` for a choice.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a String>) -> Result<Self, BadGlob> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern).literal_separator(false).backslash_escape(true).build();
            set.add(glob.map_err(|error| bad(pattern, &error))?);
        }
        set.build().map(Self).map_err(|error| bad("", &error))
    }

    /// Whether any of them fits.
    pub fn fit(&self, name: &str) -> bool {
        self.0.is_match(name)
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn bad(pattern: &str, error: &globset::Error) -> BadGlob {
    BadGlob { pattern: pattern.to_owned(), why: error.kind().to_string() }
}
