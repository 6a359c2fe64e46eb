//! The keys of `kitbag.toml`, in one table: what each must be, what it is for, and what it costs when it
//! cannot be read.

use super::super::dialect::ALL;
use crate::model::{AgentKind, Limits, RiskWord, TrifectaPolicy};
use crate::text::nearest;

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Text,
    Bool,
    Count,
    Duration,
    Texts,
    /// Names of variables, or the word `all`.
    Variables,
    OneOf(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// Names of programs whose files can be read.
    Hosts,
    /// A row of [`Limits`].
    Limits,
    /// Anything: it is handed on as it is.
    Any,
    /// A table with just these keys.
    Table(&'static [Key]),
    /// A table of names of the user's choice.
    Named(&'static Shape),
    /// A list of tables.
    List(&'static Shape),
}

/// What a key costs that cannot be read, or is probably meant by an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing but itself: it only changes how things look or how fast they are.
    Plain,
    /// Its owner is closed: the key could have kept anything away.
    Restricts,
    /// It counts as the strictest value it can have; misspelt, it closes its owner.
    Strictest,
}

/// A key, what its value must be, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) what: &'static str,
    pub(super) role: Role,
}

const fn key(name: &'static str, shape: Shape, what: &'static str) -> Key {
    Key { name, shape, what, role: Role::Plain }
}

const fn restricts(name: &'static str, shape: Shape, what: &'static str) -> Key {
    Key { name, shape, what, role: Role::Restricts }
}

const fn strictest(name: &'static str, shape: Shape, what: &'static str) -> Key {
    Key { name, shape, what, role: Role::Strictest }
}

/// The names of keys, restrictions first: of two that an unknown key is equally near to, the restriction counts
/// as meant. Better too little than what was meant to be kept away.
pub(super) fn strictest_first(keys: &'static [Key]) -> Vec<&'static str> {
    let of = |role: Role| keys.iter().filter(move |key| key.role == role).map(|key| key.name);
    of(Role::Restricts).chain(of(Role::Strictest)).chain(of(Role::Plain)).collect()
}

/// The known key that an unknown one is probably meant to be.
pub(super) fn near(word: &str, keys: &'static [Key]) -> Option<&'static Key> {
    let name = nearest(word, strictest_first(keys))?;
    keys.iter().find(|key| key.name == name)
}

pub(super) const MODES: Shape =
    Shape::OneOf(&["native", "gateway", "agent", "markdown", "signatures", "text", "search", "auto"]);

pub(super) const RISKS: Shape = Shape::Words(&RiskWord::WORDS);

const FORMS: Shape = Shape::OneOf(&["full", "short", "bare"]);

/// The whole file.
pub(super) const ROOT: &[Key] = &[
    key("sources", Shape::Table(SOURCES), "where servers are read from, besides Kitbag's own files"),
    key("wait", Shape::Table(WAIT), "how long things may take"),
    key("present", Shape::Table(PRESENT), "how tools are shown to a model"),
    restricts(
        "servers",
        Shape::Named(&Shape::Table(SERVER)),
        "adds to, or overrides, what a server's own file says",
    ),
    restricts("agents", Shape::Named(&Shape::Table(AGENT)), "agents and what they may see"),
    restricts("groups", Shape::Named(&Shape::Table(GROUP)), "permissions that users share"),
    restricts("users", Shape::Named(&Shape::Table(USER)), "users besides those with a folder of their own"),
    key("limits", Shape::Limits, "any row of `kitbag limits`, by its name"),
    key("store", Shape::Table(STORE), "where pins, approvals and the audit log are kept"),
    restricts("pins", Shape::Table(PINS), "what happens when a tool's definition changes"),
    restricts(
        "policy",
        Shape::Table(POLICY),
        "which tools may not be seen together, and which servers are not started",
    ),
    key("audit", Shape::Table(AUDIT), "what is recorded about calls"),
    restricts("serve", Shape::Table(SERVE), "how Kitbag serves its tools to other programs"),
];

pub(super) const SOURCES: &[Key] = &[
    key("hosts", Shape::Hosts, "other programs whose files are used"),
    key("files", Shape::Texts, "further configuration files, in any dialect"),
    key("servers_dir", Shape::Text, "a folder with one file per server and user_<id> folders"),
];

pub(super) const WAIT: &[Key] = &[
    key("agent", Shape::Duration, "how long an agent or command waits for its servers"),
    key("stdio", Shape::Duration, "until a started program is connected"),
    key("http", Shape::Duration, "until an address is connected"),
    key("list", Shape::Duration, "until a server's tools are listed"),
    key("idle", Shape::Duration, "silence during a call"),
    key("total", Shape::Duration, "a whole call"),
];

pub(super) const PRESENT: &[Key] = &[
    key("mode", MODES, "how tools are shown"),
    key("budget", Shape::Count, "tokens for auto, as `kitbag serve` has it"),
    key("names", FORMS, "mcp_<server>_<tool>, <server>_<tool> or <tool>"),
];

pub(super) const SERVER: &[Key] = &[
    strictest("enabled", Shape::Bool, "whether it is switched on"),
    key("required", Shape::Bool, "whether start-up fails without it"),
    key("lazy", Shape::Bool, "whether it is only started on first need"),
    key("concurrency", Shape::Count, "calls in flight at once"),
    key(
        "fallback",
        Shape::Text,
        "a server with the same tools, which takes calls while this one is not available",
    ),
    key("timeout", Shape::Duration, "until a call is answered"),
    key("connect_timeout", Shape::Duration, "until it is connected"),
    key(
        "env_pass",
        Shape::Variables,
        "variables of Kitbag's own environment that its program gets, by name, or \"all\"",
    ),
    strictest("per_user", Shape::Bool, "whether each user has a connection of their own"),
    strictest(
        "mask_results",
        Shape::Bool,
        "whether its secrets are masked in results for models and hosts, too",
    ),
    key("mode", MODES, "how its tools are shown"),
    restricts("include", Shape::Texts, "globs over its own tool names: only these"),
    restricts("exclude", Shape::Texts, "globs over its own tool names: never these"),
    key("names", FORMS, "which form of name its tools have"),
    key("category", Shape::Text, "the category of its tools, a heading in listings"),
    key("tag", Shape::Text, "put before its tools' descriptions"),
    key("idempotent", Shape::Texts, "tools that may be retried"),
    key("read_only", Shape::Texts, "tools that change nothing"),
    strictest("approve", Shape::Texts, "tools that need a person's approval, also by their arguments"),
    strictest("risk", RISKS, "what its tools may do: read, write, destructive, open"),
    restricts(
        "tools",
        Shape::Named(&Shape::Table(TOOL)),
        "changes to single tools, by the server's own names",
    ),
];

pub(super) const TOOL: &[Key] = &[
    key("name", Shape::Text, "the name that the model sees"),
    key("description", Shape::Text, "the description that the model reads"),
    key("category", Shape::Text, "its category, a heading in listings"),
    strictest("risk", RISKS, "what it may do: read, write, destructive, open"),
    restricts("args", Shape::Named(&Shape::Table(ARG)), "changes to single arguments"),
    key("examples", Shape::List(&Shape::Any), "arguments to show as examples"),
    key("options", Shape::Any, "options for one provider's definition"),
];

pub(super) const ARG: &[Key] = &[
    restricts("pin", Shape::Any, "always this value; the model does not see the argument"),
    key("default", Shape::Any, "this value unless the model says otherwise"),
    key("rename", Shape::Text, "what the model calls it"),
    key("describe", Shape::Text, "what the model reads about it"),
    restricts("hide", Shape::Bool, "whether the model does not see it"),
];

pub(super) const AGENT: &[Key] = &[
    restricts("servers", Shape::Texts, "globs over server names"),
    restricts(
        "allow",
        Shape::Texts,
        "what it may see: \"server/tool\" globs over raw names, category:x, risk:x",
    ),
    restricts("deny", Shape::Texts, "what it may not; beats allow"),
    restricts("approve", Shape::Texts, "what needs a person's approval"),
    key("names", FORMS, "which form of name it sees"),
    key("clash", Shape::OneOf(&["prefix", "mcp", "local", "error"]), "who wins when two tools want one name"),
    key("mode", MODES, "how tools are shown"),
    key("budget", Shape::Count, "tokens for auto"),
    key("model", Shape::Text, "the model that drives it"),
    key("instruction", Shape::Text, "its system prompt"),
    key("max_steps", Shape::Count, "model calls in one run"),
    key("kind", Shape::OneOf(&AgentKind::WORDS), "how its model is driven; mode = \"text\" means text"),
];

pub(super) const GROUP: &[Key] = &[
    restricts("allow", Shape::Texts, "what its users may see and call"),
    restricts("deny", Shape::Texts, "what they may not; beats allow"),
    restricts("approve", Shape::Texts, "what needs approval by a person"),
];

pub(super) const USER: &[Key] = &[restricts("groups", Shape::Texts, "the groups the user belongs to")];

pub(super) const STORE: &[Key] = &[key("url", Shape::Text, "sqlite: or postgres://…")];

pub(super) const PINS: &[Key] = &[restricts(
    "mode",
    Shape::OneOf(&["first-use", "strict", "off"]),
    "whether changed definitions are held back",
)];

pub(super) const POLICY: &[Key] = &[
    restricts(
        "trifecta",
        Shape::OneOf(&TrifectaPolicy::WORDS),
        "private data, untrusted text and a way out in one view",
    ),
    restricts("pinned_only", Shape::Bool, "whether packages and images without a version are not started"),
];

pub(super) const AUDIT: &[Key] = &[key("payload", Shape::Bool, "whether arguments are recorded in full")];

pub(super) const SERVE: &[Key] = &[
    key("listen", Shape::Text, "the address to listen at"),
    key("names", FORMS, "which form of name clients see"),
    key("mode", Shape::OneOf(&["native", "gateway", "search", "auto"]), "how tools are shown to clients"),
    strictest("require_token", Shape::Bool, "whether clients on this machine need a token, too"),
    strictest("allowed_hosts", Shape::Texts, "names that a proxy before it is called by; no other is let in"),
    strictest("allowed_origins", Shape::Texts, "origins of web pages that may make requests"),
];

/// The programs that can be named in `[sources] hosts`.
pub(super) fn hosts() -> impl Iterator<Item = &'static str> + Clone {
    ALL.iter().filter(|dialect| !dialect.files.is_empty()).map(|dialect| dialect.id).chain(["all"])
}

pub(super) fn limits() -> impl Iterator<Item = &'static str> + Clone {
    Limits::NAMES.iter().copied()
}

/// Every key of the file by its path, such as `servers.*.include`: `*` stands for a name of the user's choice,
/// and for every row of the limits. Tables are not keys of their own.
pub fn key_paths() -> Vec<String> {
    let mut paths = Vec::new();
    collect("", &Shape::Table(ROOT), &mut paths);
    paths
}

/// The table is a few levels deep and bounds this recursion.
fn collect(path: &str, shape: &Shape, paths: &mut Vec<String>) {
    match shape {
        Shape::Table(keys) => {
            keys.iter().for_each(|key| collect(&joined(path, key.name), &key.shape, paths));
        }
        Shape::Named(inner) => collect(&joined(path, "*"), inner, paths),
        Shape::Limits => paths.push(joined(path, "*")),
        _ => paths.push(path.to_owned()),
    }
}

/// A path with one more key.
pub(super) fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
