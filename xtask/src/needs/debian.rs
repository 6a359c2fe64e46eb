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

const INSTALL: [&str; 3] = ["install", "--yes", "--no-install-recommends"];

fn apt() -> Command {
    let mut apt = shell::at_root("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive");
    apt
}
