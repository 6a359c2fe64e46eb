//! Whose rules a file is read by. The same key means milliseconds to one program and seconds to another; a
//! bare `url` means one transport here and another there. One row a program.

use std::path::Path;

use super::tree::Node;

mod table;

pub use table::ALL;

/// Where the servers stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
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
pub enum Unit {
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
pub enum Form {
    /// `$VAR`
    Dollar,
    /// `%VAR%`
    Percent,
    /// `{env:VAR}`
    BraceEnv,
    /// `{{VAR}}`
    Moustache,
}

/// The rules of one program's files.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The word used on the command line and in `kitbag.toml`.
    pub id: &'static str,
    /// The program's name.
    pub title: &'static str,
    /// Where it keeps its servers; the first is what it writes today.
    pub shapes: &'static [Shape],
    /// The unit of `timeout`.
    pub timeout: Unit,
    /// What a bare `url` means.
    pub bare_url: BareUrl,
    /// Whether an entry that does not say is switched on.
    pub enabled: bool,
    /// Further ways to write a reference.
    pub forms: &'static [Form],
    /// Ends of paths that are this program's files.
    pub files: &'static [&'static str],
}

impl Dialect {
    /// By its id.
    pub fn by_id(id: &str) -> Option<&'static Self> {
        ALL.iter().find(|dialect| dialect.id == id)
    }

    /// By where the file lies and what it is called, when that says enough.
    pub fn by_path(file: &Path) -> Option<&'static Self> {
        ALL.iter().find(|dialect| dialect.files.iter().any(|end| file.ends_with(end)))
    }

    /// By what the file holds: telling keys first, the plain rules otherwise.
    pub fn by_content(root: &Node) -> &'static Self {
        let under = |path: &[&str]| root.at_path(path);
        let any_entry = |key: &str| {
            let entries = under(&["mcpServers"]).and_then(Node::map).unwrap_or_default();
            entries.iter().any(|pair| pair.value.get(key).is_some())
        };
        let id = if under(&["context_servers"]).is_some() {
            "zed"
        } else if under(&["extensions"]).and_then(Node::map).is_some() {
            "goose"
        } else if under(&["mcp_servers"]).and_then(Node::list).is_some() {
            "vibe"
        } else if under(&["mcp", "servers"]).and_then(Node::list).is_some() {
            "openai"
        } else if under(&["servers"]).and_then(Node::list).is_some() {
            "elysia"
        } else if under(&["servers"]).is_some() && under(&["mcpServers"]).is_none() {
            "vscode"
        } else if any_entry("httpUrl") {
            "gemini"
        } else if any_entry("serverUrl") {
            "windsurf"
        } else if any_entry("alwaysAllow") {
            "roo"
        } else if any_entry("autoApprove") {
            "cline"
        } else if root.get("serverName").is_some() || root.get("connection").is_some() {
            "aidk"
        } else if super::document::is_single(root) {
            "tgnote"
        } else {
            "plain"
        };
        Self::by_id(id).unwrap_or(&ALL[0])
    }
}
