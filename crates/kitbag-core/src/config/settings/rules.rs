//! What `kitbag.toml` says about tools, taken over as far as it can be used; what cannot was said by the check.

use serde_json::{Map, Value};

use super::super::tree::Node;
use super::check::{fits, is_count};
use super::closed::{Closes, Restrictions, title};
use super::keys::{AGENT, ARG, RISKS, SERVER, Shape, TOOL};
use super::{Located, duration};
use crate::model::{
    AgentKind, AgentRules, AgentRun, ArgRules, Clash, EnvPass, Mode, Overrides, ServerRules, ToolRules,
};
use crate::names::NameForm;

/// What is said about one server.
pub(super) fn overrides(restrictions: &Restrictions<'_>, path: &[&str], node: &Node) -> Overrides {
    let flag = |key: &str| node.get(key).and_then(Node::bool);
    // A restriction of the wrong type counts as the strictest value it can have.
    let or_strictest = |key: &str, value: bool| node.get(key).map(|node| node.bool().unwrap_or(value));
    let time =
        |key: &str| node.get(key).and_then(Node::text).and_then(duration).filter(|time| !time.is_zero());
    let list = |key: &str| node.get(key).and_then(Node::list).map(|_| texts(node, key));
    let concurrency = node.get("concurrency").and_then(Node::number).filter(|number| is_count(*number));
    Overrides {
        enabled: or_strictest("enabled", false),
        required: flag("required"),
        lazy: flag("lazy"),
        concurrency: concurrency.map(|number| number as u32),
        // Read where its place is known.
        fallback: None,
        call: time("timeout"),
        connect: time("connect_timeout"),
        env_pass: node.get("env_pass").and_then(env_pass),
        per_user: or_strictest("per_user", true),
        mask_results: or_strictest("mask_results", true),
        include: node.get("include").and_then(Node::list).map(|_| only(node, "include")),
        exclude: list("exclude"),
        rules: server(restrictions, path, node),
    }
}

/// Variables to pass on; what is not a list or `all` is nothing.
fn env_pass(node: &Node) -> Option<EnvPass> {
    if node.text() == Some("all") {
        return Some(EnvPass::All);
    }
    let names = node.list()?.iter().filter_map(Node::text);
    Some(EnvPass::Names(names.map(str::to_owned).collect()))
}

fn server(restrictions: &Restrictions<'_>, path: &[&str], node: &Node) -> ServerRules {
    // Which tools need approval cannot be told: then all do.
    let approve = match node.get("approve") {
        Some(list) if !fits(&Shape::Texts, list) => vec!["*".to_owned()],
        _ => texts(node, "approve"),
    };
    ServerRules {
        mode: mode(node, &["mode"]),
        names: form(node, &["names"]),
        category: text(node, "category"),
        tag: text(node, "tag"),
        idempotent: texts(node, "idempotent"),
        read_only: texts(node, "read_only"),
        approve,
        risk: risks(node),
        tools: named(node, "tools", |name, node| {
            tool(restrictions, &[path, &["tools", name]].concat(), node)
        }),
        closed: restrictions.in_table(&title(path), SERVER, node),
    }
}

impl Closes for Located<Overrides> {
    fn close(&mut self, reason: String) {
        self.value.rules.closed.get_or_insert(reason);
    }
}

/// What each agent may see.
pub(super) fn agents(restrictions: &Restrictions<'_>, root: &Node) -> Vec<(String, AgentRules)> {
    let mut agents = named(root, "agents", |name, node| AgentRules {
        name: Some(name.to_owned()),
        servers: only(node, "servers"),
        allow: only(node, "allow"),
        deny: texts(node, "deny"),
        approve: texts(node, "approve"),
        clash: text(node, "clash").and_then(|word| Clash::parse(&word)).unwrap_or_default(),
        names: form(node, &["names"]),
        longest: None,
        mode: mode(node, &["mode"]),
        closed: restrictions.in_table(&title(&["agents", name]), AGENT, node),
    });
    restrictions.close_misspelt("agents", &mut agents, |named| AgentRules {
        name: Some(named.key.clone()),
        ..AgentRules::default()
    });
    agents
}

/// What drives each agent.
pub(super) fn agent_runs(root: &Node) -> Vec<(String, AgentRun)> {
    named(root, "agents", |_, node| AgentRun {
        model: text(node, "model"),
        instruction: text(node, "instruction"),
        kind: text(node, "kind").and_then(|word| AgentKind::parse(&word)),
        max_steps: node
            .get("max_steps")
            .and_then(Node::number)
            .filter(|number| is_count(*number))
            .map(|number| number as usize),
    })
}

impl Closes for AgentRules {
    fn close(&mut self, reason: String) {
        self.closed.get_or_insert(reason);
    }
}

/// A way to show tools.
pub(super) fn mode(root: &Node, path: &[&str]) -> Option<Mode> {
    Mode::parse(root.at_path(path)?.text()?)
}

/// A form of names.
pub(super) fn form(root: &Node, path: &[&str]) -> Option<NameForm> {
    NameForm::parse(root.at_path(path)?.text()?)
}

fn tool(restrictions: &Restrictions<'_>, path: &[&str], node: &Node) -> ToolRules {
    let in_args = || {
        let args = node.get("args").and_then(Node::map).unwrap_or_default().iter();
        args.map(|arg| (title(&[path, &["args", &arg.key]].concat()), &arg.value))
            .find_map(|(title, node)| restrictions.in_table(&title, ARG, node))
    };
    let options = node.get("options").map(Node::to_json);
    ToolRules {
        name: text(node, "name"),
        description: text(node, "description"),
        category: text(node, "category"),
        risk: risks(node),
        args: named(node, "args", |_, node| argument(node)),
        examples: node
            .get("examples")
            .and_then(Node::list)
            .unwrap_or_default()
            .iter()
            .map(Node::to_json)
            .collect(),
        options: options.as_ref().and_then(Value::as_object).cloned().unwrap_or_else(Map::new),
        closed: restrictions.in_table(&title(path), TOOL, node).or_else(in_args),
    }
}

fn argument(node: &Node) -> ArgRules {
    ArgRules {
        pin: node.get("pin").map(Node::to_json),
        default: node.get("default").map(Node::to_json),
        rename: text(node, "rename"),
        describe: text(node, "describe"),
        hide: node.get("hide").and_then(Node::bool).unwrap_or_default(),
    }
}

fn named<T>(node: &Node, key: &str, read: impl Fn(&str, &Node) -> T) -> Vec<(String, T)> {
    let pairs = node.get(key).and_then(Node::map).unwrap_or_default();
    pairs.iter().map(|pair| (pair.key.clone(), read(&pair.key, &pair.value))).collect()
}

/// What is said about risk; a list that cannot be read says nothing, and then the worst counts.
fn risks(node: &Node) -> Vec<String> {
    let words = node.get("risk").filter(|list| fits(&RISKS, list));
    words.map(|_| texts(node, "risk")).unwrap_or_default()
}

/// A list of what is let through. One that is empty lets nothing through: a pattern of nothing fits no name.
pub(super) fn only(node: &Node, key: &str) -> Vec<String> {
    match node.get(key).and_then(Node::list) {
        Some([]) => vec![String::new()],
        _ => texts(node, key),
    }
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::text).map(str::to_owned)
}

fn texts(node: &Node, key: &str) -> Vec<String> {
    let nodes = node.get(key).and_then(Node::list).unwrap_or_default();
    nodes.iter().filter_map(Node::text).map(str::to_owned).collect()
}
