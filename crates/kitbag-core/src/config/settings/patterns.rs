//! Where `kitbag.toml` names servers and tools, by pattern or by name: the rules themselves need no place, but whoever
//! looks for one that matches nothing does.

use super::super::source::Source;
use super::super::tree::{KeyValue, Node};
use crate::fault::SourceLocation;

/// A pattern, or a name, that is meant for servers or tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Whose rule it is.
    pub owner: PatternOwner,
    /// The key it stands under, such as `include`.
    pub key: &'static str,
    /// As written.
    pub text: String,
    /// Where it stands.
    pub place: SourceLocation,
}

/// Whose rule a pattern is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternOwner {
    /// `[servers.<name>]`
    Server(String),
    /// The entry of a server, in whichever file.
    Entry(String),
    /// `[agents.<name>]`
    Agent(String),
    /// `[groups.<name>]`
    Group(String),
}

/// The key under which single tools are named.
pub const TOOLS_KEY: &str = "tools";

const OF_SERVER: &[&str] = &["include", "exclude", "approve", "idempotent", "read_only"];
const OF_AGENT: &[&str] = &["servers", "allow", "deny", "approve"];
const OF_GROUP: &[&str] = &["allow", "deny", "approve"];

/// All of them, in the order they stand.
pub(super) fn read(source: &Source<'_>, root: &Node) -> Vec<Pattern> {
    let mut all = Vec::new();
    for server in pairs(root.get("servers")) {
        let owner = PatternOwner::Server(server.key.clone());
        lists(source, &server.value, &owner, OF_SERVER, &mut all);
        for tool in pairs(server.value.get(TOOLS_KEY)) {
            let (text, place) = (tool.key.clone(), source.place(tool.at));
            all.push(Pattern { owner: owner.clone(), key: TOOLS_KEY, text, place });
        }
    }
    for agent in pairs(root.get("agents")) {
        let owner = PatternOwner::Agent(agent.key.clone());
        lists(source, &agent.value, &owner, OF_AGENT, &mut all);
    }
    for group in pairs(root.get("groups")) {
        let owner = PatternOwner::Group(group.key.clone());
        lists(source, &group.value, &owner, OF_GROUP, &mut all);
    }
    all
}

fn pairs(node: Option<&Node>) -> &[KeyValue] {
    node.and_then(Node::map).unwrap_or_default()
}

fn lists(
    source: &Source<'_>,
    node: &Node,
    owner: &PatternOwner,
    keys: &[&'static str],
    all: &mut Vec<Pattern>,
) {
    for key in keys {
        for item in node.get(key).and_then(Node::list).unwrap_or_default() {
            let Some(text) = item.text() else { continue };
            let (text, place) = (text.to_owned(), source.place(item.at));
            all.push(Pattern { owner: owner.clone(), key, text, place });
        }
    }
}
