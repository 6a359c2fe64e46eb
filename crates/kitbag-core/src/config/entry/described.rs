//! What every key of a server's entry is for, for the docs. A meaning without a line does not compile.

use super::keys::{Field, KEYS, Span};

/// The spellings that Kitbag writes itself, where there are several.
const OURS: &[&str] = &[
    "transport",
    "connect_timeout",
    "include",
    "exclude",
    "env_vars",
    "per_user",
    "mask_results",
    "bearer_token",
];

/// A key of a server's entry in one of Kitbag's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    /// The spelling to write.
    pub key: &'static str,
    /// Other spellings that mean the same.
    pub also: Vec<&'static str>,
    /// What its value must be.
    pub value: &'static str,
    /// What it is for.
    pub what: &'static str,
}

/// Every key that is obeyed, in the order of the table.
pub fn entry_keys() -> Vec<EntryKey> {
    let mut keys: Vec<EntryKey> = Vec::new();
    for (key, field) in KEYS {
        let Some((value, what)) = about(*field) else { continue };
        match keys.iter_mut().find(|known| (known.value, known.what) == (value, what)) {
            Some(known) if OURS.contains(key) => known.also.push(std::mem::replace(&mut known.key, key)),
            Some(known) => known.also.push(key),
            None => keys.push(EntryKey { key, also: Vec::new(), value, what }),
        }
    }
    keys
}

/// Keys of other programs that are kept in the entry and have no effect in Kitbag.
pub fn kept_keys() -> Vec<&'static str> {
    KEYS.iter().filter(|(_, field)| about(*field).is_none()).map(|(key, _)| *key).collect()
}

/// What the value of a key must be, and what it is for; nothing for those that are only kept.
fn about(field: Field) -> Option<(&'static str, &'static str)> {
    const MAP: &str = "map of strings";
    const LIST: &str = "list of strings";
    const SECONDS: &str = "seconds, or a string such as `\"500ms\"`";
    const MILLIS: &str = "milliseconds";
    const FLAG: &str = "`true` or `false`";
    Some(match field {
        Field::Kept => return None,
        Field::Command => {
            ("string, or list of strings", "the program to start; a list holds its arguments too")
        }
        Field::Script => ("string", "a Python script to start"),
        Field::Args => (LIST, "the arguments of the program"),
        Field::Env => (MAP, "variables for the program"),
        Field::EnvNames => (LIST, "names of variables of Kitbag's own environment that the program gets too"),
        Field::EnvFile => ("string", "a `.env` file with variables for the program"),
        Field::Cwd => ("string", "the folder the program runs in"),
        Field::Url => ("string", "the address to connect to"),
        Field::HttpUrl => ("string", "an address that speaks streamable HTTP; is preferred to `url`"),
        Field::Transport => {
            ("`stdio`, `http`, `sse` or `auto`", "how the server is spoken to; found out when missing")
        }
        Field::Headers => (MAP, "headers sent with every request to the address"),
        Field::EnvHeaders => (MAP, "headers whose values are read from the variables named here"),
        Field::BearerText => ("string", "the bearer token, best as a reference such as `${TOKEN}`"),
        Field::BearerVar => ("string", "the name of the variable with the bearer token"),
        Field::Auth => (
            "map with `type`",
            "`bearer` (`token`), `api_key` (`token`, `header`) or `custom` (`header`, `token`)",
        ),
        Field::ApiKeyVar => ("string", "the name of the variable with an API key"),
        Field::ApiKeyHeader => ("string", "the header of that API key; `Authorization` when missing"),
        Field::ApiKeyFormat => ("string", "the value of that header; `Bearer {token}` when missing"),
        Field::Enabled => (FLAG, "whether the server is used"),
        Field::Disabled => (FLAG, "the opposite of `enabled`; wins when both are true"),
        Field::Required => (FLAG, "whether start-up fails without it"),
        Field::Lazy => (FLAG, "whether it is started by the first call instead of at once"),
        Field::Concurrency => ("number", "calls in flight at once"),
        Field::PerUser => (FLAG, "whether each user has a connection of their own"),
        Field::MaskResults => (FLAG, "whether its secrets are masked in results for models too"),
        Field::Include => (LIST, "globs over its own tool names: only these"),
        Field::Exclude => (LIST, "globs over its own tool names: never these; wins over `include`"),
        Field::Tools => {
            ("list of strings, or map", "the same as `include`, or a map with `include` and `exclude`")
        }
        Field::Timeout => (SECONDS, "until a call is answered"),
        Field::Call(Span::Seconds) => (SECONDS, "the same as `timeout`"),
        Field::Call(Span::Millis) => (MILLIS, "the same as `timeout`"),
        Field::Start(Span::Seconds) => (SECONDS, "until the server is connected"),
        Field::Start(Span::Millis) => (MILLIS, "the same as `connect_timeout`"),
        Field::Description => ("string", "what a model reads about the server in gateway mode"),
        Field::Inputs => (
            "list of maps",
            "values to ask the user for: `id`, `description`, `password`, `options`, `default`",
        ),
        Field::Name => ("string", "the server's name, where the file holds one server"),
    })
}
