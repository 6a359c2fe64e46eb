//! Whose rules a file is read by. The same key means milliseconds to one program and seconds to another; a
//! bare `url` means one transport here and another there. One row a program.

use std::path::Path;

use super::tree::Node;

mod table;
pub(crate) mod words;

pub use table::ALL;

/// Where the servers stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerShape {
    /// A map of servers under a path of keys.
    Map(&'static [&'static str]),
    /// A list of servers, each with its name inside, under a path of keys.
    List(&'static [&'static str]),
    /// The whole file is a map of servers.
    Bare,
    /// The whole file is one server.
    Single,
}

/// The unit of a bare `timeout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Milliseconds.
    Millis,
    /// Seconds.
    Seconds,
    /// Nobody says: from 1000 on it is milliseconds.
    Guess,
}

/// What a `url` without a transport means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareUrl {
    /// Streamable HTTP.
    Http,
    /// Server-sent events.
    Sse,
    /// Whatever answers.
    Auto,
}

/// Ways to write a reference beyond `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `${input:id}`, which are
/// read everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceStyle {
    /// `$VAR`
    Dollar,
    /// `%VAR%`
    Percent,
    /// `{env:VAR}`
    BraceEnv,
    /// `{{VAR}}`
    Moustache,
}

/// What one program does in a way of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// Servers of single folders stand under `projects.<folder>.mcpServers`.
    Projects,
    /// Keys beside the servers switch them off or hide tools: `mcp.allowed`, `mcp.excluded`, `tools`.
    GlobalSwitches,
    /// An empty list of tools to take means all of them.
    EmptyIncludeIsAll,
    /// Names of tools may stand in one string with commas between them: so its own command writes them.
    JoinedNames,
    /// A `command` with blanks is a program and its arguments.
    SplitCommand,
    /// An entry without a command may belong to an extension, which starts the server.
    Extensions,
    /// The whole file is one server, named after the file.
    NamedByFile,
}

/// What a file holds when its name says nothing, by which a program is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Something under this path of keys.
    Any(&'static [&'static str]),
    /// A map there.
    Map(&'static [&'static str]),
    /// A list there.
    List(&'static [&'static str]),
    /// Something under the first key and nothing under the second.
    Without(&'static str, &'static str),
    /// An entry of `mcpServers` with this key.
    EntryKey(&'static str),
    /// One of these keys at the top.
    TopKey(&'static [&'static str]),
    /// The whole file is one server.
    Single,
}

impl Sign {
    fn is_in(self, root: &Node) -> bool {
        match self {
            Self::Any(path) => root.at_path(path).is_some(),
            Self::Map(path) => root.at_path(path).and_then(Node::map).is_some(),
            Self::List(path) => root.at_path(path).and_then(Node::list).is_some(),
            Self::Without(key, other) => root.get(key).is_some() && root.get(other).is_none(),
            Self::EntryKey(key) => {
                let entries = root.get("mcpServers").and_then(Node::map).unwrap_or_default();
                entries.iter().any(|pair| pair.value.get(key).is_some())
            }
            Self::TopKey(keys) => keys.iter().any(|key| root.get(key).is_some()),
            Self::Single => super::document::is_single(root),
        }
    }
}

/// The rules of one program's files.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The word used on the command line and in `kitbag.toml`.
    pub id: &'static str,
    /// The program's name.
    pub title: &'static str,
    /// What else people call it. Two programs may share a word, which then means both.
    pub(crate) aliases: &'static [&'static str],
    /// Where it keeps its servers; the first is what it writes today.
    pub shapes: &'static [ContainerShape],
    /// The unit of `timeout`.
    pub timeout: TimeUnit,
    /// What a bare `url` means.
    pub bare_url: BareUrl,
    /// Whether an entry that does not say is switched on.
    pub enabled: bool,
    /// Further ways to write a reference.
    pub forms: &'static [ReferenceStyle],
    /// Ends of paths that are this program's files.
    pub files: &'static [&'static str],
    /// What it does in a way of its own.
    pub(crate) quirks: &'static [Quirk],
    /// By what its files are known, and how telling that is: of several signs in one file the lowest number counts.
    pub(crate) sign: Option<(u8, Sign)>,
    /// How it writes a server, for an export.
    pub(crate) words: Option<&'static words::ExportWords>,
}

impl Dialect {
    /// By its id.
    pub fn by_id(id: &str) -> Option<&'static Self> {
        ALL.iter().find(|dialect| dialect.id == id)
    }

    /// Every program this word means, in any case and however it is joined: `claude` means two.
    pub fn by_word(word: &str) -> Vec<&'static Self> {
        let fold = |text: &str| -> String {
            text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
        };
        let asked = fold(word);
        let is_called = |dialect: &&Self| {
            [dialect.id, dialect.title].iter().chain(dialect.aliases).any(|name| fold(name) == asked)
        };
        ALL.iter().filter(is_called).collect()
    }

    /// By where the file lies and what it is called, when that says enough.
    pub fn by_path(file: &Path) -> Option<&'static Self> {
        ALL.iter().find(|dialect| dialect.files.iter().any(|end| file.ends_with(end)))
    }

    /// By what the file holds: telling keys first, the plain rules otherwise.
    pub fn by_content(root: &Node) -> &'static Self {
        let rank = |dialect: &&Self| dialect.sign.filter(|(_, sign)| sign.is_in(root)).map(|(rank, _)| rank);
        let known = ALL.iter().filter(|dialect| rank(dialect).is_some());
        known.min_by_key(rank).unwrap_or(&ALL[0])
    }

    /// Whether a file is read by these rules because nobody knows whose it is.
    pub(crate) fn is_fallback(&self) -> bool {
        self.id == ALL[0].id
    }

    pub(crate) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

#[cfg(test)]
mod tests;
