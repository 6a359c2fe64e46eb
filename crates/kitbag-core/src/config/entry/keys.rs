//! Every key some program uses for the same thing.

use super::TimeUnit;

/// What a key means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Transport,
    Command,
    Script,
    Args,
    Env,
    EnvNames,
    EnvFile,
    Cwd,
    Url,
    HttpUrl,
    Headers,
    EnvHeaders,
    BearerText,
    BearerVar,
    Auth,
    ApiKeyVar,
    ApiKeyHeader,
    ApiKeyFormat,
    Enabled,
    Disabled,
    Required,
    Lazy,
    Concurrency,
    PerUser,
    MaskResults,
    Include,
    Exclude,
    Tools,
    Timeout,
    Call(Span),
    Start(Span),
    Description,
    Inputs,
    Name,
    /// Read by somebody, kept by us for later or for a rewrite.
    Kept,
}

/// The unit a key's own name or its only user gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Millis,
    Seconds,
}

impl From<Span> for TimeUnit {
    fn from(span: Span) -> Self {
        match span {
            Span::Millis => Self::Millis,
            Span::Seconds => Self::Seconds,
        }
    }
}

use Field::{Call, Kept, Start};
use Span::{Millis, Seconds};

/// Key and meaning. The keys most people write come first; near misses are looked for among those.
pub(super) const KEYS: &[(&str, Field)] = &[
    ("command", Field::Command),
    ("args", Field::Args),
    ("env", Field::Env),
    ("url", Field::Url),
    ("headers", Field::Headers),
    ("type", Field::Transport),
    ("transport", Field::Transport),
    ("timeout", Field::Timeout),
    ("enabled", Field::Enabled),
    ("disabled", Field::Disabled),
    ("cwd", Field::Cwd),
    ("envFile", Field::EnvFile),
    ("description", Field::Description),
    ("httpUrl", Field::HttpUrl),
    ("serverUrl", Field::Url),
    ("required", Field::Required),
    ("includeTools", Field::Include),
    ("excludeTools", Field::Exclude),
    ("disabledTools", Field::Exclude),
    ("enabledTools", Field::Include),
    ("enabled_tools", Field::Include),
    ("disabled_tools", Field::Exclude),
    ("bearer_token_env_var", Field::BearerVar),
    ("startup_timeout_sec", Start(Seconds)),
    ("tool_timeout_sec", Call(Seconds)),
    ("autoApprove", Kept),
    ("alwaysAllow", Kept),
    ("working_dir", Field::Cwd),
    ("server_script_path", Field::Script),
    ("environment", Field::Env),
    ("envs", Field::Env),
    ("uri", Field::Url),
    ("cmd", Field::Command),
    // From here on: rarer spellings.
    ("transportType", Field::Transport),
    ("mode", Field::Transport),
    ("env_keys", Field::EnvNames),
    ("env_vars", Field::EnvNames),
    ("envVars", Field::EnvNames),
    ("env_file", Field::EnvFile),
    ("working_directory", Field::Cwd),
    ("ws_url", Field::Url),
    ("http_headers", Field::Headers),
    ("env_http_headers", Field::EnvHeaders),
    ("envHeaders", Field::EnvHeaders),
    ("bearerTokenEnvVar", Field::BearerVar),
    ("authToken", Field::BearerText),
    ("auth_token", Field::BearerText),
    ("bearer_token", Field::BearerText),
    ("auth", Field::Auth),
    ("api_key_env", Field::ApiKeyVar),
    ("api_key_header", Field::ApiKeyHeader),
    ("api_key_format", Field::ApiKeyFormat),
    ("lazy", Field::Lazy),
    ("concurrency", Field::Concurrency),
    ("per_user", Field::PerUser),
    ("perUser", Field::PerUser),
    ("mask_results", Field::MaskResults),
    ("maskResults", Field::MaskResults),
    ("include", Field::Include),
    ("exclude", Field::Exclude),
    ("include_tools", Field::Include),
    ("exclude_tools", Field::Exclude),
    ("allowedTools", Field::Include),
    ("allowed_tools", Field::Include),
    ("available_tools", Field::Include),
    ("allowed_tool_names", Field::Include),
    ("blocked_tool_names", Field::Exclude),
    ("tools", Field::Tools),
    ("toolTimeoutMs", Call(Millis)),
    ("request_timeout_ms", Call(Millis)),
    ("requestTimeout", Call(Millis)),
    ("defaultToolTimeout", Call(Millis)),
    ("timeoutMs", Call(Millis)),
    ("networkTimeout", Call(Millis)),
    ("read_timeout_seconds", Call(Seconds)),
    ("call_timeout_seconds", Call(Seconds)),
    ("startup_timeout_ms", Start(Millis)),
    ("startupTimeoutMs", Start(Millis)),
    ("discoveryTimeoutMs", Start(Millis)),
    ("initTimeout", Start(Millis)),
    ("connectionTimeout", Start(Millis)),
    ("connect_timeout", Start(Seconds)),
    ("inputs", Field::Inputs),
    ("name", Field::Name),
    ("serverName", Field::Name),
    ("connection", Kept),
    ("oauth", Kept),
    ("oauthClient", Kept),
    ("headersHelper", Kept),
    ("http_headers_helper", Kept),
    ("apiKey", Kept),
    ("trust", Kept),
    ("restart", Kept),
    ("reconnect", Kept),
    ("roots", Kept),
    ("sandbox", Kept),
    ("metadata", Kept),
    ("settings", Kept),
    ("source", Kept),
    ("scopes", Kept),
    ("stderr", Kept),
    ("prompt", Kept),
    ("verify", Kept),
    ("dev", Kept),
    ("remote", Kept),
    ("icon", Kept),
    ("bundled", Kept),
    ("protocol", Kept),
    ("startup", Kept),
    ("deferred", Kept),
    ("encoding", Kept),
    ("gallery", Kept),
    ("version", Kept),
];

/// How many of [`KEYS`] are common.
const COMMON: usize = 33;

pub(super) fn field(key: &str) -> Option<Field> {
    KEYS.iter().find(|(known, _)| *known == key).map(|(_, field)| *field)
}

/// The keys a slip is measured against: every spelling of a restriction, because to miss one would show more
/// than was meant, then the common ones.
pub(super) fn worth_a_hint() -> impl Iterator<Item = &'static str> {
    let restrictions = KEYS.iter().filter(|(_, field)| restricts(*field));
    restrictions.chain(&KEYS[..COMMON]).map(|(key, _)| *key)
}

/// Whether a key keeps tools, a whole server, other users' connections or secrets away.
pub(super) fn restricts(field: Field) -> bool {
    use Field::{Disabled, Enabled, Exclude, Include, MaskResults, PerUser, Tools};
    matches!(field, Enabled | Disabled | Include | Exclude | Tools | PerUser | MaskResults)
}
