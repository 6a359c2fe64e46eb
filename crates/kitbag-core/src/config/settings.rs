//! `kitbag.toml`: Kitbag's own settings. One table of keys drives the checking, the hints and the JSON
//! Schema that is shipped, so the three cannot differ. What restricts and cannot be read restricts everything it
//! could have meant; what nothing obeys yet is a fault.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::source::Source;
use super::tree::{self, Format, KeyValue, Node};
use crate::fault::{Fault, FaultKind, Severity, SourceLocation};
use crate::model::{
    AgentRules, AgentRun, FallbackServer, Limits, Mode, ModelPrice, Overrides, PinMode, TrifectaPolicy,
};
use crate::names::{NameForm, UserId};

mod check;
mod closed;
mod denied;
mod groups;
mod keys;
mod not_yet;
mod patterns;
mod rules;
mod schema;
mod units;

#[cfg(test)]
mod tests;

use closed::Restrictions;

pub use denied::Denied;
pub use groups::GroupRules;
pub use keys::key_paths;
pub use not_yet::{NOT_YET, NotYet, is_not_yet};
pub use patterns::{Pattern, PatternOwner, TOOLS_KEY};
pub use schema::json_schema;
use units::bound;
pub use units::{duration, size};

/// How long things may take, where the settings say so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// How long an agent or command waits for its servers.
    pub agent: Option<Duration>,
    /// Until a started program is connected.
    pub stdio: Option<Duration>,
    /// Until an address is connected.
    pub http: Option<Duration>,
    /// Until the tools are listed.
    pub list: Option<Duration>,
    /// Silence during a call.
    pub idle: Option<Duration>,
    /// A whole call.
    pub total: Option<Duration>,
}

/// How tools are served to other programs, and to whom, where the settings say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeSettings {
    /// The address to listen at.
    pub listen: Option<String>,
    /// Which form of name clients see.
    pub names: Option<NameForm>,
    /// How tools are shown to clients.
    pub mode: Option<Mode>,
    /// Whether everybody must show a token.
    pub require_token: bool,
    /// Names that a proxy before it is called by.
    pub allowed_hosts: Option<Vec<String>>,
    /// Origins of web pages.
    pub allowed_origins: Option<Vec<String>>,
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: SourceLocation,
}

/// What one `kitbag.toml` says, as far as this part of Kitbag acts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Other programs whose files are used.
    pub hosts: Vec<Located<String>>,
    /// Further files.
    pub files: Vec<Located<String>>,
    /// A folder of one-file servers.
    pub servers_dir: Option<Located<String>>,
    /// What is said about single servers.
    pub servers: Vec<(String, Located<Overrides>)>,
    /// The agents it names, and what each may see.
    pub agents: Vec<(String, AgentRules)>,
    /// What drives each of these agents.
    pub agent_runs: Vec<(String, AgentRun)>,
    /// What models cost, by their names.
    pub prices: Vec<(String, ModelPrice)>,
    /// Where it names servers and tools.
    pub patterns: Vec<Pattern>,
    /// Which form of name tools have.
    pub names: Option<NameForm>,
    /// How tools are shown.
    pub mode: Option<Mode>,
    /// How many tokens of a model's context the definitions may take where the way to show them is left open.
    pub budget: Option<usize>,
    /// How tools are served to other programs.
    pub serve: ServeSettings,
    /// The users it names.
    pub users: Vec<UserId>,
    /// The groups each of them belongs to, where the file says so.
    pub memberships: Vec<(UserId, Vec<Located<String>>)>,
    /// What the members of each group may do.
    pub groups: Vec<(String, GroupRules)>,
    /// Who may see and call nothing.
    pub denied: Denied,
    /// When tools are held until their definition is approved.
    pub pins: Option<PinMode>,
    /// Where pins, approvals and the audit log are kept.
    pub store: Option<Located<String>>,
    /// Whether the audit log keeps arguments in full.
    pub audit_payload: Option<bool>,
    /// What becomes of tools by which private data can be carried off.
    pub trifecta: TrifectaPolicy,
    /// Whether packages and images without a version are not started.
    pub pinned_only: bool,
    /// Why every server is closed, if so, those that the file does not name included.
    pub all_servers: Option<String>,
    /// Why every agent is closed, if so, those that the file does not name included.
    pub all_agents: Option<String>,
    /// Whether the file as a whole could not be read; then everyone is denied.
    pub unread: bool,
    /// How long things may take.
    pub wait: Wait,
    /// The bounds.
    pub limits: Limits,
}

