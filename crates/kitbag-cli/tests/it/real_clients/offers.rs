//! The one table of clients: where each is installed, and which operations it offers.

use serde_json::{Map, Value};

/// What a client can be made to do, in the order in which it is done.
const OPERATIONS: [&str; 7] = ["list", "call", "error", "progress", "cancel", "resource", "prompt"];

/// A published client.
pub(super) struct Client {
    /// What people call it.
    title: &'static str,
    pub(super) package: &'static str,
    pub(super) set: Set,
    /// What makes it do everything: a script of `testdata/clients`, or a program of this workspace.
    pub(super) driver: &'static str,
    /// Those of the protocol that it speaks.
    pub(super) eras: &'static [&'static str],
    /// Operations it has no way to ask for.
    without: &'static [&'static str],
}

/// What it is installed with.
#[derive(Clone, Copy)]
pub(super) enum Set {
    Python1,
    Python2,
    Npm,
    /// The SDK of `crates/everything-mcp`.
    Rust,
}

const BOTH: &[&str] = &["older", "newer"];
const OLDER: &[&str] = &["older"];
/// Where both are offered, as Kitbag does.
const NEWER: &[&str] = &["newer"];

pub(super) const CLIENTS: &[Client] = &[
    Client {
        title: "SDK for Python 1",
        package: "mcp",
        set: Set::Python1,
        driver: "mcp_1.py",
        eras: OLDER,
        without: &[],
    },
    Client {
        title: "SDK for Python 2",
        package: "mcp",
        set: Set::Python2,
        driver: "mcp_2.py",
        eras: BOTH,
        without: &[],
    },
    Client {
        title: "FastMCP",
        package: "fastmcp-slim",
        set: Set::Python2,
        driver: "fastmcp_4.py",
        eras: BOTH,
        without: &[],
    },
    Client {
        title: "LangChain's adapters",
        package: "langchain-mcp-adapters",
        set: Set::Python1,
        driver: "langchain_tools.py",
        eras: OLDER,
        without: &["cancel"],
    },
    Client {
        title: "OpenAI Agents SDK",
        package: "openai-agents",
        set: Set::Python2,
        driver: "openai_agents.py",
        eras: NEWER,
        without: &["progress"],
    },
    Client {
        title: "SDK for TypeScript 1",
        package: "@modelcontextprotocol/sdk",
        set: Set::Npm,
        driver: "sdk_1.mjs",
        eras: OLDER,
        without: &[],
    },
    Client {
        title: "SDK for TypeScript 2",
        package: "@modelcontextprotocol/client",
        set: Set::Npm,
        driver: "client_2.mjs",
        eras: BOTH,
        without: &[],
    },
    Client {
        title: "MCP Inspector's command line",
        package: "@modelcontextprotocol/inspector",
        set: Set::Npm,
        driver: "inspector.mjs",
        eras: BOTH,
        without: &["progress", "cancel"],
    },
    Client {
        title: "SDK for Rust",
        package: "rmcp",
        set: Set::Rust,
        driver: "rmcp-client",
        eras: BOTH,
        without: &[],
    },
];

impl Client {
    /// What its driver must tell.
    pub(super) fn expected(&self, era: &str) -> Value {
        let name = format!("{} {}, {era} era", self.package, self.version());
        let offered = OPERATIONS.into_iter().filter(|operation| self.offers(operation));
        let passed = offered.map(|operation| (operation.to_owned(), "passed".into()));
        Value::Object([("client".to_owned(), name.into())].into_iter().chain(passed).collect::<Map<_, _>>())
    }

    fn offers(&self, operation: &str) -> bool {
        !self.without.contains(&operation)
    }

    /// As the file says from which it is installed.
    fn version(&self) -> &'static str {
        let python = |text: &'static str| {
            let of_package = |line: &'static str| {
                let (extras, version) = line.strip_prefix(self.package)?.split_once("==")?;
                (extras.is_empty() || extras.starts_with('[')).then(|| version.split(' ').next())?
            };
            text.lines().find_map(of_package)
        };
        let quoted = |text: &'static str, before: &str| text.split_once(before)?.1.split('"').next();
        let name = self.package;
        let found = match self.set {
            Set::Python1 => python(include_str!("../../../../../testdata/clients/py-1.txt")),
            Set::Python2 => python(include_str!("../../../../../testdata/clients/py-2.txt")),
            Set::Npm => {
                let text = include_str!("../../../../../testdata/clients/npm/package.json");
                quoted(text, &format!("\"{name}\": \""))
            }
            Set::Rust => {
                let text = include_str!("../../../../everything-mcp/Cargo.toml");
                quoted(text, &format!("{name} = {{ version = \"="))
            }
        };
        found.unwrap_or_else(|| panic!("no version of {name}"))
    }
}

/// The table of the docs.
pub(super) fn table() -> String {
    let head = format!("| client | package | version | eras | {} |", OPERATIONS.join(" | "));
    let rule = "|---".repeat(4 + OPERATIONS.len()) + "|";
    let rows = CLIENTS.iter().map(|client| {
        let offers =
            OPERATIONS.map(|operation| if client.offers(operation) { "yes" } else { "–" }).join(" | ");
        let (package, version, eras) = (client.package, client.version(), client.eras.join(", "));
        format!("| {} | `{package}` | {version} | {eras} | {offers} |", client.title)
    });
    [head, rule].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}
