//! Everything Kitbag knows before it connects: which servers there are, where each value came from, what is
//! held, and what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::catalog::ServerTools;
use kitbag_core::config::layers::{EntryState, Layer, Layered, Merged, MergedServer, merge};
use kitbag_core::config::settings::{ServeSettings, Settings};
use kitbag_core::config::{ALL_DIALECTS, Dialect, Document, Loaded, env as env_servers, settings};
use kitbag_core::model::{
    AgentRun, Mode, Piece, PinMode, ResolvedSpec, ResolvedTarget, TrifectaPolicy, input_variable,
};
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, Limits, Secret, ServerSpec, Severity, SourceLocation, UserId};

use crate::Env;
use crate::discover::{
    EnvFiles, FolderOwner, Folders, ReferenceValues, chosen, env_file, host_files, project_files,
    project_folders, read_catalog, user_folders,
};
use crate::registry::{SecretStore, TrustEntry, TrustStore};

mod answers;
mod fallback;
mod files;
mod gather;
mod overrides;
mod project;
mod stamps;

pub use fallback::Fallbacks;
use files::{Files, Texts};
use gather::Gathered;
use project::ProjectFolders;
use stamps::Stamps;

/// Options of [`Setup::discover`]: environment, files to read, other programs' files, user.
#[derive(Clone, Debug, Default)]
pub struct DiscoverOptions {
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

/// The error of [`Setup::discover`]: a file, folder, program or user that was named does not exist.
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

/// The configuration, read and merged: which servers there are, where each value came from, what is wrong.
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
    pub catalog: Vec<ServerTools>,
    env: Env,
    project: ProjectFolders,
    env_files: EnvFiles,
    secrets: SecretStore,
    trust: TrustStore,
    held_settings: Vec<HeldSettings>,
    /// Everybody the files know.
    users: BTreeSet<UserId>,
    request: DiscoverOptions,
    texts: Texts,
    stamps: Stamps,
}

/// Settings of the working folder that nobody approved yet.
#[derive(Clone, Debug)]
pub struct HeldSettings {
    /// What an approval of them would be bound to.
    pub approval: TrustEntry,
    /// The text it is about: the one that was hashed.
    pub text: String,
}

impl Setup {
    /// Looks at everything a request names, in bounded time. One broken file or entry costs only itself.
    pub fn discover(request: &DiscoverOptions) -> Result<Self, SetupError> {
        Self::look(request, None)
    }

    /// When tools are held to their definition where no file says so. Files that are named for one run may use the name of
    /// another server, which is no change of that one.
    pub(crate) fn usual_pins(&self) -> PinMode {
        if self.request.configs.is_empty() { PinMode::FirstUse } else { PinMode::Off }
    }

    /// Looks at the same things again. A file that cannot be read now says what it said before.
    pub fn again(&self) -> Result<Self, SetupError> {
        Self::look(&self.request, Some(self))
    }

