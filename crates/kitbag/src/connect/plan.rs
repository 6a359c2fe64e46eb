//! What a link is given: everything it needs to start its server, and to start it again. A link looks at no file,
//! so it cannot come back with another configuration, or another person's values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kitbag_core::model::{Clocks, Identity, Link as LinkSpec, Resolved};
use kitbag_core::text::{Redactor, cut};
use kitbag_core::{Fault, Limits, Secret, ServerSpec, UserId};

use super::ask::Offers;
use super::http::Trust;
use super::memory::Memory;
use super::reason::Reason;
use super::secrets;
use super::stdio;
use crate::Env;
use crate::discover::Folders;
use crate::guard::Launcher;

/// What all links of one world share.
pub(crate) struct LinkContext {
    pub(crate) env: Env,
    folders: Folders,
    pub(crate) launcher: Launcher,
    pub(crate) memory: Arc<Memory>,
    /// The folder of logs.
    pub(crate) logs: PathBuf,
    /// What servers may ask of whoever calls them.
    pub(crate) offers: Offers,
    /// What of the environment reaches every program, and every address: compared for every link.
    pub(super) program: Arc<str>,
    pub(super) trust: Arc<Trust>,
}

impl LinkContext {
    pub(crate) fn new(env: &Env, folders: &Folders, launcher: Launcher, offers: Offers) -> Self {
        let memory = Arc::new(Memory::load(folders.cache.clone()));
        Self::with(env, folders, launcher, offers, memory)
    }

    fn with(env: &Env, folders: &Folders, launcher: Launcher, offers: Offers, memory: Arc<Memory>) -> Self {
        Self {
            program: stdio::fingerprint(env).into(),
            trust: Arc::new(Trust::of(env)),
            logs: folders.state.join("logs"),
            env: env.clone(),
            folders: folders.clone(),
            launcher,
            memory,
            offers,
        }
    }

    /// This one, or one for these surroundings where they are others. How servers are kept stays as it was chosen.
    pub(crate) fn within(self: &Arc<Self>, env: &Env, folders: &Folders) -> Arc<Self> {
        if self.env == *env && self.folders == *folders {
            return self.clone();
        }
        let is_same = self.folders.cache == folders.cache;
        let memory =
            if is_same { self.memory.clone() } else { Arc::new(Memory::load(folders.cache.clone())) };
        Arc::new(Self::with(env, folders, self.launcher.clone(), self.offers, memory))
    }
}

/// One server as it is to be run.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) spec: Arc<ServerSpec>,
    /// Its values, or what is missing.
    pub(crate) resolved: Arc<Result<Resolved, Vec<Fault>>>,
    /// Variables passed on by name, those that are set.
    pub(crate) passed: Arc<[(String, Secret)]>,
    /// Which values it runs with, when they are known.
    pub(crate) identity: Option<Identity>,
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
    /// A plan of a server with these values in this environment, for whoever shares it.
    pub(crate) fn new(
        spec: &Arc<ServerSpec>,
        resolved: Result<Resolved, Vec<Fault>>,
        env: &Env,
        limits: &Limits,
        link_limits: &Arc<Limits>,
    ) -> Self {
        let names: &[String] = match &spec.link {
            LinkSpec::Stdio(program) => &program.pass,
            LinkSpec::Remote(_) => &[],
        };
        let value = |name: &String| Some((name.clone(), Secret::new(env.get(name)?)));
        let passed: Arc<[_]> = names.iter().filter_map(value).collect();
        Self {
            spec: spec.clone(),
            identity: resolved.as_ref().ok().map(|resolved| resolved.link.identity(&passed)),
            resolved: Arc::new(resolved),
            passed,
            owner: None,
            clocks: Clocks::of(spec, limits),
            limits: link_limits.clone(),
            concurrency: spec.concurrency.map_or(limits.concurrency, |limit| limit.max(1) as usize),
            redactor: Arc::default(),
        }
    }

    /// Whether both start or reach the same thing with the same values for the same owner.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        self.identity.is_some() && self.identity == other.identity && self.owner == other.owner
    }

    /// Hides the secrets it runs with from whatever its server says.
    pub(crate) fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| secrets::redactor(self))
    }

    /// What its server says when something goes wrong, as it is kept and shown: in one line, without secrets, within
    /// the bound of an error.
    pub(crate) fn said(&self, text: &str) -> String {
        cut(self.redactor().line(text.as_bytes()), self.limits.error)
    }

    /// The same for why something cannot be done.
    pub(crate) fn told(&self, reason: Reason) -> Reason {
        reason.cleaned(self.redactor()).cut(self.limits.error)
    }

    /// Where the log of its server stands: what one user's server says is for that user.
    pub(crate) fn log_folder(&self, logs: &Path) -> PathBuf {
        log_folder(logs, self.owner.as_ref())
    }
}

/// The folder of the logs of servers that are this user's, or everybody's.
pub(crate) fn log_folder(logs: &Path, owner: Option<&UserId>) -> PathBuf {
    match owner.filter(|user| **user != UserId::local()) {
        Some(user) => logs.join(user.state_folder()),
        None => logs.to_owned(),
    }
}

/// Rows of the limits that mean nothing to a link: a change of one must not end a server.
const OF_OTHERS: [&str; 18] = [
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
    "results",
    "blocks",
    "remarks",
    "names",
    "names_file",
    "files",
    "schema_nodes",
    "schema_bytes",
];

/// Whether definitions of tools are read alike within both.
pub(crate) fn reads_alike(one: &Limits, other: &Limits) -> bool {
    let of_tools = |limits: &Limits| {
        let rows = limits.rows().into_iter();
        rows.filter(|row| row.name == "description" || row.name.starts_with("schema_")).collect::<Vec<_>>()
    };
    of_tools(one) == of_tools(other)
}

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
