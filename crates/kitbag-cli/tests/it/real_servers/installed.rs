//! Where `cargo xtask test` put the real servers, and how each is started.

use std::path::Path;

use serde_json::{Value, json};
use testkit::tool;

/// A real server.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Server {
    Everything,
    Filesystem,
    Memory,
    Git,
    /// Python's SDK of the protocol without a handshake.
    TimeNew,
    /// Python's SDK of the protocol with one.
    TimeOld,
    SequentialThinking,
    Playwright,
    Context7,
    Notion,
    Fetch,
    DuckDuckGo,
    Markitdown,
}

impl Server {
    pub(crate) const ALL: [Self; 6] =
        [Self::Everything, Self::Filesystem, Self::Memory, Self::Git, Self::TimeNew, Self::TimeOld];

    /// Those that people install first, as they are published.
    pub(crate) const PUBLISHED: [Self; 12] = [
        Self::Everything,
        Self::Filesystem,
        Self::Memory,
        Self::SequentialThinking,
        Self::Playwright,
        Self::Context7,
        Self::Notion,
        Self::TimeNew,
        Self::Git,
        Self::Fetch,
        Self::DuckDuckGo,
        Self::Markitdown,
    ];

    /// Its name in our configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Filesystem => "filesystem",
            Self::Memory => "memory",
            Self::Git => "git",
            Self::TimeNew => "time-new",
            Self::TimeOld => "time-old",
            Self::SequentialThinking => "sequential-thinking",
            Self::Playwright => "playwright",
            Self::Context7 => "context7",
            Self::Notion => "notion",
            Self::Fetch => "fetch",
            Self::DuckDuckGo => "duckduckgo",
            Self::Markitdown => "markitdown",
        }
    }

    /// The newest version of the protocol that both it and Kitbag speak.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Git
            | Self::TimeNew
            | Self::Context7
            | Self::Fetch
            | Self::DuckDuckGo
            | Self::Markitdown => "2026-07-28",
            Self::Everything
            | Self::Filesystem
            | Self::Memory
            | Self::TimeOld
            | Self::SequentialThinking
            | Self::Playwright
            | Self::Notion => "2025-11-25",
        }
    }

    /// Its entry in a configuration; what it keeps or may touch is below `data`.
    pub(crate) fn entry(self, data: &Path) -> Value {
        match self {
            Self::Everything => official("everything", &[]),
            Self::Filesystem => official("filesystem", &[data]),
            Self::Memory => {
                let mut entry = official("memory", &[]);
                entry["env"] = json!({"MEMORY_FILE_PATH": data.join("memory.jsonl")});
                entry
            }
            Self::Git => python("py-new", &["-m", "mcp_server_git"]),
            Self::TimeNew => python("py-new", &TIME),
            Self::TimeOld => python("py-old", &TIME),
            Self::SequentialThinking => official("sequential-thinking", &[]),
            Self::Playwright => node("@playwright/mcp/cli.js", &[]),
            Self::Context7 => node("@upstash/context7-mcp/dist/index.js", &[]),
            Self::Notion => node("@notionhq/notion-mcp-server/bin/cli.mjs", &[]),
            Self::Fetch => python("py-published", &["-m", "mcp_server_fetch"]),
            Self::DuckDuckGo => json!({"command": tool("py-published/bin/duckduckgo-mcp-server")}),
            Self::Markitdown => json!({"command": tool("py-published/bin/markitdown-mcp")}),
        }
    }
}

const TIME: [&str; 4] = ["-m", "mcp_server_time", "--local-timezone", "UTC"];

fn official(name: &str, args: &[&Path]) -> Value {
    node(&format!("@modelcontextprotocol/server-{name}/dist/index.js"), args)
}

fn node(script: &str, args: &[&Path]) -> Value {
    let script = tool(&format!("npm/node_modules/{script}"));
    let args: Vec<&Path> = [script.as_path()].into_iter().chain(args.iter().copied()).collect();
    json!({"command": "node", "args": args})
}

fn python(environment: &str, args: &[&str]) -> Value {
    json!({"command": tool(&format!("{environment}/bin/python")), "args": args})
}
