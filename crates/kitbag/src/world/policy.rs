//! Who is kept from what by the files, whatever a program's own permit says.

use std::collections::BTreeMap;
use std::sync::Arc;

use kitbag_core::catalog::Tool;
use kitbag_core::config::settings::Denied;
use kitbag_core::shape::{Authorize, Decision};
use kitbag_core::{ServerName, UserId};

use super::Server;
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

/// The files' restrictions first, then the program's own permit.
pub(crate) struct Permits<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) permit: &'a dyn Authorize,
}

impl Authorize for Permits<'_> {
    fn authorize(&self, user: &UserId, tool: &Tool) -> Decision {
        match self.policy.denies_server(user, &tool.server) {
            Some(why) => Decision::Deny(why.to_owned()),
            None => self.permit.authorize(user, tool),
        }
    }

    fn revision(&self) -> Option<u64> {
        self.permit.revision()
    }
}
