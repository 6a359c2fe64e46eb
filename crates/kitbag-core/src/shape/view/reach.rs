//! Servers a view may speak of although they list or do nothing now: those that cannot be called, and those
//! whose tools nobody knows yet. Of any other server an agent must not even learn that it is there.

use std::collections::BTreeSet;

use super::{AgentFilter, ViewRequest};
use crate::names::ServerName;
use crate::text::Globs;

/// The servers one agent may hear of.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// Those that could not be called when the view was made.
    pub(super) away: BTreeSet<ServerName>,
    /// Those in use whose tools the snapshot does not know.
    pub(super) unlisted: BTreeSet<ServerName>,
}

impl Reach {
    pub(super) fn new(request: &ViewRequest<'_>, agent: &AgentFilter<'_>) -> Self {
        let snapshot = request.snapshot;
        let away = snapshot.all_away().map(|(server, _)| server);
        let unlisted = request.servers.iter().filter(|server| snapshot.part(server).is_none());
        let allows = Allows::new(&request.agent.allow);
        let sees = |server: &&ServerName| {
            (request.visible)(server) && agent.has(server) && allows.some_tool_of(server)
        };
        Self {
            away: away.filter(sees).cloned().collect(),
            unlisted: unlisted.filter(sees).cloned().collect(),
        }
    }
}

/// What an agent's globs over `server/tool` say about servers whose tools are not known.
enum Allows<'a> {
    All,
    /// What each glob begins with, up to its first wildcard.
    Beginnings(Vec<&'a str>),
}

impl<'a> Allows<'a> {
    fn new(patterns: &'a [String]) -> Self {
        match Globs::new(patterns) {
            Ok(globs) if globs.is_empty() => Self::All,
            Ok(_) => Self::Beginnings(patterns.iter().map(|pattern| beginning(pattern)).collect()),
            // Lets no tool through either.
            Err(_) => Self::Beginnings(Vec::new()),
        }
    }

    fn some_tool_of(&self, server: &ServerName) -> bool {
        let Self::Beginnings(all) = self else { return true };
        let tools = format!("{server}/");
        all.iter().any(|beginning| beginning.starts_with(&tools) || tools.starts_with(beginning))
    }
}

fn beginning(pattern: &str) -> &str {
    pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default()
}
