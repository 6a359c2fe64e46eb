//! Everything Kitbag knows before it connects: which servers there are, where each value came from, what is
//! held, and what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::catalog::Part;
use kitbag_core::config::layers::{Layer, Layered, Merged, Server, State, merge};
use kitbag_core::config::{ALL_DIALECTS, Dialect, Document, Loaded, env as env_servers, settings};
use kitbag_core::model::{Piece, Resolved, ResolvedLink, input_variable};
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, Limits, Place, Secret, ServerSpec, Severity, UserId};

use crate::Env;
use crate::discover::{
    EnvFiles, Folder, Folders, Values, env_file, host_files, project_files, read_catalog, user_folders,
};
use crate::registry::{Approval, Secrets, Trust};

mod files;
mod gather;
mod overrides;
mod project;
mod stamps;

use files::{Files, Texts};
use gather::Gathered;
use stamps::Stamps;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The environment.
    pub env: Env,
    /// Files and folders to read instead of everything else.
    pub configs: Vec<PathBuf>,
    /// Other programs whose files are used, by id, or `all`.
    pub hosts: Vec<String>,
    /// For whom.
    pub user: Option<UserId>,
    /// Servers described in code: these and no others, also when there are none of them. Nothing else is looked
    /// at.
    pub specs: Option<Vec<Arc<ServerSpec>>>,
    /// A folder of definitions of tools; with it nothing else is looked at, and nothing is started.
    pub catalog: Option<PathBuf>,
}

/// Why nothing could be looked at.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A file or folder that was named is not there.
    #[error("{0} does not exist")]
    NoSuchFile(PathBuf),
    /// A folder of definitions that cannot be read.
    #[error("the catalog {folder} cannot be read: {error}", folder = folder.display())]
    NoCatalog {
        /// Which.
        folder: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A program nobody knows.
    #[error("unknown program {name:?}; {hint}")]
    UnknownHost {
        /// What was asked for.
        name: String,
        /// What could have been.
        hint: String,
    },
    /// A user nobody knows.
    #[error("no user is called {user}")]
    UnknownUser {
        /// Who was asked for.
        user: UserId,
        /// Where the user's folder would be.
        folder: PathBuf,
    },
}

/// A file or folder that was looked for.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Which layer it would belong to.
    pub layer: Layer,
    /// Where.
    pub file: PathBuf,
    /// Whether it is there.
    pub exists: bool,
}

/// Everything known before connecting.
#[derive(Clone)]
pub struct Setup {
    /// Kitbag's own folders.
    pub folders: Folders,
    /// For whom.
    pub user: UserId,
    /// Every server found, merged.
    pub merged: Merged,
    /// Settings in force, lowest layer first, with the file each stands in.
    pub settings: Vec<(PathBuf, settings::Settings)>,
    /// Every place looked at.
    pub searched: Vec<Searched>,
    /// Whether MCP is switched on (`AGENT_ENABLE_MCP`).
    pub switched_on: bool,
    /// The bounds in force.
    pub limits: Limits,
    /// Tools that come from files instead of servers.
    pub catalog: Vec<Part>,
    env: Env,
    dot_env: BTreeMap<String, String>,
    env_files: EnvFiles,
    secrets: Secrets,
    trust: Trust,
    held_settings: Option<HeldSettings>,
    request: Request,
    texts: Texts,
    stamps: Stamps,
}

/// Settings of the working folder that nobody approved yet.
#[derive(Clone, Debug)]
pub struct HeldSettings {
    /// What an approval of them would be bound to.
    pub approval: Approval,
    /// The text it is about: the one that was hashed.
    pub text: String,
}

impl Setup {
    /// Looks at everything a request names, in bounded time. One broken file or entry costs only itself.
    pub fn discover(request: &Request) -> Result<Self, SetupError> {
        Self::look(request, None)
    }

    /// Looks at the same things again. A file that cannot be read now says what it said before.
    pub fn again(&self) -> Result<Self, SetupError> {
        Self::look(&self.request, Some(self))
    }

