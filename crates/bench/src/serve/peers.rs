//! What others put between hosts and servers, as `cargo xtask bench serve --peers` installs it: exactly what the lock files of
//! `testdata/peers` name.

use std::process::Command;

use serde_json::json;
use testkit::House;

use super::sides::{Running, built, free};

/// One of them, with a program behind it.
#[derive(Clone, Copy)]
pub struct Peer {
    /// What it is called, with its version.
    pub name: &'static str,
    /// Below `target/tools`.
    program: &'static str,
    /// Made of a port, the server's program and a folder of its own.
    args: fn(&str, &str, &House) -> Vec<String>,
}

/// All of them.
pub fn all() -> [Peer; 3] {
    [
        Peer {
            name: "mcp-proxy 0.13 (PyPI)",
            program: "peers-mcp-proxy/bin/mcp-proxy",
            args: |port, server, _| owned(&["--host", "127.0.0.1", "--port", port, server]),
        },
        Peer {
            name: "supergateway 4.0 (npm)",
            program: "peers-npm/node_modules/.bin/supergateway",
            args: |port, server, _| {
                let kind = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none"];
                [owned(&["--stdio", server, "--port", port]), owned(&kind)].concat()
            },
        },
        Peer {
            name: "FastMCP 4.1 proxy (PyPI)",
            program: "peers-fastmcp/bin/fastmcp",
            args: |port, server, house| {
                let servers = json!({"mcpServers": {"fast": {"command": server, "args": []}}});
                let file = house.put("project/mcp.json", servers.to_string());
                let how = ["--transport", "http", "--host", "127.0.0.1", "--port", port];
                [owned(&["run", file.to_str().unwrap(), "--no-banner"]), owned(&how)].concat()
            },
        },
    ]
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Peer {
    /// Starts it with the upstream server as a program.
    pub fn start(&self) -> Running {
        let (to, house) = (free(), House::new());
        let server = built("bench-upstream");
        let mut command = Command::new(testkit::tool(self.program));
        command.args((self.args)(&to.port().to_string(), server.to_str().unwrap(), &house));
        command.env_clear().envs(house.vars()).current_dir(house.path("project"));
        Running::start(&mut command, to, "/mcp", Some(house))
    }
}