impl Settings {
    /// What counts when a file as a whole cannot be read: it could have denied anything to anybody. The caller
    /// may use an earlier reading instead.
    pub fn unread(fault: &Fault, limits: &Limits) -> Self {
        let place = fault.place.as_ref().map_or_else(|| "kitbag.toml".to_owned(), ToString::to_string);
        let denied =
            Denied { everyone: Some(format!("settings cannot be read ({place})")), ..Denied::default() };
        let serve = ServeSettings { require_token: true, ..ServeSettings::default() };
        Self { denied, serve, pinned_only: true, unread: true, limits: limits.clone(), ..Self::default() }
    }
}

/// Reads a `kitbag.toml`. What cannot be used is a fault; the rest counts.
pub fn read(file: &Path, text: &str, limits: &Limits) -> (Settings, Vec<Fault>) {
    let source = Source::new(Arc::<Path>::from(file), text);
    let root = match tree::parse(&source, Format::Toml, limits) {
        Ok(root) => root,
        Err(fault) => return (Settings::unread(&fault, limits), vec![*fault]),
    };
    let mut faults = check::check(&source, &root, limits.config_faults);
    faults.extend(not_yet::faults(&source, &root, limits.config_faults));
    let restrictions = &Restrictions::new(&source, &root);
    let reader = Reader { source: &source, root: &root, restrictions };
    let (users, bad) = reader.users(limits.config_faults);
    faults.extend(bad);
    let settings = Settings {
        hosts: reader.texts(&["sources", "hosts"]),
        files: reader.texts(&["sources", "files"]),
        servers_dir: reader.texts(&["sources", "servers_dir"]).pop(),
        servers: reader.servers(),
        agents: rules::agents(restrictions, &root),
        agent_runs: rules::agent_runs(&root),
        prices: rules::prices(&root),
        patterns: patterns::read(&source, &root),
        names: rules::form(&root, &["present", "names"]),
        mode: rules::mode(&root, &["present", "mode"]),
        budget: reader.budget(),
        serve: reader.serve(),
        users,
        memberships: groups::memberships(&source, &root),
        groups: groups::groups(&source, restrictions, &root),
        denied: Denied::read(restrictions, &root),
        pins: root.at_path(&["pins", "mode"]).and_then(Node::text).and_then(PinMode::parse),
        store: reader.texts(&["store", "url"]).pop(),
        audit_payload: root.at_path(&["audit", "payload"]).and_then(Node::bool),
        trifecta: reader.trifecta(),
        pinned_only: reader.pinned_only(),
        all_servers: restrictions.whole_section("servers"),
        all_agents: restrictions.whole_section("agents"),
        unread: false,
        wait: reader.wait(),
        limits: reader.limits(limits),
    };
    faults.truncate(limits.config_faults);
    (settings, faults)
}

/// Whether any of the faults means that a value was not taken over.
pub fn is_broken(faults: &[Fault]) -> bool {
    faults.iter().any(|fault| fault.severity == Severity::Error)
}

struct Reader<'a> {
    source: &'a Source<'a>,
    root: &'a Node,
    restrictions: &'a Restrictions<'a>,
}

