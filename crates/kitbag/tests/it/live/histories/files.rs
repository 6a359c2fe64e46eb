//! What the files of a history say, as values: each knows the text that says it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use testkit::Farm;

/// The variables that tell whose values a server process has.
pub(super) const VALUES: [&str; 3] = ["TOKEN", "ANSWER", "VARIABLE"];

/// A variable of the environment that entries refer to.
pub(super) const VARIABLE: &str = "HISTORY_VARIABLE";

/// The input that entries ask for.
pub(super) const INPUT: &str = "key";

/// What the files say about one server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// Unlike every other entry's: whoever shows it runs this entry.
    pub(super) token: String,
    /// How many tools it has besides those that all have.
    pub(super) extra: usize,
    pub(super) enabled: bool,
    pub(super) per_user: bool,
    /// Whether it gets the user's answer to an input.
    pub(super) asks: bool,
    /// Whether it gets a variable of the environment.
    pub(super) refers: bool,
    pub(super) exclude: Option<&'static str>,
    /// Whether the restriction is misspelt: then there is no such server.
    pub(super) slips: bool,
}

impl Entry {
    pub(super) fn json(&self, farm: &Farm, server: &str) -> Value {
        let mut env = json!({Farm::MARK: farm.house.at(""), "TOKEN": self.token});
        if self.asks {
            env["ANSWER"] = format!("${{input:{INPUT}}}").into();
        }
        if self.refers {
            env["VARIABLE"] = format!("${{{VARIABLE}}}").into();
        }
        let diary = farm.diary(server);
        let mut entry = json!({
            "command": testkit::bin("fake-mcp"),
            "args": ["--events", diary, "--tools", self.extra.to_string()],
            "env": env,
        });
        if !self.enabled {
            entry["enabled"] = false.into();
        }
        if self.per_user {
            entry["per_user"] = true.into();
        }
        match self.exclude {
            Some(tool) if self.slips => entry["exlude"] = json!([tool]),
            Some(tool) => entry["exclude"] = json!([tool]),
            None => {}
        }
        entry
    }

    /// Whether a restriction of it cannot be read.
    pub(super) fn is_broken(&self) -> bool {
        self.slips && self.exclude.is_some()
    }
}

/// What one file of a user says about one server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Own {
    Entry(Entry),
    /// It switches everybody's server on or off.
    Switch(bool),
}

impl Own {
    pub(super) fn text(&self, farm: &Farm, server: &str) -> String {
        let mut entry = match self {
            Self::Entry(entry) => entry.json(farm, server),
            Self::Switch(on) => json!({"enabled": on}),
        };
        entry["name"] = server.into();
        entry.to_string()
    }
}

/// Everybody's entries.
pub(super) type Shared = BTreeMap<String, Entry>;

pub(super) fn shared_text(shared: &Shared, farm: &Farm) -> String {
    let entries: serde_json::Map<String, Value> =
        shared.iter().map(|(server, entry)| (server.clone(), entry.json(farm, server))).collect();
    json!({"mcpServers": entries}).to_string()
}

/// What `kitbag.toml` says about one server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ServerRule {
    Exclude(&'static str),
    Include(&'static str),
    Approve(&'static str),
    Off,
    PerUser,
    /// A slip: nothing of the server may be called.
    Closed(&'static str),
    /// A slip: every tool needs approval by a person.
    AllNeedApproval(&'static str),
    /// A slip: it counts as switched off.
    CountsAsOff(&'static str),
    /// The section is misspelt, so nothing of the server may be called.
    ClosedByTitle(&'static str),
}

/// Lines that were meant to restrict a server and cannot be read.
pub(super) const CLOSING: [&str; 8] = [
    "exlude = ['add']",
    "exclude = 'add'",
    "include = 'echo'",
    "inclde = ['echo']",
    "deny = ['add']",
    "aprove = ['add']",
    "tools = ['add']",
    "exclude = ['add', 7]",
];

/// What `kitbag.toml` says about one agent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AgentRule {
    /// Only this tool of this server.
    Allow(String, &'static str),
    /// Only this server.
    Server(String),
    /// A slip: it sees nothing.
    Closed(&'static str),
}

/// Lines that were meant to restrict an agent and cannot be read.
pub(super) const BLINDING: [&str; 5] =
    ["alow = ['a/echo']", "allow = 'a/echo'", "server = ['a']", "servers = 'a'", "only = ['a/echo']"];

/// What `kitbag.toml` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settings {
    pub(super) servers: BTreeMap<String, ServerRule>,
    pub(super) agents: BTreeMap<String, AgentRule>,
    /// Who may see and call nothing, because a restriction is misspelt or nothing obeys it yet.
    pub(super) denied: Option<(String, &'static str)>,
    /// A slip: nothing of any server may be called.
    pub(super) all_closed: bool,
}

impl Settings {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if self.all_closed {
            text += "servers = 'none'\n";
        }
        for (server, rule) in &self.servers {
            let (title, line) = match rule {
                ServerRule::Exclude(tool) => ("servers", format!("exclude = ['{tool}']")),
                ServerRule::Include(tool) => ("servers", format!("include = ['{tool}']")),
                ServerRule::Approve(tool) => ("servers", format!("approve = ['{tool}']")),
                ServerRule::Off => ("servers", "enabled = false".to_owned()),
                ServerRule::PerUser => ("servers", "per_user = true".to_owned()),
                ServerRule::Closed(line)
                | ServerRule::AllNeedApproval(line)
                | ServerRule::CountsAsOff(line) => ("servers", (*line).to_owned()),
                ServerRule::ClosedByTitle(title) => (*title, "exclude = ['add']".to_owned()),
            };
            writeln!(text, "[{title}.{server}]\n{line}").unwrap();
        }
        for (agent, rule) in &self.agents {
            let line = match rule {
                AgentRule::Allow(server, tool) => format!("allow = ['{server}/{tool}']"),
                AgentRule::Server(server) => format!("servers = ['{server}']"),
                AgentRule::Closed(line) => (*line).to_owned(),
            };
            writeln!(text, "[agents.{agent}]\n{line}").unwrap();
        }
        if let Some((user, title)) = &self.denied {
            writeln!(text, "[{title}.{user}]\ngroups = ['staff']").unwrap();
        }
        text
    }

    /// The same, written to the middle of a string.
    pub(super) fn half(&self) -> String {
        format!("{}[servers.a]\nexclude = ['ad", self.text())
    }
}
