//! Everything Kitbag knows before it connects: which servers there are, where each value came from, what is
//! held, and what is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::catalog::Part;
use kitbag_core::config::layers::{Layer, Layered, Merged, Server, State, merge};
use kitbag_core::config::{ALL_DIALECTS, Dialect, Document, Loaded, env as env_servers, settings};
use kitbag_core::model::Resolved;
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, Limits, Place, ServerSpec, UserId};

use crate::Env;
use crate::discover::{
    Folder, Folders, Values, host_files, project_files, read_catalog, read_file, read_folder, text_of,
    user_folders,
};
use crate::registry::{Approval, Secrets, Trust};

mod gather;
mod project;

use gather::Gathered;

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
    /// Servers described in code; with any of them nothing else is looked at.
    pub specs: Vec<ServerSpec>,
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
#[derive(Clone, Debug)]
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
    secrets: Secrets,
    trust: Trust,
    held_settings: Option<Approval>,
    request: Request,
}

impl Setup {
    /// Looks at everything a request names, in bounded time. One broken file or entry costs only itself.
    pub fn discover(request: &Request) -> Result<Self, SetupError> {
        let folders = Folders::of(&request.env);
        let trust = Trust::load(&folders);
        let hosts = known_hosts(&request.hosts)?;
        let mut gathered =
            Gathered::new(&request.env, &folders, &trust, request.user.clone().unwrap_or_else(UserId::local));
        if !request.specs.is_empty() {
            return Ok(gathered.described(folders.clone(), Secrets::load(&folders), request));
        }
        if let Some(folder) = &request.catalog {
            let folder = request.env.cwd().join(folder);
            let read = read_catalog(&folder, &Limits::default());
            let (catalog, faults) = read.map_err(|error| SetupError::NoCatalog { folder, error })?;
            let mut setup = gathered.described(folders.clone(), Secrets::load(&folders), request);
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
        Ok(gathered.finish(folders.clone(), Secrets::load(&folders), request.clone()))
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
    pub fn from_specs(env: Env, specs: Vec<ServerSpec>) -> Self {
        let request = Request { env, specs, ..Request::default() };
        let folders = Folders::of(&request.env);
        let trust = Trust::load(&folders);
        let gathered = Gathered::new(&request.env, &folders, &trust, UserId::local());
        gathered.described(folders.clone(), Secrets::load(&folders), &request)
    }

    /// The servers that are used, in order of name.
    pub fn used(&self) -> impl Iterator<Item = &ServerSpec> {
        self.merged.used()
    }

    /// What an approval of this server is bound to.
    pub fn approval(&self, spec: &ServerSpec) -> Approval {
        project::approval(spec, &self.env, &self.dot_env)
    }

    /// The approval that the working folder's `kitbag.toml` waits for.
    pub fn held_settings(&self) -> Option<&Approval> {
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
        let none = BTreeMap::new();
        let dot_env = if *layer == Layer::Project { &self.dot_env } else { &none };
        let inputs = |id: &str| self.secrets.get(server, id);
        server.resolve(&Values { env: &self.env, dot_env, inputs: &inputs, file: &server.origin.place.file })
    }

    /// Takes over answers that were given meanwhile.
    pub fn reload_secrets(&mut self) {
        self.secrets = Secrets::load(&self.folders);
    }

    /// Every fault: of files first, then of servers.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.merged.faults.iter().chain(self.merged.servers.iter().flat_map(|row| &row.faults))
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