impl Reader<'_> {
    fn texts(&self, path: &[&str]) -> Vec<Located<String>> {
        let Some(node) = self.root.at_path(path) else { return Vec::new() };
        let nodes = node.list().unwrap_or(std::slice::from_ref(node));
        let sited =
            |node: &Node| Some(Located { value: node.text()?.to_owned(), place: self.source.place(node.at) });
        nodes.iter().filter_map(sited).collect()
    }

    fn servers(&self) -> Vec<(String, Located<Overrides>)> {
        let sited = |pair: &KeyValue, value| Located { value, place: self.source.place(pair.at) };
        let pairs = self.root.get("servers").and_then(Node::map).unwrap_or_default();
        let read = |pair: &KeyValue| {
            let value = rules::overrides(self.restrictions, &["servers", &pair.key], &pair.value);
            let fallback = self.fallback(&pair.value);
            (pair.key.clone(), sited(pair, Overrides { fallback, ..value }))
        };
        let mut servers: Vec<_> = pairs.iter().map(read).collect();
        let empty = |pair: &KeyValue| sited(pair, Overrides::default());
        self.restrictions.close_misspelt("servers", &mut servers, empty);
        servers
    }

    fn fallback(&self, server: &Node) -> Option<FallbackServer> {
        let node = server.get("fallback")?;
        Some(FallbackServer { server: node.text()?.to_owned(), place: self.source.place(node.at) })
    }

    fn users(&self, most: usize) -> (Vec<UserId>, Vec<Fault>) {
        let mut users = Vec::new();
        let mut faults = Vec::new();
        for pair in self.root.get("users").and_then(Node::map).unwrap_or_default() {
            match UserId::parse(&pair.key) {
                Ok(user) => users.push(user),
                Err(_) if most <= faults.len() => {}
                Err(invalid) => faults
                    .push(self.source.mark(Fault::error(FaultKind::BadName, invalid.to_string()), pair.at)),
            }
        }
        (users, faults)
    }

    /// Where it cannot be read everybody is denied everything, so there is nothing left to decide.
    fn trifecta(&self) -> TrifectaPolicy {
        let word = self.root.at_path(&["policy", "trifecta"]).and_then(Node::text);
        word.and_then(TrifectaPolicy::parse).unwrap_or_default()
    }

    /// What cannot be read could have said so.
    fn pinned_only(&self) -> bool {
        let restrictions = self.restrictions;
        let is_unread = |node: &Node| restrictions.in_table("[policy]", keys::POLICY, node).is_some();
        let says = |node: &Node| node.get("pinned_only").and_then(Node::bool) == Some(true);
        self.root.get("policy").is_some_and(|node| is_unread(node) || says(node))
            || restrictions.misspelt("policy").next().is_some()
    }

    fn budget(&self) -> Option<usize> {
        let number = self.root.at_path(&["present", "budget"]).and_then(Node::number)?;
        check::is_count(number).then_some(number as usize)
    }

    fn serve(&self) -> ServeSettings {
        let text = |key: &str| self.root.at_path(&["serve", key]).and_then(Node::text);
        ServeSettings {
            listen: text("listen").map(str::to_owned),
            names: rules::form(self.root, &["serve", "names"]),
            mode: rules::mode(self.root, &["serve", "mode"]),
            require_token: self.requires_token(),
            allowed_hosts: self.guests("allowed_hosts"),
            allowed_origins: self.guests("allowed_origins"),
        }
    }

    /// Who may come; a list that cannot be read, or whose name is misspelt, lets nobody in.
    fn guests(&self, name: &str) -> Option<Vec<String>> {
        let serve = self.root.get("serve");
        let is_meant = |pair: &KeyValue| {
            let is_known = keys::SERVE.iter().any(|key| key.name == pair.key);
            !is_known && keys::near(&pair.key, keys::SERVE).is_some_and(|key| key.name == name)
        };
        let node = serve.and_then(|serve| serve.get(name));
        let mut pairs = serve.and_then(Node::map).unwrap_or_default().iter();
        let texts = node.and_then(Node::list).unwrap_or_default().iter().filter_map(Node::text);
        (node.is_some() || pairs.any(is_meant)).then(|| texts.map(str::to_owned).collect())
    }

    /// What cannot be read could have said so.
    fn requires_token(&self) -> bool {
        let restrictions = self.restrictions;
        let is_unread = |node: &Node| restrictions.in_table("[serve]", keys::SERVE, node).is_some();
        let says = |node: &Node| node.get("require_token").is_some_and(|node| node.bool() != Some(false));
        self.root.get("serve").is_some_and(|node| is_unread(node) || says(node))
            || restrictions.misspelt("serve").next().is_some()
    }

    fn wait(&self) -> Wait {
        let get = |key: &str| self.root.at_path(&["wait", key]).and_then(Node::text).and_then(duration);
        Wait {
            agent: get("agent"),
            stdio: get("stdio"),
            http: get("http"),
            list: get("list"),
            idle: get("idle"),
            total: get("total"),
        }
    }

    fn limits(&self, base: &Limits) -> Limits {
        let mut limits = base.clone();
        for pair in self.root.get("limits").and_then(Node::map).unwrap_or_default() {
            if let Some(bound) = bound(&pair.value) {
                limits.set(&pair.key, bound);
            }
        }
        let wait = self.wait();
        let clocks = [
            (&mut limits.wait_agent, wait.agent),
            (&mut limits.wait_stdio, wait.stdio),
            (&mut limits.wait_http, wait.http),
            (&mut limits.wait_list, wait.list),
            (&mut limits.wait_idle, wait.idle),
            (&mut limits.wait_total, wait.total),
        ];
        for (clock, time) in clocks {
            *clock = time.unwrap_or(*clock);
        }
        limits
    }
}