    fn look(request: &Request, before: Option<&Self>) -> Result<Self, SetupError> {
        let folders = Folders::of(&request.env);
        let mut files = Files::new(before.map(|before| &before.texts));
        files.stamps.note(&folders.approvals());
        files.stamps.note(&folders.answers());
        let loaded = Trust::load(&folders);
        let is_damaged = loaded.is_damaged();
        let trust = match before {
            Some(before) if is_damaged => before.trust.clone(),
            _ => loaded,
        };
        let hosts = known_hosts(&request.hosts)?;
        let user = request.user.clone().unwrap_or_else(UserId::local);
        let mut gathered = Gathered::new(&request.env, &folders, &trust, user);
        gathered.is_trust_damaged = is_damaged;
        gathered.files = files;
        gathered.secrets = match (Secrets::load(&folders), before) {
            (secrets, Some(before)) if secrets.is_damaged() => before.secrets.clone(),
            (secrets, _) => secrets,
        };
        if request.specs.is_some() {
            return Ok(gathered.described(request));
        }
        if let Some(folder) = &request.catalog {
            let folder = request.env.cwd().join(folder);
            let read = read_catalog(&folder, &Limits::default());
            let (catalog, faults) = read.map_err(|error| SetupError::NoCatalog { folder, error })?;
            let mut setup = gathered.described(request);
            setup.merged.faults = faults;
            return Ok(Self { catalog, ..setup });
        }
        if request.configs.is_empty() {
            gathered.everything(&hosts);
        } else {
            for config in &request.configs {
                gathered.named(&request.env.cwd().join(config))?;
            }
            gathered.asked_hosts(&hosts);
        }
        if let Some(user) = request.user.as_ref().filter(|user| !gathered.knows(user)) {
            let folder = folders.servers().join(user.folder());
            return Err(SetupError::UnknownUser { user: user.clone(), folder });
        }
        Ok(gathered.finish(request.clone()))
    }

    /// These servers and no others, described in code.
    ///
    /// ```
    /// use kitbag::{Env, ServerName, ServerSpec, Setup};
    ///
    /// let name = ServerName::parse("time")?;
    /// let spec = ServerSpec::program(name, "uvx", ["mcp-server-time"]);
    /// let setup = Setup::from_specs(Env::default(), vec![spec]);
    /// assert_eq!(setup.used().count(), 1);
    /// # Ok::<(), kitbag::InvalidName>(())
    /// ```
    ///
    /// Descriptions that two setups share are not compared when one takes the other's place:
    /// keep an `Arc<ServerSpec>` of each where thousands of servers change one by one.
    pub fn from_specs<Spec: Into<Arc<ServerSpec>>>(env: Env, specs: Vec<Spec>) -> Self {
        let specs = specs.into_iter().map(Into::into).collect();
        let request = Request { env, specs: Some(specs), ..Request::default() };
        let folders = Folders::of(&request.env);
        let trust = Trust::load(&folders);
        let mut gathered = Gathered::new(&request.env, &folders, &trust, UserId::local());
        gathered.files.stamps.note(&folders.answers());
        gathered.secrets = Secrets::load(&folders);
        gathered.described(&request)
    }

    /// No servers at all.
    pub fn empty(env: Env) -> Self {
        Self::from_specs(env, Vec::<ServerSpec>::new())
    }

    /// The same for a user.
    #[must_use]
    pub fn for_user(mut self, user: UserId) -> Self {
        self.request.user = Some(user.clone());
        self.user = user;
        self
    }

    /// The servers that are used, in order of name.
    pub fn used(&self) -> impl Iterator<Item = &ServerSpec> {
        self.merged.used()
    }

    /// What an approval of this server is bound to.
    pub fn approval(&self, spec: &ServerSpec) -> Approval {
        self.with_values(spec, &Layer::Project, |values| project::approval(spec, values))
    }

