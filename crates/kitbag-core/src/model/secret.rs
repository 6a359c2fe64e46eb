//! A value that must not be shown.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use crate::text::MASK;

/// A secret string that is wiped when dropped and prints as `***`.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes the text over.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself, for the one who must send it.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
