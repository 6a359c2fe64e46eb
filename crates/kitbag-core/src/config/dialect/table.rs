//! The programs whose files we read. Adding one is a row here and golden files in `testdata/config/<id>/`.

use super::{BareUrl, ContainerShape, Dialect, Quirk, ReferenceStyle, Sign, TimeUnit, words};

const MCP_SERVERS: ContainerShape = ContainerShape::Map(&["mcpServers"]);
const SERVERS: ContainerShape = ContainerShape::Map(&["servers"]);
const MCP_DOT_SERVERS: ContainerShape = ContainerShape::Map(&["mcp", "servers"]);

/// What most programs do, to be changed row by row.
const PLAIN: Dialect = Dialect {
    id: "plain",
    title: "a file of unknown origin",
    aliases: &[],
    shapes: &[
        MCP_SERVERS,
        ContainerShape::Map(&["context_servers"]),
        ContainerShape::Map(&["mcp_servers"]),
        ContainerShape::List(&["mcp_servers"]),
        MCP_DOT_SERVERS,
        ContainerShape::List(&["mcp", "servers"]),
        SERVERS,
        ContainerShape::List(&["servers"]),
        ContainerShape::List(&["mcpServers"]),
        ContainerShape::Map(&["extensions"]),
        ContainerShape::Map(&["mcp"]),
        ContainerShape::List(&[]),
        ContainerShape::Single,
        ContainerShape::Bare,
    ],
    timeout: TimeUnit::Guess,
    bare_url: BareUrl::Auto,
    enabled: true,
    forms: &[],
    files: &[],
    quirks: &[Quirk::GlobalSwitches],
    sign: None,
    words: None,
};

const HOST: Dialect = Dialect { shapes: &[MCP_SERVERS], quirks: &[], ..PLAIN };
const GEMINI: Dialect = Dialect {
    timeout: TimeUnit::Millis,
    bare_url: BareUrl::Sse,
    forms: &[ReferenceStyle::Dollar, ReferenceStyle::Percent],
    quirks: &[Quirk::GlobalSwitches, Quirk::JoinedNames],
    ..HOST
};