    /// The working folder's `kitbag.toml`, while it waits for approval.
    pub fn held_settings(&self) -> Option<&HeldSettings> {
        self.held_settings.as_ref()
    }

    /// The approvals given so far.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// The environment everything was looked at in.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Gives a server's references their values.
    pub fn resolve(&self, server: &ServerSpec, layer: &Layer) -> Result<Resolved, Vec<Fault>> {
        self.with_values(server, layer, |values| server.resolve(values))
    }

    /// The variables a server gets from its file of variables, as they were read.
    pub fn env_file(&self, server: &ServerSpec, layer: &Layer) -> Vec<(String, Secret)> {
        let resolved = self.resolve(server, layer);
        match resolved.map(|resolved| resolved.link) {
            Ok(ResolvedLink::Stdio { file_env, .. }) => file_env,
            _ => Vec::new(),
        }
    }

    /// Whether a server is its user's alone: it stands in the user's own file, gets an answer the user gave, or says
    /// so itself.
    pub(crate) fn is_own(&self, row: &Server, spec: &ServerSpec) -> bool {
        row.user.is_some() || spec.per_user || self.has_answers(spec)
    }

    fn has_answers(&self, server: &ServerSpec) -> bool {
        let templates = server.templates();
        let mut pieces = templates.iter().flat_map(|(_, template)| template.pieces());
        pieces.any(|piece| match piece {
            Piece::Input(id) => {
                self.env.filled(&input_variable(id)).is_none()
                    && self.secrets.get(&self.user, server, id).is_some()
            }
            _ => false,
        })
    }

    /// Whether equal servers get equal values in both.
    pub(crate) fn same_values(&self, other: &Self) -> bool {
        self.user == other.user
            && self.env == other.env
            && self.dot_env == other.dot_env
            && self.env_files == other.env_files
            && self.secrets.same_for(&self.user, &other.secrets)
    }

    /// Whether a file that decides something no longer looks as it did before it was read.
    pub(crate) fn is_stale(&self) -> bool {
        self.stamps.are_stale()
    }

    fn with_values<T>(&self, server: &ServerSpec, layer: &Layer, work: impl FnOnce(&Values<'_>) -> T) -> T {
        let none = BTreeMap::new();
        let dot_env = if *layer == Layer::Project { &self.dot_env } else { &none };
        let inputs = |id: &str| self.secrets.get(&self.user, server, id);
        let file = &server.origin.place.file;
        work(&Values { env: &self.env, dot_env, inputs: &inputs, file, env_files: &self.env_files })
    }

    /// Takes over answers that were given meanwhile.
    pub fn reload_secrets(&mut self) {
        self.stamps.renew(&self.folders.answers());
        self.secrets = Secrets::load(&self.folders);
    }

    /// Every fault: of files first, then of servers.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.merged.faults.iter().chain(self.merged.servers.iter().flat_map(|row| &row.faults))
    }
}

/// The texts of files and the variables of `.env` may hold secrets.
impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("user", &self.user)
            .field("merged", &self.merged)
            .field("settings", &self.settings)
            .field("searched", &self.searched)
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

/// The programs asked for; `all` means every one.
fn known_hosts(asked: &[String]) -> Result<BTreeSet<String>, SetupError> {
    check_hosts(asked)?;
    Ok(asked.iter().cloned().collect())
}

/// Whether every one of these is the id of a program, or `all`.
pub fn check_hosts(asked: &[String]) -> Result<(), SetupError> {
    let ids = || ALL_DIALECTS.iter().filter(|dialect| !dialect.files.is_empty()).map(|dialect| dialect.id);
    let is_known = |name: &str| name == "all" || ids().any(|id| id == name);
    let Some(name) = asked.iter().find(|name| !is_known(name)) else { return Ok(()) };
    let hint = match nearest(name, ids()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("one of {}, all", ids().collect::<Vec<_>>().join(", ")),
    };
    Err(SetupError::UnknownHost { name: name.clone(), hint })
}
