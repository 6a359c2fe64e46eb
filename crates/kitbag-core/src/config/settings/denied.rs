//! Users who may do nothing: because a restriction of theirs cannot be read, or because nothing enforces it yet.

use std::collections::BTreeMap;

use super::super::tree::Node;
use super::closed::{Restrictions, title};
use super::keys::{PINS, POLICY, USER};
use crate::names::UserId;

/// Who may see and call nothing, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denied {
    /// Why nobody may, if so.
    pub everyone: Option<String>,
    /// Single users.
    pub users: BTreeMap<UserId, String>,
}

impl Denied {
    /// Why this user may do nothing, if so.
    pub fn reason(&self, user: &UserId) -> Option<&str> {
        self.users.get(user).or(self.everyone.as_ref()).map(String::as_str)
    }

    fn deny_everyone(&mut self, reason: Option<String>) {
        self.everyone = self.everyone.take().or(reason);
    }

    fn deny(&mut self, user: UserId, reason: String) {
        self.users.entry(user).or_insert(reason);
    }

    /// By what a whole file says.
    pub(super) fn read(restrictions: &Restrictions<'_>, root: &Node) -> Self {
        let mut denied = Self::default();
        denied.by_section(restrictions, root);
        denied.by_users(restrictions, root);
        denied.by_groups(restrictions);
        denied
    }

    /// Rules for everybody that cannot be read.
    fn by_section(&mut self, restrictions: &Restrictions<'_>, root: &Node) {
        for (section, keys) in [("pins", PINS), ("policy", POLICY)] {
            for misspelt in restrictions.misspelt(section) {
                self.deny_everyone(Some(misspelt.reason.clone()));
            }
            let Some(node) = root.get(section) else { continue };
            let title = title(&[section]);
            self.deny_everyone(restrictions.in_table(&title, keys, node));
        }
    }

    fn by_users(&mut self, restrictions: &Restrictions<'_>, root: &Node) {
        self.deny_everyone(restrictions.whole_section("users"));
        for pair in root.get("users").and_then(Node::map).unwrap_or_default() {
            // What cannot be a user's id is nobody's.
            let Ok(user) = UserId::parse(&pair.key) else { continue };
            let title = title(&["users", &pair.key]);
            if let Some(reason) = restrictions.in_table(&title, USER, &pair.value) {
                self.deny(user, reason);
            }
        }
        for misspelt in restrictions.misspelt("users") {
            let names = misspelt.node.map().unwrap_or_default().iter().map(|named| &named.key);
            let users = names.filter_map(|name| UserId::parse(name).ok());
            users.for_each(|user| self.deny(user, misspelt.reason.clone()));
        }
    }

    /// The one group with a member nobody has to name is `local`; the members of others name it themselves.
    fn by_groups(&mut self, restrictions: &Restrictions<'_>) {
        let local = UserId::local();
        if let Some(reason) = restrictions.unread_section("groups") {
            self.deny(local.clone(), reason);
        }
    }
}