    fn look(request: &DiscoverOptions, before: Option<&Self>) -> Result<Self, SetupError> {
        let folders = Folders::of(&request.env);
        let mut files = Files::new(before.map(|before| &before.texts));
        files.stamps.note(&folders.approvals());
        files.stamps.note(&folders.answers());
        files.stamps.note(&folders.answered());
        let loaded = TrustStore::load(&folders);
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
        gathered.secrets = match (SecretStore::load(&folders), before) {
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
        let request = DiscoverOptions { env, specs: Some(specs), ..DiscoverOptions::default() };
        let folders = Folders::of(&request.env);
        let trust = TrustStore::load(&folders);
        let mut gathered = Gathered::new(&request.env, &folders, &trust, UserId::local());
        gathered.files.stamps.note(&folders.answers());
        gathered.secrets = SecretStore::load(&folders);
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

    /// Whether a user is known: `local` is, and whom a file or a folder names. Where nothing is read, everybody is.
    pub fn knows(&self, user: &UserId) -> bool {
        self.request.specs.is_some() || self.request.catalog.is_some() || self.users.contains(user)
    }

    /// The servers that are used, in order of name.
    pub fn used(&self) -> impl Iterator<Item = &ServerSpec> {
        self.merged.used()
    }

    /// What drives an agent of `kitbag.toml`: of each key, what the last file says that has it.
    pub fn agent_run(&self, name: &str) -> AgentRun {
        let all = self.settings.iter().flat_map(|(_, settings)| &settings.agent_runs);
        let own = all.filter(|(agent, _)| agent == name).map(|(_, run)| run);
        own.fold(AgentRun::default(), |before, run| AgentRun {
            model: run.model.clone().or(before.model),
            instruction: run.instruction.clone().or(before.instruction),
            max_steps: run.max_steps.or(before.max_steps),
            kind: run.kind.or(before.kind),
        })
    }

    /// What becomes of tools by which private data can be carried off: the strictest word of all files. Where there is one,
    /// a tool is judged beside those of all servers.
    pub fn trifecta(&self) -> TrifectaPolicy {
        self.settings.iter().map(|(_, settings)| settings.trifecta).max().unwrap_or_default()
    }

    /// How tools are served to other programs: of each key what the last file says. A token is asked for as soon as one file
    /// wants it.
    pub fn serve(&self) -> ServeSettings {
        self.settings.iter().fold(ServeSettings::default(), |before, (_, Settings { serve, .. })| {
            ServeSettings {
                listen: serve.listen.clone().or(before.listen),
                names: serve.names.or(before.names),
                mode: serve.mode.or(before.mode),
                require_token: serve.require_token || before.require_token,
                allowed_hosts: serve.allowed_hosts.clone().or(before.allowed_hosts),
                allowed_origins: serve.allowed_origins.clone().or(before.allowed_origins),
            }
        })
    }

    /// How many tokens definitions may take where the way to show them is left open, where a file says so.
    pub fn budget(&self) -> Option<usize> {
        self.settings.iter().rev().find_map(|(_, settings)| settings.budget)
    }

    /// How tools are shown, where a file says so.
    pub fn mode(&self) -> Option<Mode> {
        self.settings.iter().rev().find_map(|(_, settings)| settings.mode)
    }

    /// What an approval of this server is bound to.
    pub fn approval(&self, spec: &ServerSpec) -> TrustEntry {
        self.with_values(spec, &Layer::Project, |values| project::approval(spec, values))
    }

    /// The project's `kitbag.toml` files that wait for approval, from the root of the repository on.
    pub fn held_settings(&self) -> impl Iterator<Item = &HeldSettings> {
        self.held_settings.iter()
    }

    /// The approvals given so far.
    pub fn trust(&self) -> &TrustStore {
        &self.trust
    }

    /// The environment everything was looked at in.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// What was asked for.
    pub fn request(&self) -> &DiscoverOptions {
        &self.request
    }

    /// Gives a server's references their values.
    pub fn resolve(&self, server: &ServerSpec, layer: &Layer) -> Result<ResolvedSpec, Vec<Fault>> {
        let mut resolved = self.with_values(server, layer, |values| server.resolve(values))?;
        // A server of the project runs where its file lies, from whichever folder below it was asked for.
        let (workspace, _) = self.project.given_to(&server.origin.place.file, layer, &self.env);
        if let ResolvedTarget::Stdio { cwd, .. } = &mut resolved.link
            && workspace != self.env.cwd()
        {
            let folder = self.env.path(cwd.as_deref().unwrap_or_default(), workspace);
            *cwd = folder.to_str().map(str::to_owned);
        }
        Ok(resolved)
    }

    /// The variables a server gets from its file of variables, as they were read.
    pub fn env_file(&self, server: &ServerSpec, layer: &Layer) -> Vec<(String, Secret)> {
        let resolved = self.resolve(server, layer);
        match resolved.map(|resolved| resolved.link) {
            Ok(ResolvedTarget::Stdio { file_env, .. }) => file_env,
            _ => Vec::new(),
        }
    }

    /// Whether a server is its user's alone: it stands in the user's own file, gets an answer the user gave, or says
    /// so itself.
    pub(crate) fn is_own(&self, row: &MergedServer, spec: &ServerSpec) -> bool {
        row.user.is_some() || spec.per_user || self.has_answers(spec)
    }

    fn has_answers(&self, server: &ServerSpec) -> bool {
        let templates = server.templates();
        let mut pieces = templates.iter().flat_map(|(_, template)| template.pieces());
        pieces.any(|piece| match piece {
            Piece::Input(id) => {
                self.env.filled(&input_variable(id)).is_none() && self.answer(server, id).is_some()
            }
            _ => false,
        })
    }

    /// Whether equal servers get equal values in both.
    pub(crate) fn same_values(&self, other: &Self) -> bool {
        self.user == other.user
            && self.env == other.env
            && self.project == other.project
            && self.env_files == other.env_files
            && self.secrets.same_for(&self.user, &other.secrets)
    }

    /// Whether a file that decides something no longer looks as it did before it was read.
    pub(crate) fn is_stale(&self) -> bool {
        self.stamps.are_stale()
    }

    fn with_values<T>(
        &self,
        server: &ServerSpec,
        layer: &Layer,
        work: impl FnOnce(&ReferenceValues<'_>) -> T,
    ) -> T {
        let inputs = |id: &str| self.answer(server, id).or_else(|| chosen(server, id).map(Secret::new));
        let file = &server.origin.place.file;
        let (workspace, dot_env) = self.project.given_to(file, layer, &self.env);
        let env_files = &self.env_files;
        work(&ReferenceValues { env: &self.env, workspace, dot_env, inputs: &inputs, file, env_files })
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

/// The ids of the programs these words mean, in any case and by their common names; `all` stays.
pub fn known_hosts(asked: &[String]) -> Result<BTreeSet<String>, SetupError> {
    let hosts = || ALL_DIALECTS.iter().filter(|dialect| !dialect.files.is_empty());
    let ids = || hosts().map(|dialect| dialect.id);
    let mut known = BTreeSet::new();
    for word in asked {
        let meant = Dialect::by_word(word).into_iter().filter(|meant| hosts().any(|host| host == *meant));
        let mut meant = meant.map(|dialect| dialect.id).peekable();
        if word.eq_ignore_ascii_case("all") {
            known.insert("all".to_owned());
        } else if meant.peek().is_none() {
            let hint = match nearest(word, ids()) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("one of {}, all", ids().collect::<Vec<_>>().join(", ")),
            };
            return Err(SetupError::UnknownHost { name: word.clone(), hint });
        }
        known.extend(meant.map(str::to_owned));
    }
    Ok(known)
}
