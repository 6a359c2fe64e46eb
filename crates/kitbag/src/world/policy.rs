//! Who is kept from what by the files, whatever a program's own permit says.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kitbag_core::catalog::Tool;
use kitbag_core::config::settings::Denied;
use kitbag_core::model::AgentRules;
use kitbag_core::shape::{Authorize, Decision};
use kitbag_core::text::Globs;
use kitbag_core::{ServerName, UserId};

use super::{Server, World};
use crate::Setup;

/// Restrictions that hold for every door.
#[derive(Default)]
pub(crate) struct Policy {
    denied: Vec<Denied>,
    /// Servers that are one user's own.
    owners: BTreeMap<ServerName, UserId>,
}

impl Policy {
    pub(super) fn of(setup: &Setup, servers: &BTreeMap<ServerName, Arc<Server>>) -> Self {
        let owner =
            |(name, server): (&ServerName, &Arc<Server>)| Some((name.clone(), server.plan.owner.clone()?));
        Self {
            denied: setup.settings.iter().map(|(_, settings)| settings.denied.clone()).collect(),
            owners: servers.iter().filter_map(owner).collect(),
        }
    }

    /// Why a user may have nothing at all, if that is so.
    pub(crate) fn denies(&self, user: &UserId) -> Option<&str> {
        self.denied.iter().find_map(|denied| denied.reason(user))
    }

    /// Why a user may have nothing of a server.
    pub(crate) fn denies_server(&self, user: &UserId, server: &ServerName) -> Option<&str> {
        let is_anothers = self.owners.get(server).is_some_and(|owner| owner != user);
        self.denies(user).or_else(|| is_anothers.then_some("it is another user's own"))
    }
}

/// What the files say about an agent by now, where that is not what they said when its rules were asked for.
pub(crate) struct Within {
    servers: Globs,
    allow: Globs,
    closed: Option<String>,
    local: ServerName,
}

impl Within {
    /// None where the rules are as the files have them, or are not the files' at all.
    pub(crate) fn of(world: &World, agent: &AgentRules) -> Option<Self> {
        let name = agent.name.as_deref()?;
        let now = world.agent(name);
        if now.as_ref() == Some(agent) {
            return None;
        }
        let mut closed = match &now {
            Some(now) => now.closed.clone(),
            None => Some(format!("no file describes the agent {name:?} any more")),
        };
        let mut globs = |patterns: &[String]| {
            Globs::new(patterns).unwrap_or_else(|bad| {
                closed.get_or_insert(bad.to_string());
                Globs::default()
            })
        };
        let now = now.unwrap_or_default();
        let (servers, allow) = (globs(&now.servers), globs(&now.allow));
        Some(Self { servers, allow, closed, local: world.local.clone() })
    }

    /// Why it may have nothing of a server.
    pub(crate) fn denies_server(&self, server: &ServerName) -> Option<&str> {
        if *server == self.local {
            return None;
        }
        let fits = self.servers.is_empty() || self.servers.fit(server.as_str());
        self.closed.as_deref().or_else(|| (!fits).then_some("its server is no longer one of the agent's"))
    }

    fn denies(&self, tool: &Tool) -> Option<&str> {
        let fits = || {
            tool.server == self.local
                || self.allow.is_empty()
                || self.allow.fit(&format!("{}/{}", tool.server, tool.name))
        };
        let allowed = || (!fits()).then_some("no longer in the agent's allow list");
        self.denies_server(&tool.server).or_else(allowed)
    }
}

/// The files' restrictions first, then the program's own permit.
pub(crate) struct Permits<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) within: Option<&'a Within>,
    pub(crate) permit: &'a dyn Authorize,
}

impl Authorize for Permits<'_> {
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
        let denied = self.policy.denies_server(user, &tool.server);
        match denied.or_else(|| self.within?.denies(tool)) {
            Some(why) => Decision::Deny(why.to_owned()),
            // Others' code: one that panics lets nothing through.
            None => catch_unwind(AssertUnwindSafe(|| self.permit.authorize(user, tool)))
                .unwrap_or_else(|_| Decision::Deny("the code that decides about it panicked".to_owned())),
        }
    }

    fn revision(&self) -> Option<u64> {
        self.permit.revision()
    }
}
