//! Where Kitbag keeps its own things.

use std::path::PathBuf;

use crate::Env;

/// Kitbag's folders. They need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Settings and servers.
    pub config: PathBuf,
    /// What Kitbag remembers: approvals, secrets, logs.
    pub state: PathBuf,
    /// What may be deleted at any time.
    pub cache: PathBuf,
}

impl Folders {
    /// `KITBAG_HOME` moves all three; otherwise the XDG folders, also on macOS; `APPDATA` on Windows.
    ///
    /// Without a home there are no files of our own. The working folder is never taken for it: whoever wrote
    /// that folder would then speak as the user.
    pub fn of(env: &Env) -> Self {
        if let Some(home) = env.filled("KITBAG_HOME") {
            let home = env.path(home, env.cwd());
            return Self {
                config: home.join("config"),
                state: home.join("state"),
                cache: home.join("cache"),
            };
        }
        let home = env.home().map_or_else(|| PathBuf::from("/nonexistent"), ToOwned::to_owned);
        let base = |variable: &str, windows: &str, otherwise: &str| {
            let absolute = env.filled(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let windows = env.filled(windows).filter(|_| cfg!(windows)).map(PathBuf::from);
            absolute.or(windows).unwrap_or_else(|| home.join(otherwise)).join("kitbag")
        };
        Self {
            config: base("XDG_CONFIG_HOME", "APPDATA", ".config"),
            state: base("XDG_STATE_HOME", "LOCALAPPDATA", ".local/state"),
            cache: base("XDG_CACHE_HOME", "LOCALAPPDATA", ".cache"),
        }
    }

    /// Kitbag's settings.
    pub fn settings(&self) -> PathBuf {
        self.config.join("kitbag.toml")
    }

    /// The shared registry.
    pub fn registry(&self) -> PathBuf {
        self.config.join("mcp.json")
    }

    /// The approvals given so far.
    pub fn approvals(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    /// The answers given so far, where no store keeps them.
    pub fn answers(&self) -> PathBuf {
        self.state.join("secrets.json")
    }

    /// Written whenever a store is given an answer, for programs that follow files.
    pub fn answered(&self) -> PathBuf {
        self.state.join("answered")
    }

    /// Servers, one a file, with a folder for each user.
    pub fn servers(&self) -> PathBuf {
        self.config.join("servers")
    }
}
