//! What a link is given: everything it needs to start its server, and to start it again. A link looks at no file,
//! so it cannot come back with another configuration, or another person's values.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use kitbag_core::model::{Identity, ResolvedSpec, ServerTarget as LinkSpec, Timeouts};
use kitbag_core::text::{Redactor, cut};
use kitbag_core::{Fault, Limits, Secret, ServerSpec, UserId};

use super::client::Greeting;
use super::http::Route;
use super::memory::Memory;
use super::reason::Reason;
use super::secrets;
use super::stdio::{self, EnvReach};
use super::trace::Tracer;
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
    /// What servers are told of us.
    pub(crate) greeting: Greeting,
    /// Who reads along, if anybody does.
    pub(crate) trace: Option<Tracer>,
    /// What of the environment reaches programs, by [`EnvReach`], and every address: compared for every link.
    program: [Arc<str>; 3],
    pub(super) route: Arc<Route>,
}

impl LinkContext {
    pub(crate) fn new(env: &Env, folders: &Folders, launcher: Launcher, greeting: Greeting) -> Self {
        let memory = Arc::new(Memory::load(folders.cache.clone()));
        Self::with(env, folders, launcher, greeting, memory)
    }

    /// The same with somebody who reads along, if there is anybody.
    pub(crate) fn traced(self, trace: Option<Tracer>) -> Self {
        Self { trace, ..self }
    }

    fn with(
        env: &Env,
        folders: &Folders,
        launcher: Launcher,
        greeting: Greeting,
        memory: Arc<Memory>,
    ) -> Self {
        Self {
            program: [EnvReach::Usual, EnvReach::Session, EnvReach::All]
                .map(|reach| stdio::fingerprint(env, reach).into()),
            route: Arc::new(Route::of(env)),
            logs: folders.state.join("logs"),
            env: env.clone(),
            folders: folders.clone(),
            launcher,
            memory,
            greeting,
            trace: None,
        }
    }

    /// What tells two environments apart for a program that gets so much of one.
    pub(super) fn program(&self, reach: EnvReach) -> Arc<str> {
        let [usual, session, all] = &self.program;
        match reach {
            EnvReach::Usual => usual.clone(),
            EnvReach::Session => session.clone(),
            EnvReach::All => all.clone(),
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
        let context = Self::with(env, folders, self.launcher.clone(), self.greeting.clone(), memory);
        Arc::new(context.traced(self.trace.clone()))
    }
}

/// One server as it is to be run.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) spec: Arc<ServerSpec>,
    /// Its values, or what is missing.
    pub(crate) resolved: Arc<Result<ResolvedSpec, Vec<Fault>>>,
    /// How much of our own environment its program gets.
    pub(crate) reach: EnvReach,
    /// Variables passed on by name, those that are set; all of them where its settings say so.
    pub(crate) passed: Arc<[(String, Secret)]>,
    /// Which values it runs with, when they are known.
    pub(crate) identity: Option<Identity>,
    /// Whose it is; nobody's when users share it.
    pub(crate) owner: Option<UserId>,
    pub(crate) clocks: Timeouts,
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
        resolved: Result<ResolvedSpec, Vec<Fault>>,
        env: &Env,
        limits: &Limits,
        link_limits: &Arc<Limits>,
    ) -> Self {
        let (names, reach): (&[String], _) = match &spec.link {
            LinkSpec::Stdio(program) if program.pass_all => (&program.pass, EnvReach::All),
            LinkSpec::Stdio(program) => (&program.pass, EnvReach::Usual),
            LinkSpec::Remote(_) | LinkSpec::InProcess(_) => (&[], EnvReach::Usual),
        };
        let value = |name: &String| Some((name.clone(), Secret::new(env.get(name)?)));
        let mut passed: Arc<[_]> = names.iter().filter_map(value).collect();
        // A variable that is not asked for by name says nothing about what the server is.
        let identity = resolved.as_ref().ok().map(|resolved| resolved.link.identity(&passed));
        if reach == EnvReach::All {
            passed = env.vars().map(|(name, value)| (name.to_owned(), Secret::new(value))).collect();
        }
        Self {
            spec: spec.clone(),
            identity,
            resolved: Arc::new(resolved),
            reach,
            passed,
            owner: None,
            clocks: Timeouts::of(spec, limits),
            limits: link_limits.clone(),
            concurrency: spec.concurrency.map_or(limits.concurrency, |limit| limit.max(1) as usize),
            redactor: Arc::default(),
        }
    }

    /// The same for an entry that the person at this machine wrote: its program reaches the person's session.
    pub(crate) fn of_the_person(mut self) -> Self {
        if self.reach == EnvReach::Usual {
            self.reach = EnvReach::Session;
        }
        self
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
const OF_OTHERS: [&str; 19] = [
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
    "saved",
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
