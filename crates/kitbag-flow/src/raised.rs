//! What goes wrong while a node runs, in Python's own words, because drawings show these words to people and models.

use std::fmt;

/// An exception: its class, and what `str()` gives of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    kind: &'static str,
    text: String,
    at: Option<At>,
}

/// The node in which it began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) name: String,
    pub(crate) id: String,
}

/// The class of what no drawing may catch.
const LIMIT: &str = "LimitReached";

impl Raised {
    /// An exception of this class.
    pub fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), at: None }
    }

    pub(crate) fn type_error(text: impl Into<String>) -> Self {
        Self::new("TypeError", text)
    }

    pub(crate) fn value_error(text: impl Into<String>) -> Self {
        Self::new("ValueError", text)
    }

    /// What a limit of the whole run stopped.
    pub(crate) fn limit(text: impl Into<String>) -> Self {
        Self::new(LIMIT, text)
    }

    /// A node reads what only another type has.
    pub(crate) fn no_attribute(kind: &str, name: &str) -> Self {
        Self::new("AttributeError", format!("'{kind}' object has no attribute '{name}'"))
    }

    /// Whether a node of the drawing may go on with it.
    pub(crate) fn can_be_handled(&self) -> bool {
        self.kind != LIMIT
    }

    /// Its class.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The node in which it began, by name and id, once that is known.
    pub fn node(&self) -> Option<(&str, &str)> {
        self.at.as_ref().map(|at| (at.name.as_str(), at.id.as_str()))
    }

    /// Remembers where it began; a node further out changes nothing.
    pub(crate) fn at(mut self, name: &str, id: &str) -> Self {
        self.at.get_or_insert_with(|| At { name: name.to_owned(), id: id.to_owned() });
        self
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Raised {}
