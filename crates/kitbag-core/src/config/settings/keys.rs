//! The keys of `kitbag.toml`.

use super::super::dialect::ALL;
use crate::model::Limits;

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Text,
    Bool,
    Count,
    Duration,
    Texts,
    OneOf(&'static [&'static str]),
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

/// A key, what its value must be, and what it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) what: &'static str,
}

const fn key(name: &'static str, shape: Shape, what: &'static str) -> Key {
    Key { name, shape, what }
}

pub(super) const MODES: Shape =
    Shape::OneOf(&["native", "gateway", "markdown", "signatures", "text", "search", "auto"]);

const FORMS: Shape = Shape::OneOf(&["full", "short", "bare"]);

/// The whole file.
pub(super) const ROOT: Shape = Shape::Table(&[
    key("sources", SOURCES, "where servers are read from, besides Kitbag's own files"),
    key("wait", WAIT, "how long things may take"),
    key("present", PRESENT, "how tools are shown to a model"),
    key("servers", Shape::Named(&SERVER), "adds to, or overrides, what a server's own file says"),
    key("agents", Shape::Named(&AGENT), "agents and what they may see"),
    key("groups", Shape::Named(&GROUP), "permissions that users share"),
    key("users", Shape::Named(&USER), "users besides those with a folder of their own"),
    key("limits", Shape::Limits, "any row of `kitbag limits`, by its name"),
    key("store", STORE, "where users, pins and audit are kept"),
]);

const SOURCES: Shape = Shape::Table(&[
    key("hosts", Shape::Hosts, "other programs whose files are used"),
    key("files", Shape::Texts, "further configuration files, in any dialect"),
    key("servers_dir", Shape::Text, "a folder with one file per server and user_<id> folders"),
]);

const WAIT: Shape = Shape::Table(&[
    key("agent", Shape::Duration, "how long an agent or command waits for its servers"),
    key("stdio", Shape::Duration, "until a started program is connected"),
    key("http", Shape::Duration, "until an address is connected"),
    key("list", Shape::Duration, "until a server's tools are listed"),
    key("idle", Shape::Duration, "silence during a call"),
    key("total", Shape::Duration, "a whole call"),
]);

const PRESENT: Shape = Shape::Table(&[
    key("mode", MODES, "how tools are shown"),
    key("budget", Shape::Count, "tokens for auto"),
    key("names", FORMS, "mcp_<server>_<tool>, <server>_<tool> or <tool>"),
]);

const SERVER: Shape = Shape::Table(&[
    key("enabled", Shape::Bool, "whether it is switched on"),
    key("required", Shape::Bool, "whether start-up fails without it"),
    key("lazy", Shape::Bool, "whether it is only started on first need"),
    key("concurrency", Shape::Count, "calls in flight at once"),
    key("mode", MODES, "how its tools are shown"),
    key("include", Shape::Texts, "globs over its own tool names: only these"),
    key("exclude", Shape::Texts, "globs over its own tool names: never these"),
    key("names", FORMS, "which form of name its tools have"),
    key("category", Shape::Text, "the heading its tools stand under"),
    key("tag", Shape::Text, "put before its tools' descriptions"),
    key("idempotent", Shape::Texts, "tools that may be called twice"),
    key("read_only", Shape::Texts, "tools that change nothing"),
    key("approve", Shape::Texts, "tools that need a person's yes"),
    key("tools", Shape::Named(&TOOL), "what is said about single tools, by the server's own names"),
]);

const TOOL: Shape = Shape::Table(&[
    key("name", Shape::Text, "what the model sees"),
    key("description", Shape::Text, "what the model reads"),
    key("category", Shape::Text, "the heading it stands under"),
    key("args", Shape::Named(&ARG), "changes to single arguments"),
    key("examples", Shape::List(&Shape::Any), "arguments to show as examples"),
    key("options", Shape::Any, "options for one provider's definition"),
]);

const ARG: Shape = Shape::Table(&[
    key("pin", Shape::Any, "always this value; the model does not see the argument"),
    key("default", Shape::Any, "this value unless the model says otherwise"),
    key("rename", Shape::Text, "what the model calls it"),
    key("describe", Shape::Text, "what the model reads about it"),
    key("hide", Shape::Bool, "whether the model does not see it"),
]);

const AGENT: Shape = Shape::Table(&[
    key("servers", Shape::Texts, "globs over server names"),
    key("allow", Shape::Texts, "\"server/tool\" globs over raw names"),
    key("names", FORMS, "which form of name it sees"),
    key("clash", Shape::OneOf(&["prefix", "mcp", "local", "error"]), "who wins when two tools want one name"),
    key("mode", MODES, "how tools are shown"),
    key("budget", Shape::Count, "tokens for auto"),
    key("model", Shape::Text, "the model that drives it"),
    key("instruction", Shape::Text, "its system prompt"),
    key("max_steps", Shape::Count, "model calls in one run"),
]);

const GROUP: Shape = Shape::Table(&[
    key("allow", Shape::Texts, "what its users may see and call"),
    key("deny", Shape::Texts, "what they may not; beats allow"),
    key("approve", Shape::Texts, "what needs a person's yes"),
]);

const USER: Shape = Shape::Table(&[key("groups", Shape::Texts, "the groups the user belongs to")]);

const STORE: Shape = Shape::Table(&[key("url", Shape::Text, "sqlite: or postgres://…")]);

/// The programs that can be named in `[sources] hosts`.
pub(super) fn hosts() -> impl Iterator<Item = &'static str> + Clone {
    ALL.iter().filter(|dialect| !dialect.files.is_empty()).map(|dialect| dialect.id).chain(["all"])
}

pub(super) fn limits() -> impl Iterator<Item = &'static str> + Clone {
    Limits::NAMES.iter().copied()
}
