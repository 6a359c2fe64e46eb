//! Packages of npm and Python, exactly those of a committed lock file, installed below the target folder:
//! `cargo clean` takes them away, and nothing of the machine changes.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::shell;

pub(super) const NPM: Locked =
    Locked { name: "npm", files: &["servers/npm/package.json", "servers/npm/package-lock.json"], fill: npm };
pub(super) const HOSTS: Locked =
    Locked { name: "hosts", files: &["hosts/npm/package.json", "hosts/npm/package-lock.json"], fill: npm };
pub(super) const PY_NEW: Locked = Locked { name: "py-new", files: &["servers/py-new.txt"], fill: python };
pub(super) const PY_OLD: Locked = Locked { name: "py-old", files: &["servers/py-old.txt"], fill: python };
pub(super) const PY_PUBLISHED: Locked =
    Locked { name: "py-published", files: &["servers/py-published.txt"], fill: python };
pub(super) const PY_SDK: Locked = Locked { name: "py-sdk", files: &["sdk/requirements.txt"], fill: python };
pub(super) const PY_XIRCUITS: Locked =
    Locked { name: "py-xircuits", files: &["xircuits/requirements.txt"], fill: python };
pub(super) const PY_MODEL: Locked =
    Locked { name: "py-model", files: &["models/requirements.txt"], fill: python_alone };
pub(super) const CLIENTS: Locked = Locked {
    name: "clients",
    files: &["clients/npm/package.json", "clients/npm/package-lock.json"],
    fill: npm,
};
pub(super) const PY_CLIENTS_1: Locked =
    Locked { name: "py-clients-1", files: &["clients/py-1.txt"], fill: python };
pub(super) const PY_CLIENTS_2: Locked =
    Locked { name: "py-clients-2", files: &["clients/py-2.txt"], fill: python };
pub(super) const CONFORMANCE: Locked = Locked {
    name: "conformance",
    files: &["conformance/package.json", "conformance/package-lock.json"],
    fill: npm,
};
pub(super) const PEERS_NPM: Locked = Locked {
    name: "peers-npm",
    files: &["peers/npm/package.json", "peers/npm/package-lock.json"],
    fill: npm,
};
pub(super) const PEERS_MCP_PROXY: Locked =
    Locked { name: "peers-mcp-proxy", files: &["peers/mcp-proxy.txt"], fill: python };
pub(super) const PEERS_FASTMCP: Locked =
    Locked { name: "peers-fastmcp", files: &["peers/fastmcp.txt"], fill: python };

/// Written last, so that a folder without it is unfinished.
const STAMP: &str = ".stamp";

/// A folder that follows from its lock files.
pub(super) struct Locked {
    /// Its name below `target/tools`.
    name: &'static str,
    /// The files it follows from, below `testdata`; the last one holds the pins.
    files: &'static [&'static str],
    /// Fills the empty folder, given where those files are.
    fill: fn(&Path, &[PathBuf]) -> anyhow::Result<()>,
}

impl Locked {
    /// Whether the folder was made from the files as they are now.
    pub(super) fn is_there(&self) -> bool {
        self.tools().is_ok_and(|tools| self.is_in(&tools, &self.sources()))
    }

    pub(super) fn install(&self) -> anyhow::Result<()> {
        self.install_in(&self.tools()?, &self.sources())
    }

    fn install_in(&self, tools: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
        fs::create_dir_all(tools).with_context(|| format!("cannot make {}", tools.display()))?;
        let lock = tools.join(format!("{}.lock", self.name));
        let lock = File::create(&lock).with_context(|| format!("cannot write {}", lock.display()))?;
        lock.lock().context("cannot wait for another installation")?;
        // The other one may have done our work.
        if self.is_in(tools, sources) {
            return Ok(());
        }
        let folder = tools.join(self.name);
        // First of all: a half-removed folder must not look finished.
        let _ = fs::remove_file(folder.join(STAMP));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
        }
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        // Taken before, so that files which change meanwhile are noticed the next time.
        let stamp = stamp(&folder, sources)?;
        (self.fill)(&folder, sources)?;
        fs::write(folder.join(STAMP), stamp).context("cannot write the stamp")
    }

    fn is_in(&self, tools: &Path, sources: &[PathBuf]) -> bool {
        let folder = tools.join(self.name);
        let interpreter = folder.join("bin/python");
        // A virtual environment leads to a Python of the system, which may be gone.
        let leads_nowhere = interpreter.is_symlink() && !interpreter.exists();
        let made_from = fs::read_to_string(folder.join(STAMP)).ok();
        !leads_nowhere && made_from.is_some() && made_from == stamp(&folder, sources).ok()
    }

    fn sources(&self) -> Vec<PathBuf> {
        let testdata = shell::root().join("testdata");
        self.files.iter().map(|file| testdata.join(file)).collect()
    }

    /// Where it is, or will be.
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        Ok(self.tools()?.join(self.name))
    }

    fn tools(&self) -> anyhow::Result<PathBuf> {
        Ok(shell::target()?.join("tools"))
    }
}

/// What a folder follows from, in short. Its path too: a virtual environment cannot be moved.
fn stamp(folder: &Path, sources: &[PathBuf]) -> anyhow::Result<String> {
    let mut hasher = DefaultHasher::new();
    folder.hash(&mut hasher);
    for source in sources {
        fs::read(source).with_context(|| format!("cannot read {}", source.display()))?.hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn npm(folder: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    for source in sources {
        let Some(name) = source.file_name() else { bail!("{} is no file", source.display()) };
        fs::copy(source, folder.join(name)).with_context(|| format!("cannot copy {}", source.display()))?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(folder);
    shell::run(&mut npm)
}

fn python(folder: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    pip(folder, sources, &[])
}

/// The packages themselves, and nothing that they depend on.
fn python_alone(folder: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    pip(folder, sources, &["--no-deps"])
}

fn pip(folder: &Path, sources: &[PathBuf], flags: &[&str]) -> anyhow::Result<()> {
    shell::run(shell::at_root("python3").args(["-m", "venv"]).arg(folder))?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]);
    // Built packages alone: no script of theirs runs here.
    pip.args(["--require-hashes", "--only-binary", ":all:"]).args(flags);
    for source in sources {
        pip.arg("--requirement").arg(source);
    }
    shell::run(pip.current_dir(shell::root()))
}

#[cfg(test)]
mod tests;
