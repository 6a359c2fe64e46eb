//! What a link is given: everything it needs to start its server, and to start it again. A link looks at no file,
//! so it cannot come back with another configuration, or another person's values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kitbag_core::model::{Clocks, Identity, Link as LinkSpec, Resolved};
use kitbag_core::text::Redactor;
use kitbag_core::{Fault, Limits, ServerSpec, UserId};

use super::ask::Offers;
use super::memory::Memory;
use super::secrets;
use crate::Env;
use crate::guard::Launcher;

/// What all links of one Kitbag share.
pub(crate) struct LinkContext {
    pub(crate) env: Env,
    /// A hash of the environment: it is compared for every link.
    pub(crate) env_hash: String,
    pub(crate) launcher: Launcher,
    pub(crate) memory: Memory,
    /// The folder of logs.
    pub(crate) logs: PathBuf,
    /// What servers may ask of whoever calls them.
    pub(crate) offers: Offers,
}

/// One server as it is to be run.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) spec: Arc<ServerSpec>,
    /// Its values, or what is missing.
    pub(crate) resolved: Arc<Result<Resolved, Vec<Fault>>>,
    /// Whose it is; nobody's when users share it.
    pub(crate) owner: Option<UserId>,
    pub(crate) clocks: Clocks,
    /// The limits that links obey.
    pub(crate) limits: Arc<Limits>,
    /// Calls in flight at once.
    pub(crate) concurrency: usize,
    /// Hides its secrets; made when somebody first needs it.
    pub(crate) redactor: Arc<OnceLock<Redactor>>,
}

impl Plan {
    /// Which values it runs with, when they are known.
    pub(crate) fn identity(&self) -> Option<Identity> {
        Some(self.resolved.as_ref().as_ref().ok()?.link.identity())
    }

    /// Whether both start or reach the same thing with the same values for the same owner.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        self.identity().is_some() && self.identity() == other.identity() && self.owner == other.owner
    }

    /// Hides the secrets it runs with from whatever its server says.
    pub(crate) fn redactor(&self, env: &Env) -> &Redactor {
        self.redactor.get_or_init(|| secrets::redactor(self, env))
    }

    /// Variables passed on by name.
    pub(crate) fn passed(&self) -> &[String] {
        match &self.spec.link {
            LinkSpec::Stdio(program) => &program.pass,
            LinkSpec::Remote(_) => &[],
        }
    }

    /// Where the log of its server stands: what one user's server says is for that user.
    pub(crate) fn log_folder(&self, logs: &Path) -> PathBuf {
        log_folder(logs, self.owner.as_ref())
    }
}

/// The folder of the logs of servers that are this user's, or everybody's.
pub(crate) fn log_folder(logs: &Path, owner: Option<&UserId>) -> PathBuf {
    match owner.filter(|user| **user != UserId::local()) {
        Some(user) => logs.join(user.folder()),
        None => logs.to_owned(),
    }
}

/// Rows of the limits that mean nothing to a link: a change of one must not end a server.
const OF_OTHERS: [&str; 12] = [
    "config_file",
    "config_depth",
    "config_nodes",
    "config_faults",
    "config_files",
    "watch",
    "drain",
    "description",
    "result",
    "result_ttl",
    "schema_nodes",
    "schema_bytes",
];

/// The limits that links obey; every other row as it is by default.
pub(crate) fn link_limits(limits: &Limits) -> Limits {
    let mut own = limits.clone();
    for row in Limits::default().rows() {
        if OF_OTHERS.contains(&row.name) || row.name.starts_with("schema_") {
            own.set(row.name, row.bound);
        }
    }
    own
}
