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
}

impl Server {
    pub(crate) const ALL: [Self; 6] =
        [Self::Everything, Self::Filesystem, Self::Memory, Self::Git, Self::TimeNew, Self::TimeOld];

    /// Its name in our configuration.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Everything => "everything",
            Self::Filesystem => "filesystem",
            Self::Memory => "memory",
            Self::Git => "git",
            Self::TimeNew => "time-new",
            Self::TimeOld => "time-old",
        }
    }

    /// The newest version of the protocol that both it and Kitbag speak.
    pub(crate) fn version(self) -> &'static str {
        match self {
            Self::Git | Self::TimeNew => "2026-07-28",
            Self::Everything | Self::Filesystem | Self::Memory | Self::TimeOld => "2025-11-25",
        }
    }

    /// Its entry in a configuration; what it keeps or may touch is below `data`.
    pub(crate) fn entry(self, data: &Path) -> Value {
        match self {
            Self::Everything => node("everything", &[]),
            Self::Filesystem => node("filesystem", &[data]),
            Self::Memory => {
                let mut entry = node("memory", &[]);
                entry["env"] = json!({"MEMORY_FILE_PATH": data.join("memory.jsonl")});
                entry
            }
            Self::Git => python("py-new", &["-m", "mcp_server_git"]),
            Self::TimeNew => python("py-new", &TIME),
            Self::TimeOld => python("py-old", &TIME),
        }
    }
}

const TIME: [&str; 4] = ["-m", "mcp_server_time", "--local-timezone", "UTC"];

fn node(name: &str, args: &[&Path]) -> Value {
    let script = tool(&format!("npm/node_modules/@modelcontextprotocol/server-{name}/dist/index.js"));
    let args: Vec<&Path> = [script.as_path()].into_iter().chain(args.iter().copied()).collect();
    json!({"command": "node", "args": args})
}

fn python(environment: &str, args: &[&str]) -> Value {
    json!({"command": tool(&format!("{environment}/bin/python")), "args": args})
}
