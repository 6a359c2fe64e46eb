//! The words in which each program's file says what a server is. What has no word there cannot be exported.

use super::super::tree::Format;
use super::{ContainerShape, TimeUnit};

/// How one program writes a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportWords {
    /// How the file is written.
    pub(crate) format: Format,
    /// Where servers stand in it.
    pub(crate) home: ContainerShape,
    /// A program to start.
    pub(crate) stdio: StdioWords,
    /// An address; none when the file knows programs only.
    pub(crate) remote: Option<RemoteWords>,
    /// A reference to a variable; none when nothing is expanded.
    pub(crate) reference: Option<ReferenceWords>,
    /// Whether `${workspaceFolder}` and `${userHome}` are expanded.
    pub(crate) folders: bool,
    /// How it is switched off.
    pub(crate) off: Option<OffWord>,
    /// The tools to take, and what stands there for all of them if the key must be there.
    pub(crate) include: Option<(&'static str, &'static [&'static str])>,
    /// The tools to leave.
    pub(crate) exclude: Option<&'static str>,
    /// Until a call is answered.
    pub(crate) call: Option<(&'static str, TimeUnit)>,
    /// Until it is connected.
    pub(crate) connect: Option<(&'static str, TimeUnit)>,
    /// Whether start-up fails without it.
    pub(crate) required: Option<&'static str>,
    /// What its owner says about it.
    pub(crate) description: Option<&'static str>,
    /// Its name once more, inside the entry.
    pub(crate) name: Option<&'static str>,
}

/// The keys of a program to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StdioWords {
    /// Key and word that say it is one.
    pub(crate) kind: Option<(&'static str, &'static str)>,
    pub(crate) command: &'static str,
    /// None: they follow the program in one list.
    pub(crate) args: Option<&'static str>,
    pub(crate) env: &'static str,
    /// Variables passed on by name.
    pub(crate) pass: Option<&'static str>,
    pub(crate) env_file: Option<&'static str>,
    pub(crate) cwd: Option<&'static str>,
}

/// The keys of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RemoteWords {
    /// The key of the transport; none when the program finds out or the key of the address says it.
    pub(crate) kind: Option<&'static str>,
    /// The transport's word, none if it is empty, and the key of the address for streamable HTTP.
    pub(crate) http: (&'static str, &'static str),
    /// The same for the older HTTP with server-sent events, if the program speaks it.
    pub(crate) sse: Option<(&'static str, &'static str)>,
    pub(crate) headers: &'static str,
    /// Headers whose value is a variable, by its name.
    pub(crate) env_headers: Option<&'static str>,
    /// A bearer token in a variable, by its name.
    pub(crate) bearer_var: Option<&'static str>,
}

/// What stands around a variable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceWords {
    pub(crate) open: &'static str,
    pub(crate) close: &'static str,
    /// Whether `:-` and a default may follow the name.
    pub(crate) defaults: bool,
}

/// The key that switches a server off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OffWord {
    /// `disabled: true`
    Disabled,
    /// `enabled: false`
    Enabled,
}

const DOLLAR: ReferenceWords = ReferenceWords { open: "${", close: "}", defaults: false };
const ENV: ReferenceWords = ReferenceWords { open: "${env:", ..DOLLAR };
const MILLIS: Option<(&str, TimeUnit)> = Some(("timeout", TimeUnit::Millis));
const SECONDS: Option<(&str, TimeUnit)> = Some(("timeout", TimeUnit::Seconds));

const COMMAND: StdioWords = StdioWords {
    kind: None,
    command: "command",
    args: Some("args"),
    env: "env",
    pass: None,
    env_file: None,
    cwd: Some("cwd"),
};
const URL: RemoteWords = RemoteWords {
    kind: None,
    http: ("http", "url"),
    sse: Some(("sse", "url")),
    headers: "headers",
    env_headers: None,
    bearer_var: None,
};
const TYPE: RemoteWords = RemoteWords { kind: Some("type"), ..URL };

/// What most programs read, to be changed row by row.
const COMMON: ExportWords = ExportWords {
    format: Format::Json,
    home: ContainerShape::Map(&["mcpServers"]),
    stdio: COMMAND,
    remote: Some(URL),
    reference: Some(DOLLAR),
    folders: false,
    off: None,
    include: None,
    exclude: None,
    call: None,
    connect: None,
    required: None,
    description: None,
    name: None,
};

