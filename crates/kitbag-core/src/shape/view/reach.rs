//! Servers a view may speak of although they list or do nothing now: those that cannot be called, and those
//! whose tools nobody knows yet. Of any other server an agent must not even learn that it is there.

use std::collections::BTreeSet;

use super::{AgentFilter, ViewRequest};
use crate::names::ServerName;

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
        let sees = |server: &&ServerName| (request.visible)(server) && agent.may_show(server);
        Self {
            away: away.filter(sees).cloned().collect(),
            unlisted: unlisted.filter(sees).cloned().collect(),
        }
    }
}
