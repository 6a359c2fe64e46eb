//! The environment as a value: variables and the working folder, taken once at the door.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Environment variables and working folder, as a value. Programs are started in its working folder, so one without
/// ([`Env::default`]) suits only servers that are not programs.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    vars: BTreeMap<String, String>,
    cwd: PathBuf,
}

impl Env {
    /// Takes over variables and a working folder. Variables that are not text are left out.
    pub fn new(vars: impl IntoIterator<Item = (OsString, OsString)>, cwd: impl Into<PathBuf>) -> Self {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self { vars: vars.into_iter().filter_map(text).collect(), cwd: cwd.into() }
    }

    /// The same with one more variable.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A variable's value.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// All variables, in order of name.
    pub(crate) fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A variable's value unless it is blank.
    pub fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.trim().is_empty())
    }

    /// The working folder.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The user's home, when it is known.
    pub fn home(&self) -> Option<&Path> {
        self.filled("HOME").or_else(|| self.filled("USERPROFILE")).map(Path::new)
    }

    /// A path as people write it: `~/x`, or relative to a folder.
    pub fn path(&self, text: &str, base: &Path) -> PathBuf {
        match (text.strip_prefix('~'), self.home()) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with(['/', '\\']) => {
                home.join(rest.trim_start_matches(['/', '\\']))
            }
            _ => base.join(text),
        }
    }

    /// The program a command means: as a path, or the first one of that name on `PATH`. Only absolute parts of
    /// `PATH` count: an empty or relative one would find programs of the folder somebody happens to work in.
    pub fn program(&self, command: &str, base: &Path) -> Option<PathBuf> {
        let named = self.path(command, base);
        if command.contains(['/', '\\']) {
            return is_program(&named).then_some(named);
        }
        let folders =
            std::env::split_paths(self.get("PATH").unwrap_or_default()).filter(|folder| folder.is_absolute());
        let endings: Vec<String> = match self.get("PATHEXT").filter(|_| cfg!(windows)) {
            Some(endings) => endings.split(';').map(str::to_owned).collect(),
            None => vec![String::new()],
        };
        folders
            .flat_map(|folder| {
                endings.iter().map(move |end| folder.join(format!("{command}{end}"))).collect::<Vec<_>>()
            })
            .find(|path| is_program(path))
    }
}

/// Variables may hold secrets; only how many there are is shown.
impl std::fmt::Debug for Env {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Env").field("vars", &self.vars.len()).field("cwd", &self.cwd).finish()
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
