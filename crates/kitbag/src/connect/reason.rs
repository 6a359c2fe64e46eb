//! Why a server cannot be used: one type from the transport that met the trouble to the person who reads about it.
//! Decisions look at the class, never at the words.

use std::error::Error;
use std::fmt;

use kitbag_core::text::{Redactor, cut, one_line};
use kitbag_core::{ErrorKind, Fault};

#[cfg(test)]
mod tests;

macro_rules! classes {
    ($($name:ident = $code:literal, $words:literal, $sentence:literal;)*) => {
        /// What kind of trouble a [`Reason`] is about: a closed list.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ReasonClass { $(#[doc = $sentence] $name),* }

        impl ReasonClass {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The word used in JSON output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// What it means, in one sentence.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence),* }
            }

            /// The words a line about it begins with.
            fn words(self) -> &'static str {
                match self { $(Self::$name => $words),* }
            }
        }
    };
}

classes! {
    Config = "config", "configuration", "A value in the configuration is missing or cannot be used.";
    InvalidUrl = "invalid_url", "invalid url", "The address is not one that can be connected to.";
    MissingProgram = "missing_program", "missing program", "The program does not exist.";
    MissingFolder = "missing_folder", "missing folder", "The folder to run in does not exist.";
    SpawnFailed = "spawn_failed", "cannot be started", "The system did not start the program.";
    Exited = "exited", "exited", "The program ended.";
    Closed = "closed", "connection", "The connection was closed, or broke off.";
    ConnectionRefused = "connection_refused", "connection", "Nothing listens at the address.";
    Dns = "dns", "connection", "The name of the host cannot be looked up.";
    Unreachable = "unreachable", "connection", "No connection can be made for another reason.";
    Certificate = "certificate", "certificate", "The server's certificate is not trusted.";
    Timeout = "timeout", "timeout", "It took too long.";
    AuthRequired = "auth_required", "auth required", "The server wants credentials (401, or 403 with a challenge).";
    Forbidden = "forbidden", "forbidden", "The server knows who asks, and does not allow it (403).";
    RateLimited = "rate_limited", "rate limited", "Too many requests (429).";
    Refused = "refused", "refused", "The server answered with another error.";
    SessionLost = "session_lost", "the session is gone", "The server no longer knows the session.";
    NotMcp = "not_mcp", "not MCP", "Something answers, and does not speak MCP.";
    BadAnswer = "bad_answer", "bad answer", "An answer breaks the protocol.";
    TooLarge = "too_large", "too large", "An answer is larger than the limit.";
    ProtocolVersion = "protocol_version", "protocol version", "The server speaks no version of the protocol that Kitbag speaks.";
    CutShort = "cut_short", "tool list cut short", "The list of tools was not read to its end.";
    Stopped = "stopped", "stopped", "It was ended by Kitbag.";
}

impl ReasonClass {
    /// How a call ends that could not be delivered because of it. Credentials help where they are asked for; against a
    /// plain 403 they do not, so that is the server's own error.
    pub fn kind(self) -> ErrorKind {
        match self {
            Self::AuthRequired => ErrorKind::AuthRequired,
            Self::Forbidden => ErrorKind::ServerError,
            Self::RateLimited => ErrorKind::RateLimited,
            _ => ErrorKind::Unavailable,
        }
    }

    /// Whether the server said no to whoever asks, not to what was asked.
    pub(crate) fn is_about_access(self) -> bool {
        matches!(self, Self::AuthRequired | Self::Forbidden)
    }

    /// Whether only another configuration can help.
    pub(crate) fn needs_other_config(self) -> bool {
        matches!(self, Self::Config | Self::InvalidUrl)
    }
}

/// Why a server cannot be used. Its `Display` is one line, `class: root at address`; nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// What kind of trouble it is.
    pub class: ReasonClass,
    /// The root cause, in a few words; it may quote the server.
    pub root: String,
    /// The address it happened at, for a server that has one.
    pub address: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What could not be done because of it, where that is not the connection as a whole; said in place of the class.
    failed: Option<&'static str>,
    source: Option<Box<Cause>>,
}

impl Reason {
    pub(crate) fn new(class: ReasonClass, root: impl Into<String>) -> Self {
        Self { class, root: root.into(), address: None, hint: None, failed: None, source: None }
    }

    /// What is wrong with the configuration.
    pub(crate) fn of_config<'a>(faults: impl IntoIterator<Item = &'a Fault> + Clone) -> Self {
        let messages: Vec<&str> = faults.clone().into_iter().map(|fault| fault.message.as_str()).collect();
        let hint = faults.into_iter().find_map(|fault| fault.hint.clone());
        Self { hint, ..Self::new(ReasonClass::Config, messages.join("; ")) }
    }

    /// Ended by Kitbag itself.
    pub(crate) fn stopped(root: &str) -> Self {
        Self::new(ReasonClass::Stopped, root)
    }

    /// The same at an address that may be shown.
    pub(crate) fn at(mut self, address: &str) -> Self {
        self.address.get_or_insert_with(|| address.to_owned());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, as why something in particular could not be done.
    pub(crate) fn of_failed(mut self, what: &'static str) -> Self {
        self.failed = Some(what);
        self
    }

    /// The same with the error below it.
    pub(crate) fn caused_by(mut self, error: &dyn Error) -> Self {
        self.source = Some(Box::new(Cause::of(error)));
        self
    }

    /// The same without the secrets of a server.
    pub(crate) fn cleaned(self, redactor: &Redactor) -> Self {
        let clean = |text: String| redactor.line(text.as_bytes());
        Self {
            root: clean(self.root),
            address: self.address.map(clean),
            // Our own words: what looks like a secret in them is the example of a header.
            hint: self.hint.map(|hint| one_line(&redactor.mask(&hint))),
            source: self.source.map(|source| Box::new(source.cleaned(redactor))),
            ..self
        }
    }

    /// The same with no more than so much of what the server said.
    pub(crate) fn cut(mut self, most: usize) -> Self {
        // With the words before it.
        let words = self.failed.unwrap_or(self.class.words()).len() + 2;
        self.root = cut(self.root, most.saturating_sub(words));
        let mut below = self.source.as_deref_mut();
        while let Some(cause) = below {
            cause.text = cut(std::mem::take(&mut cause.text), most);
            below = cause.source.as_deref_mut();
        }
        self
    }

    /// Whether both are about the same: the words of a server may differ every time.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        (self.class, self.failed, &self.address) == (other.class, other.failed, &other.address)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.failed.unwrap_or(self.class.words()), self.root)?;
        match &self.address {
            Some(address) => write!(f, " at {address}"),
            None => Ok(()),
        }
    }
}

impl Error for Reason {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// An error below a reason, and what is below that. Kept as text, because the error itself may hold secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cause {
    text: String,
    source: Option<Box<Self>>,
}

impl Cause {
    fn of(error: &dyn Error) -> Self {
        let source = error.source().map(|source| Box::new(Self::of(source)));
        Self { text: error.to_string(), source }
    }

    fn cleaned(self, redactor: &Redactor) -> Self {
        let source = self.source.map(|source| Box::new(source.cleaned(redactor)));
        Self { text: redactor.line(self.text.as_bytes()), source }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
