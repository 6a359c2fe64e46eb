//! What a key of a configuration file says about its value.

use super::super::{MASK, looks_secret, names_secret};
use crate::text::nearest;

/// What a value is, by the keys that lead to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Anything.
    #[default]
    Unknown,
    /// A word of a closed list, a name, a path, a description, a number.
    Plain,
    /// A command line, or words of one.
    Words,
    /// An address.
    Url,
    /// The name of a variable.
    Variable,
    /// A secret, or what says how to sign in: plain keys among it stay plain.
    Auth,
    /// Variables or headers: every value in it.
    Hidden,
}

/// Keys whose maps hold values of variables and headers.
const HIDDEN: [&str; 6] = ["env", "envs", "environment", "headers", "header", "httpheaders"];

/// Keys of command lines.
const WORDS: [&str; 8] = ["command", "cmd", "args", "arg", "argv", "arguments", "script", "instruction"];

/// Keys of configuration files whose values are no secrets by themselves.
const PLAIN: [&str; 63] = [
    "agent",
    "agents",
    "allow",
    "alwaysallow",
    "approve",
    "autoapprove",
    "budget",
    "category",
    "clash",
    "concurrency",
    "connecttimeout",
    "cwd",
    "deny",
    "describe",
    "description",
    "disabled",
    "disabledtools",
    "displayname",
    "enabled",
    "enabledtools",
    "envfile",
    "envpass",
    "envvars",
    "examples",
    "exclude",
    "excludetools",
    "fallback",
    "files",
    "groups",
    "hide",
    "hosts",
    "id",
    "idempotent",
    "include",
    "includetools",
    "inittimeout",
    "inputs",
    "lazy",
    "listen",
    "maskresults",
    "maxsteps",
    "mcp",
    "mode",
    "model",
    "name",
    "names",
    "path",
    "peruser",
    "readonly",
    "rename",
    "required",
    "serverscriptpath",
    "servername",
    "serversdir",
    "tag",
    "timeout",
    "title",
    "toolnames",
    "tools",
    "transport",
    "transporttype",
    "trifecta",
    "type",
];

impl Kind {
    /// What a key says, inside of what these keys said before.
    pub(super) fn of_key(self, key: &str) -> Self {
        let folded = folded(key);
        let names_variable = folded.ends_with("envvar") || folded.ends_with("env") && folded != "env";
        match self {
            Self::Hidden => Self::Hidden,
            _ if near(&folded, &HIDDEN) => Self::Hidden,
            // The name of a variable, which people take for the place of its value.
            _ if names_variable => Self::Variable,
            _ if PLAIN.contains(&folded.as_str()) => Self::Plain,
            _ if names_secret(key) || is_variable(key) || key.starts_with("X-") || key.starts_with("x-") => {
                Self::Auth
            }
            _ if ["url", "uri", "endpoint"].iter().any(|word| folded.contains(word)) => Self::Url,
            _ if near(&folded, &WORDS) => Self::Words,
            Self::Auth => Self::Auth,
            _ => Self::Unknown,
        }
    }

    /// Whether a word is a key that can be meant here.
    pub(super) fn knows(self, key: &str) -> bool {
        self.of_key(key) != self && self.of_key(key) != Self::Unknown
    }
}

fn near(folded: &str, known: &[&'static str]) -> bool {
    known.contains(&folded) || 4 <= folded.len() && nearest(folded, known.iter().copied()).is_some()
}

fn folded(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `GITHUB_TOKEN`, as variables are called.
pub(super) fn is_variable(name: &str) -> bool {
    name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// A value of a variable or header: only what is no value of its own may be shown, and the name it may begin with.
pub(super) fn hidden(text: &str) -> String {
    if text.is_empty() || is_reference(text) {
        return text.to_owned();
    }
    let is_env = text.split_once('=').is_some_and(|(name, _)| is_variable(name));
    let pair = if is_env { named(text, "=") } else { named(text, ": ") };
    pair.unwrap_or_else(|| MASK.to_owned())
}

/// The same in a list, where `NAME=value` names its variable.
pub(super) fn hidden_pair(text: &str) -> String {
    named(text, "=").unwrap_or_else(|| hidden(text))
}

/// A name that is shown, and its value that is not.
fn named(text: &str, mark: &str) -> Option<String> {
    let (name, value) = text.split_once(mark)?;
    let is_pair = is_name(name) && !value.trim_matches('=').is_empty();
    let value = if is_reference(value) { value } else { MASK };
    is_pair.then(|| format!("{name}{mark}{value}"))
}

/// A name of a variable or header.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    !name.is_empty()
        && name.chars().all(fits)
        && !looks_secret(name)
        && name.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Nothing but a reference, behind a scheme or not.
fn is_reference(text: &str) -> bool {
    let text = ["Bearer ", "Basic ", "bearer ", "token "]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme))
        .unwrap_or(text);
    let inner = [("${", "}"), ("{{", "}}"), ("{env:", "}"), ("$", "")]
        .iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close));
    let fits = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
    inner.is_some_and(|inner| !inner.is_empty() && inner.chars().all(fits) && !looks_secret(inner))
}

/// A text of which each word is shown that reads like one.
pub(super) fn sentence(text: &str) -> String {
    // `TOKEN=***`, `user:***@`: what a mask stands behind, and nothing it was cut out of.
    let is_masked = |word: &str| {
        let (before, after) = word.split_once(MASK).unwrap_or((word, ""));
        let name = before.strip_suffix(['=', ':', '/']);
        let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let is_name = |name: &str| is_ordinary(name) || name.chars().all(is_upper);
        after.len() < 6 && (before.is_empty() || name.is_some_and(is_name))
    };
    let shown = |word: &'_ str| -> String {
        let is_shown = is_ordinary(word) || word.contains(MASK) && is_masked(word);
        if is_shown { word.to_owned() } else { MASK.to_owned() }
    };
    text.split(' ').map(shown).collect::<Vec<_>>().join(" ")
}

/// Words that people write for people: the mistake itself, as a rule. What is long, mixed or loud is not.
pub(super) fn is_ordinary(text: &str) -> bool {
    let is_flag = text.starts_with("--") && !text.contains(['=', ' ']);
    if is_flag || text.len() < 6 {
        return true;
    }
    let mut runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    let is_word = |run: &str| {
        run.chars().skip(1).all(|c| c.is_ascii_lowercase())
            && run.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let is_number = |run: &str| run.chars().all(|c| c.is_ascii_digit());
    text.is_ascii()
        && (runs.clone().all(is_number) || runs.all(|run| is_word(run) || is_number(run) && run.len() < 5))
}