/// Claude Code starts every program in its own folder.
pub(super) static CLAUDE_CODE: ExportWords = ExportWords {
    stdio: StdioWords { cwd: None, ..COMMAND },
    remote: Some(TYPE),
    reference: Some(ReferenceWords { defaults: true, ..DOLLAR }),
    call: MILLIS,
    ..COMMON
};
/// A project's `.mcp.json` is Kitbag's file as well, so what Claude Code passes over stands there too.
pub(crate) static PROJECT: ExportWords = ExportWords {
    stdio: StdioWords { env_file: Some("envFile"), ..COMMAND },
    folders: true,
    off: Some(OffWord::Disabled),
    include: Some(("includeTools", &[])),
    exclude: Some("excludeTools"),
    connect: Some(("startupTimeoutMs", TimeUnit::Millis)),
    required: Some("required"),
    description: Some("description"),
    ..CLAUDE_CODE
};
pub(super) static CURSOR: ExportWords = ExportWords {
    stdio: StdioWords { env_file: Some("envFile"), ..COMMAND },
    reference: Some(ENV),
    folders: true,
    ..COMMON
};
/// Of an address without a type Gemini CLI now thinks it speaks streamable HTTP, and earlier thought it SSE; `httpUrl`
/// is understood by both.
pub(super) static GEMINI: ExportWords = ExportWords {
    remote: Some(RemoteWords { http: ("", "httpUrl"), ..TYPE }),
    include: Some(("includeTools", &[])),
    exclude: Some("excludeTools"),
    call: MILLIS,
    description: Some("description"),
    ..COMMON
};
pub(super) static QWEN: ExportWords = ExportWords {
    remote: Some(RemoteWords { http: ("", "httpUrl"), ..URL }),
    connect: Some(("discoveryTimeoutMs", TimeUnit::Millis)),
    ..GEMINI
};
/// Codex expands nothing, and takes variables by their names instead; of addresses it speaks streamable HTTP only.
pub(super) static CODEX: ExportWords = ExportWords {
    format: Format::Toml,
    home: ContainerShape::Map(&["mcp_servers"]),
    stdio: StdioWords { pass: Some("env_vars"), ..COMMAND },
    remote: Some(RemoteWords {
        sse: None,
        headers: "http_headers",
        env_headers: Some("env_http_headers"),
        bearer_var: Some("bearer_token_env_var"),
        ..URL
    }),
    reference: None,
    off: Some(OffWord::Enabled),
    include: Some(("enabled_tools", &[])),
    exclude: Some("disabled_tools"),
    call: Some(("tool_timeout_sec", TimeUnit::Seconds)),
    connect: Some(("startup_timeout_sec", TimeUnit::Seconds)),
    required: Some("required"),
    ..COMMON
};
pub(super) static LM_STUDIO: ExportWords = ExportWords { call: MILLIS, ..COMMON };
pub(super) static OPENAI: ExportWords = ExportWords {
    home: ContainerShape::List(&["mcp", "servers"]),
    remote: Some(RemoteWords { kind: Some("transport"), ..URL }),
    off: Some(OffWord::Enabled),
    call: MILLIS,
    description: Some("description"),
    ..COMMON
};
/// Its file knows programs only, and no variables.
pub(super) static CLAUDE_DESKTOP: ExportWords =
    ExportWords { stdio: StdioWords { cwd: None, ..COMMAND }, remote: None, reference: None, ..COMMON };
pub(super) static VSCODE: ExportWords = ExportWords {
    home: ContainerShape::Map(&["servers"]),
    stdio: StdioWords { kind: Some(("type", "stdio")), env_file: Some("envFile"), ..COMMAND },
    remote: Some(TYPE),
    reference: Some(ENV),
    folders: true,
    ..COMMON
};
pub(super) static WINDSURF: ExportWords = ExportWords {
    remote: Some(RemoteWords { http: ("", "serverUrl"), sse: Some(("", "serverUrl")), ..URL }),
    reference: Some(ENV),
    off: Some(OffWord::Disabled),
    exclude: Some("disabledTools"),
    ..COMMON
};
pub(super) static CLINE: ExportWords = ExportWords {
    remote: Some(RemoteWords { http: ("streamableHttp", "url"), ..TYPE }),
    reference: Some(ENV),
    off: Some(OffWord::Disabled),
    call: SECONDS,
    ..COMMON
};
pub(super) static ROO: ExportWords = ExportWords {
    remote: Some(RemoteWords { http: ("streamable-http", "url"), ..TYPE }),
    folders: true,
    exclude: Some("disabledTools"),
    ..CLINE
};
/// Settings of Zed are read as they stand: no variables, no folder to start in.
pub(super) static ZED: ExportWords = ExportWords {
    home: ContainerShape::Map(&["context_servers"]),
    stdio: StdioWords { cwd: None, ..COMMAND },
    reference: None,
    off: Some(OffWord::Enabled),
    call: SECONDS,
    ..COMMON
};
pub(super) static OPENCODE: ExportWords = ExportWords {
    home: ContainerShape::Map(&["mcp"]),
    stdio: StdioWords { kind: Some(("type", "local")), args: None, env: "environment", ..COMMAND },
    remote: Some(RemoteWords { http: ("remote", "url"), sse: Some(("remote", "url")), ..TYPE }),
    reference: Some(ReferenceWords { open: "{env:", ..DOLLAR }),
    off: Some(OffWord::Enabled),
    call: MILLIS,
    ..COMMON
};
pub(super) static COPILOT: ExportWords = ExportWords {
    stdio: StdioWords { kind: Some(("type", "local")), ..COMMAND },
    remote: Some(TYPE),
    include: Some(("tools", &["*"])),
    call: MILLIS,
    ..COMMON
};
pub(super) static KIRO: ExportWords = ExportWords {
    stdio: StdioWords { cwd: None, ..COMMAND },
    off: Some(OffWord::Disabled),
    exclude: Some("disabledTools"),
    call: MILLIS,
    ..COMMON
};
pub(super) static CRUSH: ExportWords = ExportWords {
    home: ContainerShape::Map(&["mcp"]),
    stdio: StdioWords { kind: Some(("type", "stdio")), cwd: None, ..COMMAND },
    remote: Some(TYPE),
    off: Some(OffWord::Disabled),
    exclude: Some("disabled_tools"),
    call: SECONDS,
    ..COMMON
};
