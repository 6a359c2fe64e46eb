//! What of our own environment reaches a program: a documented list of variables, and the folder it starts in.

use std::path::PathBuf;

use kitbag_core::names;
use kitbag_core::text::{looks_secret, names_secret};

use crate::Env;

/// Variables every program gets: who and where we are, language, proxies, certificates, and where tools keep their
/// settings. None of them is meant to hold a secret, and one that does is left out ([`is_passed`]).
const PASSED: &[&str] = &[
    // The person and the machine.
    "HOME",
    "PATH",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    // Language.
    "LANG",
    "LANGUAGE",
    // Proxies and certificates.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "FTP_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "ftp_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "AWS_CA_BUNDLE",
    // Clouds and containers: which profile or cluster, never the credentials.
    "KUBECONFIG",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "CLOUDSDK_CONFIG",
    "CLOUDSDK_ACTIVE_CONFIG_NAME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
    // Languages and their package managers.
    "NVM_DIR",
    "NVM_BIN",
    "VOLTA_HOME",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "PNPM_HOME",
    "BUN_INSTALL",
    "DENO_DIR",
    "PYENV_ROOT",
    "PIPX_HOME",
    "PIPX_BIN_DIR",
    "CONDA_PREFIX",
    "VIRTUAL_ENV",
    "JAVA_HOME",
    "GOPATH",
    "GOROOT",
    "GOPROXY",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "ASDF_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    "PLAYWRIGHT_BROWSERS_PATH",
    "PUPPETEER_EXECUTABLE_PATH",
    "PUPPETEER_CACHE_DIR",
];

/// All variables whose names begin like this, too.
const PASSED_BEGINNINGS: &[&str] = &["LC_", "XDG_", "NPM_CONFIG_", "npm_config_", "UV_", "PIP_"];

#[cfg(windows)]
const PASSED_THERE: &[&str] = &[
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "HOMEDRIVE",
    "HOMEPATH",
    "PATHEXT",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "TEMP",
    "USERPROFILE",
];
#[cfg(not(windows))]
const PASSED_THERE: &[&str] = &[];

/// What reaches the person's own session: their keys by way of an agent, and their screen. Only entries that the
/// person wrote get these.
const SESSION: &[&str] = &["SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY"];

/// How much of our own environment a program gets, besides what its entry names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum EnvReach {
    /// What every program gets.
    #[default]
    Usual,
    /// The person's session, too: the entry is the person's own.
    Session,
    /// Everything: its settings say `env_pass = "all"`.
    All,
}

impl EnvReach {
    fn has(self, name: &str, value: &str) -> bool {
        match self {
            Self::All => true,
            Self::Session => SESSION.contains(&name) || is_passed(name, value),
            Self::Usual => is_passed(name, value),
        }
    }
}

/// Whether every program gets this variable. A package index or a proxy may have a password in its address, and a
/// tool's settings may be a token: those must be passed by name.
fn is_passed(name: &str, value: &str) -> bool {
    let is_listed = PASSED.contains(&name)
        || PASSED_THERE.contains(&name)
        || PASSED_BEGINNINGS.iter().any(|beginning| name.starts_with(beginning));
    is_listed && !has_secret(name, value)
}

fn has_secret(name: &str, value: &str) -> bool {
    // These name a file or folder, however secret what stands in it.
    let is_place = value.starts_with('/') || value.starts_with('~');
    let has_user = value.split_once("://").is_some_and(|(_, rest)| {
        rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
    });
    has_user || !is_place && !PASSED.contains(&name) && (names_secret(name) || looks_secret(value))
}

/// The variables of an environment that a program gets.
pub(super) fn variables(env: &Env, reach: EnvReach) -> impl Iterator<Item = (&str, &str)> {
    env.vars().filter(move |(name, value)| reach.has(name, value))
}

/// The variables that a program gets which a person starts through us, as if it were theirs: what every server gets, their
/// session, and those that are asked for by name.
pub fn program_variables(env: &Env, is_asked_for: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let reaches = |(name, value): &(&str, &str)| EnvReach::Session.has(name, value) || is_asked_for(name);
    env.vars().filter(reaches).map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A hash of what a program gets, and of the home that paths may begin with.
pub(crate) fn fingerprint(env: &Env, reach: EnvReach) -> String {
    let home = env.home().map(|home| home.to_string_lossy()).unwrap_or_default();
    let texts = variables(env, reach).flat_map(|(name, value)| [name, value]);
    names::fingerprint(&texts.chain([&*home]).collect::<Vec<_>>())
}

/// The folder a program starts in.
pub(crate) fn folder(cwd: Option<&str>, env: &Env) -> PathBuf {
    cwd.map_or_else(|| env.cwd().to_owned(), |cwd| env.path(cwd, env.cwd()))
}

#[cfg(test)]
mod tests;
