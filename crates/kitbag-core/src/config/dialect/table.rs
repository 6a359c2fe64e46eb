//! The programs whose files we read. Adding one is a row here and golden files in `testdata/config/<id>/`.

use super::{BareUrl, Dialect, Form, Shape, Unit};

const MCP_SERVERS: Shape = Shape::Map(&["mcpServers"]);
const SERVERS: Shape = Shape::Map(&["servers"]);
const MCP_DOT_SERVERS: Shape = Shape::Map(&["mcp", "servers"]);

/// What most programs do, to be changed row by row.
const PLAIN: Dialect = Dialect {
    id: "plain",
    title: "a file of unknown origin",
    shapes: &[
        MCP_SERVERS,
        Shape::Map(&["context_servers"]),
        Shape::Map(&["mcp_servers"]),
        Shape::List(&["mcp_servers"]),
        MCP_DOT_SERVERS,
        Shape::List(&["mcp", "servers"]),
        SERVERS,
        Shape::List(&["servers"]),
        Shape::List(&["mcpServers"]),
        Shape::Map(&["extensions"]),
        Shape::Map(&["mcp"]),
        Shape::List(&[]),
        Shape::Single,
        Shape::Bare,
    ],
    timeout: Unit::Guess,
    bare_url: BareUrl::Auto,
    enabled: true,
    forms: &[],
    files: &[],
};

const HOST: Dialect = Dialect { shapes: &[MCP_SERVERS], ..PLAIN };
const GEMINI: Dialect =
    Dialect { timeout: Unit::Millis, bare_url: BareUrl::Sse, forms: &[Form::Dollar, Form::Percent], ..HOST };

/// Every dialect; the first is the fallback.
pub static ALL: &[Dialect] = &[
    PLAIN,
    Dialect {
        id: "kitbag",
        title: "Kitbag",
        shapes: &[MCP_SERVERS, Shape::Single],
        timeout: Unit::Seconds,
        ..PLAIN
    },
    Dialect {
        id: "claude-desktop",
        title: "Claude Desktop",
        timeout: Unit::Millis,
        files: &["claude_desktop_config.json"],
        ..HOST
    },
    Dialect {
        id: "claude-code",
        title: "Claude Code",
        shapes: &[MCP_SERVERS, Shape::Bare],
        timeout: Unit::Millis,
        files: &[".mcp.json", ".claude.json"],
        ..HOST
    },
    Dialect { id: "cursor", title: "Cursor", files: &[".cursor/mcp.json"], ..HOST },
    Dialect {
        id: "vscode",
        title: "VS Code",
        shapes: &[SERVERS, MCP_DOT_SERVERS],
        files: &[
            ".vscode/mcp.json",
            "Code/User/mcp.json",
            "Code/User/settings.json",
            ".vscode/settings.json",
        ],
        ..HOST
    },
    Dialect { id: "windsurf", title: "Windsurf", files: &["mcp_config.json"], ..HOST },
    Dialect {
        id: "cline",
        title: "Cline",
        timeout: Unit::Seconds,
        bare_url: BareUrl::Sse,
        files: &["cline_mcp_settings.json"],
        ..HOST
    },
    Dialect {
        id: "roo",
        title: "Roo Code",
        timeout: Unit::Seconds,
        files: &["mcp_settings.json", ".roo/mcp.json"],
        ..HOST
    },
    Dialect {
        id: "zed",
        title: "Zed",
        shapes: &[Shape::Map(&["context_servers"])],
        timeout: Unit::Seconds,
        files: &["zed/settings.json", ".zed/settings.json"],
        ..HOST
    },
    Dialect {
        id: "codex",
        title: "Codex",
        shapes: &[Shape::Map(&["mcp_servers"])],
        timeout: Unit::Seconds,
        bare_url: BareUrl::Http,
        files: &[".codex/config.toml"],
        ..HOST
    },
    Dialect { id: "gemini", title: "Gemini CLI", files: &[".gemini/settings.json"], ..GEMINI },
    Dialect { id: "qwen", title: "Qwen Code", files: &[".qwen/settings.json"], ..GEMINI },
    Dialect {
        id: "goose",
        title: "goose",
        shapes: &[Shape::Map(&["extensions"])],
        timeout: Unit::Seconds,
        files: &["goose/config.yaml"],
        ..HOST
    },
    Dialect {
        id: "lmstudio",
        title: "LM Studio",
        shapes: &[MCP_SERVERS, Shape::Map(&["mcp_servers"])],
        timeout: Unit::Millis,
        files: &[".lmstudio/mcp.json"],
        ..HOST
    },
    Dialect {
        id: "opencode",
        title: "OpenCode",
        shapes: &[MCP_DOT_SERVERS, Shape::Map(&["mcp"])],
        timeout: Unit::Millis,
        forms: &[Form::BraceEnv],
        files: &["opencode.json", "opencode.jsonc"],
        ..HOST
    },
    Dialect {
        id: "copilot-cli",
        title: "Copilot CLI",
        timeout: Unit::Millis,
        bare_url: BareUrl::Http,
        files: &[".copilot/mcp-config.json"],
        ..HOST
    },
    Dialect { id: "kiro", title: "Kiro", timeout: Unit::Millis, files: &[".kiro/settings/mcp.json"], ..HOST },
    Dialect {
        id: "librechat",
        title: "LibreChat",
        timeout: Unit::Millis,
        bare_url: BareUrl::Sse,
        forms: &[Form::Moustache],
        files: &["librechat.yaml", "librechat.yml"],
        ..HOST
    },
    Dialect {
        id: "mcp-agent",
        title: "mcp-agent",
        shapes: &[MCP_DOT_SERVERS],
        timeout: Unit::Seconds,
        files: &["mcp_agent.config.yaml", "mcp_agent.config.yml"],
        ..HOST
    },
    Dialect {
        id: "hermes",
        title: "Hermes",
        shapes: &[Shape::Map(&["mcp_servers"])],
        timeout: Unit::Seconds,
        files: &[".hermes/config.yaml"],
        ..HOST
    },
    Dialect {
        id: "crush",
        title: "Crush",
        shapes: &[Shape::Map(&["mcp"])],
        timeout: Unit::Seconds,
        files: &["crush.json", ".crush.json"],
        ..HOST
    },
    Dialect {
        id: "vibe",
        title: "Vibe",
        shapes: &[Shape::List(&["mcp_servers"])],
        timeout: Unit::Seconds,
        files: &[".vibe/config.toml"],
        ..HOST
    },
    Dialect {
        id: "elysia",
        title: "Elysia",
        shapes: &[Shape::List(&["servers"]), SERVERS],
        enabled: false,
        ..HOST
    },
    Dialect {
        id: "tgnote",
        title: "one file per server",
        shapes: &[Shape::Single],
        timeout: Unit::Seconds,
        ..HOST
    },
    Dialect {
        id: "aidk",
        title: "AIDK",
        shapes: &[MCP_SERVERS, Shape::List(&["mcpServers"]), Shape::List(&[]), Shape::Single],
        ..HOST
    },
    Dialect {
        id: "openai",
        title: "OpenAI-like servers",
        shapes: &[Shape::List(&["mcp", "servers"])],
        timeout: Unit::Millis,
        ..HOST
    },
    Dialect { id: "env", title: "an environment variable", ..HOST },
    Dialect { id: "bare", title: "a bare map of servers", shapes: &[Shape::Bare], ..HOST },
];
