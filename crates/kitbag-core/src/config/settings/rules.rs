//! What `kitbag.toml` says about tools, taken over as far as it can be used; what cannot was said by the check.

use serde_json::{Map, Value};

use super::super::tree::Node;
use crate::model::{AgentRules, ArgRules, Clash, Mode, ServerRules, ToolRules};
use crate::names::Form;

/// What is said about one server's tools.
pub(super) fn server(node: &Node) -> ServerRules {
    ServerRules {
        mode: mode(node, &["mode"]),
        names: form(node, &["names"]),
        category: text(node, "category"),
        tag: text(node, "tag"),
        idempotent: texts(node, "idempotent"),
        read_only: texts(node, "read_only"),
        approve: texts(node, "approve"),
        tools: named(node, "tools", tool),
    }
}

/// What each agent may see.
pub(super) fn agents(root: &Node) -> Vec<(String, AgentRules)> {
    named(root, "agents", |node| AgentRules {
        servers: texts(node, "servers"),
        allow: texts(node, "allow"),
        clash: text(node, "clash").and_then(|word| Clash::parse(&word)).unwrap_or_default(),
        names: form(node, &["names"]),
        mode: mode(node, &["mode"]),
    })
}

/// A way to show tools.
pub(super) fn mode(root: &Node, path: &[&str]) -> Option<Mode> {
    Mode::parse(root.at_path(path)?.text()?)
}

/// A form of names.
pub(super) fn form(root: &Node, path: &[&str]) -> Option<Form> {
    Form::parse(root.at_path(path)?.text()?)
}

fn tool(node: &Node) -> ToolRules {
    let options = node.get("options").map(Node::to_json);
    ToolRules {
        name: text(node, "name"),
        description: text(node, "description"),
        category: text(node, "category"),
        args: named(node, "args", argument),
        examples: node
            .get("examples")
            .and_then(Node::list)
            .unwrap_or_default()
            .iter()
            .map(Node::to_json)
            .collect(),
        options: options.as_ref().and_then(Value::as_object).cloned().unwrap_or_else(Map::new),
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

fn named<T>(node: &Node, key: &str, read: impl Fn(&Node) -> T) -> Vec<(String, T)> {
    let pairs = node.get(key).and_then(Node::map).unwrap_or_default();
    pairs.iter().map(|pair| (pair.key.clone(), read(&pair.value))).collect()
}

fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::text).map(str::to_owned)
}

fn texts(node: &Node, key: &str) -> Vec<String> {
    let nodes = node.get(key).and_then(Node::list).unwrap_or_default();
    nodes.iter().filter_map(Node::text).map(str::to_owned).collect()
}
