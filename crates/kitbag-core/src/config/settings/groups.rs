//! Who belongs to which group, and what groups may do, as it was written.

use super::super::source::Source;
use super::super::tree::{KeyValue, Node};
use super::Located;
use super::closed::{Closes, Restrictions, title};
use super::keys::GROUP;
use crate::names::UserId;

/// What the members of a group may do; the rules are read where tools are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRules {
    /// Only these, where there is such a list.
    pub allow: Option<Vec<Located<String>>>,
    /// Never these.
    pub deny: Vec<Located<String>>,
    /// These after a person's approval.
    pub approve: Vec<Located<String>>,
    /// Why its members may do nothing: a restriction that cannot be read, with its place.
    pub closed: Option<String>,
}

impl Closes for GroupRules {
    fn close(&mut self, reason: String) {
        self.closed.get_or_insert(reason);
    }
}

/// Every group.
pub(super) fn groups(
    source: &Source<'_>,
    restrictions: &Restrictions<'_>,
    root: &Node,
) -> Vec<(String, GroupRules)> {
    let read = |pair: &KeyValue| {
        let list = |key: &str| pair.value.get(key).and_then(Node::list).map(|nodes| texts(source, nodes));
        let rules = GroupRules {
            allow: list("allow"),
            deny: list("deny").unwrap_or_default(),
            approve: list("approve").unwrap_or_default(),
            closed: restrictions.in_table(&title(&["groups", &pair.key]), GROUP, &pair.value),
        };
        (pair.key.clone(), rules)
    };
    let pairs = root.get("groups").and_then(Node::map).unwrap_or_default();
    let mut groups: Vec<(String, GroupRules)> = pairs.iter().map(read).collect();
    restrictions.close_misspelt("groups", &mut groups, |_| GroupRules::default());
    if let Some(reason) = restrictions.whole_section("groups") {
        groups.iter_mut().for_each(|(_, rules)| rules.close(reason.clone()));
    }
    groups
}

/// The groups each user belongs to.
pub(super) fn memberships(source: &Source<'_>, root: &Node) -> Vec<(UserId, Vec<Located<String>>)> {
    let pairs = root.get("users").and_then(Node::map).unwrap_or_default().iter();
    let read = |pair: &KeyValue| {
        let groups = pair.value.get("groups").and_then(Node::list)?;
        Some((UserId::parse(&pair.key).ok()?, texts(source, groups)))
    };
    pairs.filter_map(read).collect()
}

fn texts(source: &Source<'_>, nodes: &[Node]) -> Vec<Located<String>> {
    let text = |node: &Node| Some(Located { value: node.text()?.to_owned(), place: source.place(node.at) });
    nodes.iter().filter_map(text).collect()
}
