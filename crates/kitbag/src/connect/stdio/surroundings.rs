//! What of our own surroundings reaches every program: a few variables, and the folder it starts in.

use std::path::PathBuf;

use kitbag_core::names;

use crate::Env;

/// Variables every program needs to find its way; everything else must be declared.
const PASSED: [&str; 14] = [
    "HOME",
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "TZ",
    "XDG_RUNTIME_DIR",
    "SSL_CERT_FILE",
];
#[cfg(windows)]
const PASSED_THERE: [&str; 9] = [
    "APPDATA",
    "LOCALAPPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "PATHEXT",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "TEMP",
    "USERPROFILE",
];
#[cfg(not(windows))]
const PASSED_THERE: [&str; 0] = [];

/// The variables of an environment that every program gets.
pub(super) fn variables(env: &Env) -> impl Iterator<Item = (&'static str, &str)> {
    let names = PASSED.into_iter().chain(PASSED_THERE);
    names.filter_map(|name| Some((name, env.get(name)?)))
}

/// A hash of all that every program gets, and of the home that paths may begin with.
pub(crate) fn fingerprint(env: &Env) -> String {
    let home = env.home().map(|home| home.to_string_lossy()).unwrap_or_default();
    let texts = variables(env).flat_map(|(name, value)| [name, value]);
    names::fingerprint(&texts.chain([&*home]).collect::<Vec<_>>())
}

/// The folder a program starts in.
pub(crate) fn folder(cwd: Option<&str>, env: &Env) -> PathBuf {
    cwd.map_or_else(|| env.cwd().to_owned(), |cwd| env.path(cwd, env.cwd()))
}