/// Every dialect; the first is the fallback.
pub static ALL: &[Dialect] = &[
    PLAIN,
    Dialect {
        id: "kitbag",
        title: "Kitbag",
        shapes: &[MCP_SERVERS, ContainerShape::Single],
        timeout: TimeUnit::Seconds,
        quirks: &[],
        ..PLAIN
    },
    Dialect {
        id: "claude-code",
        title: "Claude Code",
        aliases: &["claude"],
        shapes: &[MCP_SERVERS, ContainerShape::Bare],
        timeout: TimeUnit::Millis,
        files: &[".mcp.json", ".claude.json"],
        quirks: &[Quirk::Projects],
        words: Some(&words::CLAUDE_CODE),
        ..HOST
    },
    Dialect {
        id: "claude-desktop",
        title: "Claude Desktop",
        aliases: &["claude", "claude app"],
        timeout: TimeUnit::Millis,
        files: &["claude_desktop_config.json"],
        words: Some(&words::CLAUDE_DESKTOP),
        ..HOST
    },
    Dialect {
        id: "cursor",
        title: "Cursor",
        files: &[".cursor/mcp.json"],
        words: Some(&words::CURSOR),
        ..HOST
    },
    Dialect {
        id: "vscode",
        title: "VS Code",
        aliases: &["code", "visual studio code"],
        shapes: &[SERVERS, MCP_DOT_SERVERS],
        files: &[
            ".vscode/mcp.json",
            "Code/User/mcp.json",
            "Code/User/settings.json",
            ".vscode/settings.json",
        ],
        sign: Some((6, Sign::Without("servers", "mcpServers"))),
        words: Some(&words::VSCODE),
        ..HOST
    },
    Dialect {
        id: "windsurf",
        title: "Windsurf",
        aliases: &["codeium"],
        files: &["mcp_config.json"],
        sign: Some((8, Sign::EntryKey("serverUrl"))),
        words: Some(&words::WINDSURF),
        ..HOST
    },
    Dialect {
        id: "cline",
        title: "Cline",
        aliases: &["claude-dev"],
        timeout: TimeUnit::Seconds,
        bare_url: BareUrl::Sse,
        files: &["cline_mcp_settings.json"],
        sign: Some((10, Sign::EntryKey("autoApprove"))),
        words: Some(&words::CLINE),
        ..HOST
    },
    Dialect {
        id: "roo",
        title: "Roo Code",
        aliases: &["roo-cline"],
        timeout: TimeUnit::Seconds,
        files: &["mcp_settings.json", ".roo/mcp.json"],
        sign: Some((9, Sign::EntryKey("alwaysAllow"))),
        words: Some(&words::ROO),
        ..HOST
    },
    Dialect {
        id: "zed",
        title: "Zed",
        shapes: &[ContainerShape::Map(&["context_servers"])],
        timeout: TimeUnit::Seconds,
        files: &["zed/settings.json", ".zed/settings.json"],
        quirks: &[Quirk::Extensions],
        sign: Some((1, Sign::Any(&["context_servers"]))),
        words: Some(&words::ZED),
        ..HOST
    },
    Dialect {
        id: "codex",
        title: "Codex",
        aliases: &["codex-cli", "openai-codex"],
        shapes: &[ContainerShape::Map(&["mcp_servers"])],
        timeout: TimeUnit::Seconds,
        bare_url: BareUrl::Http,
        files: &[".codex/config.toml"],
        words: Some(&words::CODEX),
        ..HOST
    },
    Dialect {
        id: "gemini",
        title: "Gemini CLI",
        // Older ones meant SSE; now streamable HTTP is tried first.
        bare_url: BareUrl::Auto,
        files: &[".gemini/settings.json"],
        sign: Some((7, Sign::EntryKey("httpUrl"))),
        words: Some(&words::GEMINI),
        ..GEMINI
    },
    Dialect {
        id: "qwen",
        title: "Qwen Code",
        files: &[".qwen/settings.json"],
        words: Some(&words::QWEN),
        ..GEMINI
    },
    Dialect {
        id: "goose",
        title: "goose",
        shapes: &[ContainerShape::Map(&["extensions"])],
        timeout: TimeUnit::Seconds,
        files: &["goose/config.yaml"],
        quirks: &[Quirk::EmptyIncludeIsAll],
        sign: Some((2, Sign::Map(&["extensions"]))),
        ..HOST
    },
    Dialect {
        id: "lmstudio",
        title: "LM Studio",
        shapes: &[MCP_SERVERS, ContainerShape::Map(&["mcp_servers"])],
        timeout: TimeUnit::Millis,
        files: &[".lmstudio/mcp.json"],
        words: Some(&words::LM_STUDIO),
        ..HOST
    },
    Dialect {
        id: "opencode",
        title: "OpenCode",
        shapes: &[MCP_DOT_SERVERS, ContainerShape::Map(&["mcp"])],
        timeout: TimeUnit::Millis,
        forms: &[ReferenceStyle::BraceEnv],
        files: &["opencode.json", "opencode.jsonc"],
        quirks: &[Quirk::GlobalSwitches],
        words: Some(&words::OPENCODE),
        ..HOST
    },
    Dialect {
        id: "copilot-cli",
        title: "Copilot CLI",
        aliases: &["copilot", "github-copilot"],
        timeout: TimeUnit::Millis,
        bare_url: BareUrl::Http,
        files: &[".copilot/mcp-config.json"],
        words: Some(&words::COPILOT),
        ..HOST
    },
    Dialect {
        id: "kiro",
        title: "Kiro",
        timeout: TimeUnit::Millis,
        files: &[".kiro/settings/mcp.json"],
        words: Some(&words::KIRO),
        ..HOST
    },
    Dialect {
        id: "librechat",
        title: "LibreChat",
        timeout: TimeUnit::Millis,
        bare_url: BareUrl::Sse,
        forms: &[ReferenceStyle::Moustache],
        files: &["librechat.yaml", "librechat.yml"],
        ..HOST
    },
    Dialect {
        id: "mcp-agent",
        title: "mcp-agent",
        shapes: &[MCP_DOT_SERVERS],
        timeout: TimeUnit::Seconds,
        files: &["mcp_agent.config.yaml", "mcp_agent.config.yml"],
        ..HOST
    },
    Dialect {
        id: "hermes",
        title: "Hermes",
        aliases: &["hermes-agent"],
        shapes: &[ContainerShape::Map(&["mcp_servers"])],
        timeout: TimeUnit::Seconds,
        files: &[".hermes/config.yaml"],
        ..HOST
    },
    Dialect {
        id: "crush",
        title: "Crush",
        shapes: &[ContainerShape::Map(&["mcp"])],
        timeout: TimeUnit::Seconds,
        files: &["crush.json", ".crush.json"],
        words: Some(&words::CRUSH),
        ..HOST
    },
    Dialect {
        id: "vibe",
        title: "Vibe",
        aliases: &["mistral-vibe"],
        shapes: &[ContainerShape::List(&["mcp_servers"])],
        timeout: TimeUnit::Seconds,
        files: &[".vibe/config.toml"],
        quirks: &[Quirk::SplitCommand],
        sign: Some((3, Sign::List(&["mcp_servers"]))),
        ..HOST
    },
    Dialect {
        id: "elysia",
        title: "Elysia",
        shapes: &[ContainerShape::List(&["servers"]), SERVERS],
        enabled: false,
        sign: Some((5, Sign::List(&["servers"]))),
        ..HOST
    },
    Dialect {
        id: "tgnote",
        title: "one file per server",
        shapes: &[ContainerShape::Single],
        timeout: TimeUnit::Seconds,
        quirks: &[Quirk::NamedByFile],
        sign: Some((12, Sign::Single)),
        ..HOST
    },
    Dialect {
        id: "aidk",
        title: "AIDK",
        shapes: &[
            MCP_SERVERS,
            ContainerShape::List(&["mcpServers"]),
            ContainerShape::List(&[]),
            ContainerShape::Single,
        ],
        sign: Some((11, Sign::TopKey(&["serverName", "connection"]))),
        ..HOST
    },
    Dialect {
        id: "openai",
        title: "OpenAI-like servers",
        shapes: &[ContainerShape::List(&["mcp", "servers"])],
        timeout: TimeUnit::Millis,
        quirks: &[Quirk::GlobalSwitches],
        sign: Some((4, Sign::List(&["mcp", "servers"]))),
        words: Some(&words::OPENAI),
        ..HOST
    },
    Dialect { id: "env", title: "an environment variable", ..HOST },
    Dialect { id: "bare", title: "a bare map of servers", shapes: &[ContainerShape::Bare], ..HOST },
];
