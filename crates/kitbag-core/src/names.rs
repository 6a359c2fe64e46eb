//! Names are parsed once, at the border, and trusted afterwards.
//!
//! What people really write is allowed: spaces, dots, slashes, CJK. Only what is shown to a model
//! ([`ShownName`]) or becomes part of a path ([`UserId`]) is narrow.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::text::is_hidden;

mod assign;
mod fit;
mod form;
mod gateways;
pub mod lookup;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use assign::base32;
pub use assign::{assign, trim};
#[cfg(feature = "present")]
pub(crate) use fit::fit_gateway;
pub(crate) use fit::{Named, fit};
pub use form::{LONGEST as LONGEST_SHOWN, NameForm, Naming, SHORTEST as SHORTEST_SHOWN, TooNarrow};
pub use gateways::gateways;
pub use table::{NameTable, ToolKey};

/// Longest name of a server or tool, in characters.
pub(crate) const LONGEST: usize = 128;
/// Longest readable part of a slug; the rest of a file name is hash and extension.
const LONGEST_SLUG: usize = 40;

/// The error of parsing a name: why the string is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} \"{shown}\" {why}")]
pub struct InvalidName {
    what: &'static str,
    shown: String,
    why: &'static str,
}

impl InvalidName {
    fn new(what: &'static str, text: &str, why: &'static str) -> Self {
        let mut shown: String = text.chars().take(48).flat_map(escaped).collect();
        if text.chars().nth(48).is_some() {
            shown.push('…');
        }
        Self { what, shown, why }
    }

    /// What is wrong with it, to follow whatever it is called by.
    pub fn why(&self) -> &'static str {
        self.why
    }
}

/// A character as it stands in quotes. Some that cannot be seen are letters to others and would stay as they
/// are.
fn escaped(c: char) -> Box<dyn Iterator<Item = char>> {
    match c {
        '\'' => Box::new(std::iter::once(c)),
        _ if is_hidden(c) => Box::new(c.escape_unicode()),
        _ => Box::new(c.escape_debug()),
    }
}

/// The name of a server as its owner wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName(Arc<str>);

impl ServerName {
    /// Any visible text of 1 to 128 characters without blanks at its ends.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        visible("server name", text).map(Self)
    }

    /// A file name stem for this server: never the name itself, never a path, distinct for distinct names.
    ///
    /// Plain lower-case names stay readable; everything else gets a piece of its hash, so `A` and `a`, or
    /// `a/b` and `a-b`, cannot meet in one file.
    pub fn slug(&self) -> String {
        let mut slug = String::new();
        for c in self.0.chars().take(LONGEST_SLUG) {
            let c = c.to_ascii_lowercase();
            let c = if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
            if !(c == '-' && slug.ends_with('-')) {
                slug.push(c);
            }
        }
        let slug = slug.trim_matches('-');
        if slug == &*self.0 && !is_reserved(slug) {
            return slug.to_owned();
        }
        let hash = hex(&Sha256::digest(self.0.as_bytes())[..5]);
        if slug.is_empty() { format!("server-{hash}") } else { format!("{slug}-{hash}") }
    }
}

impl ServerName {
    /// Whose tools those of the program itself are.
    pub fn local() -> Self {
        Self("local".into())
    }
}

/// The name of a tool as its server spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Any visible text of 1 to 128 characters without blanks at its ends.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        visible("tool name", text).map(Self)
    }

    /// By what rules, pins and records speak of a prompt: `prompt:<name>`.
    pub fn of_prompt(name: &str) -> Result<Self, InvalidName> {
        visible("prompt name", name)?;
        visible("prompt name", &format!("prompt:{name}")).map(Self)
    }

    /// By what rules and records speak of a resource: `resource:<uri>`, as long as that is.
    pub fn of_resource(uri: &str) -> Self {
        Self(format!("resource:{uri}").into())
    }
}

/// The name a model sees and calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShownName(Arc<str>);

impl ShownName {
    /// The intersection of what every provider takes: `[A-Za-z_][A-Za-z0-9_]{0,63}`.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if starts && word && text.len() <= 64 {
            return Ok(Self(text.into()));
        }
        Err(InvalidName::new(
            "shown name",
            text,
            "is not 1 to 64 letters, digits and _ without a leading digit",
        ))
    }
}

/// A user of this Kitbag. Narrow, because it names a folder.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserId(Arc<str>);

impl UserId {
    /// `[A-Za-z0-9_-]{1,64}`, compared case-sensitively.
    pub fn parse(text: &str) -> Result<Self, InvalidName> {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !text.is_empty() && text.len() <= 64 && text.chars().all(word) {
            return Ok(Self(text.into()));
        }
        Err(InvalidName::new("user id", text, "is not 1 to 64 of A-Z a-z 0-9 _ -"))
    }

    /// Who is meant when nobody is named.
    pub fn local() -> Self {
        // Every call that names nobody asks for it.
        static LOCAL: LazyLock<UserId> = LazyLock::new(|| UserId("local".into()));
        LOCAL.clone()
    }

    /// The one folder name that belongs to this user. To be matched against a listing, never joined to a
    /// path unseen: some file systems fold case and would hand `Ada` the folder of `ada`.
    pub fn folder(&self) -> String {
        format!("user_{}", self.0)
    }

    /// The folder name of what Kitbag itself keeps for this user, which nobody else chooses or looks for. Two users
    /// have two, also where case is folded: a mark that no id can hold tells those with capitals apart.
    pub fn state_folder(&self) -> String {
        let folder = self.folder();
        if !self.0.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return folder;
        }
        let mark: String = fingerprint(&[&self.0]).chars().take(8).collect();
        format!("{folder}.{mark}")
    }

    /// The user whose folder this is, if it is one.
    pub fn of_folder(folder: &str) -> Option<Self> {
        folder.strip_prefix("user_").and_then(|id| Self::parse(id).ok())
    }
}

macro_rules! text_of {
    ($($name:ident),*) => {$(
        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Self::parse(text)
            }
        }

        impl TryFrom<&str> for $name {
            type Error = InvalidName;

            fn try_from(text: &str) -> Result<Self, InvalidName> {
                Self::parse(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                Self::parse(&text)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'_, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        // Equality, order and hash are those of the text, so maps can be asked with a bare `&str`.
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}
text_of!(ServerName, ToolName, ShownName, UserId);

fn visible(what: &'static str, text: &str) -> Result<Arc<str>, InvalidName> {
    let why = if text.is_empty() {
        "is empty"
    } else if text.trim() != text {
        "begins or ends with a blank"
    } else if LONGEST < text.chars().count() {
        "is longer than 128 characters"
    } else if text.chars().any(|c| c.is_control() || is_hidden(c)) {
        "holds a control or invisible character"
    } else {
        return Ok(text.into());
    };
    Err(InvalidName::new(what, text, why))
}

/// Stems that some system takes for a device.
fn is_reserved(stem: &str) -> bool {
    let numbered =
        |p: &str| stem.strip_prefix(p).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// A hash of some texts, for telling whether they changed.
pub fn fingerprint(texts: &[&str]) -> String {
    let mut sha = Sha256::new();
    for text in texts {
        // Length-prefixed, so that no two lists give the same bytes.
        sha.update((text.len() as u64).to_be_bytes());
        sha.update(text.as_bytes());
    }
    hex(&sha.finalize())
}

/// Lower-case hex digits of some bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}
