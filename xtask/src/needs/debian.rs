//! Packages of the system, by apt, and only those that are missing.

use std::process::Command;

use crate::shell;

pub(super) fn install(package: &str) -> anyhow::Result<()> {
    // A fresh machine has no lists yet, another one has no need to fetch them again.
    shell::run(apt().args(INSTALL).arg(package)).or_else(|_| {
        shell::run(apt().arg("update"))?;
        shell::run(apt().args(INSTALL).arg(package))
    })
}

/// Whether some version of the server is there, which its package keeps off the path.
pub(super) fn has_postgresql() -> bool {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin/initdb").exists())
}

const INSTALL: [&str; 3] = ["install", "--yes", "--no-install-recommends"];

fn apt() -> Command {
    let mut apt = shell::at_root("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}
