//! What the tests need beyond the toolchain, one row each, so that a fresh machine needs nothing installed by
//! hand and a missing thing is named before the first test runs.

mod debian;
mod locked;

use std::path::PathBuf;

use anyhow::{Context, ensure};

use crate::shell;

/// In this order: a row may use what an earlier one installed.
const NEEDS: &[Need] = &[
    Need {
        what: "the crates of Cargo.lock",
        check: || shell::succeeds(shell::cargo(FETCH).arg("--offline")),
        install: || shell::run(&mut shell::cargo(FETCH)),
    },
    Need {
        what: "git",
        check: || shell::succeeds(shell::at_root("git").arg("--version")),
        install: || debian::install("git"),
    },
    Need { what: "PostgreSQL", check: debian::has_postgresql, install: || debian::install("postgresql") },
    VENV,
    Need {
        what: "the MCP servers of testdata/servers/npm",
        check: || locked::NPM.is_there(),
        install: || locked::NPM.install(),
    },
    Need {
        what: "the coding programs of testdata/hosts/npm",
        check: || locked::HOSTS.is_there(),
        install: || locked::HOSTS.install(),
    },
    PYTHON_SERVERS,
    Need {
        what: "the MCP servers of testdata/servers/py-old.txt",
        check: || locked::PY_OLD.is_there(),
        install: || locked::PY_OLD.install(),
    },
    Need {
        what: "the MCP servers of testdata/servers/py-published.txt",
        check: || locked::PY_PUBLISHED.is_there(),
        install: || locked::PY_PUBLISHED.install(),
    },
    Need {
        what: "the providers' SDKs of testdata/sdk/requirements.txt",
        check: || locked::PY_SDK.is_there(),
        install: || locked::PY_SDK.install(),
    },
    Need {
        what: "the MCP clients of testdata/clients/npm",
        check: || locked::CLIENTS.is_there(),
        install: || locked::CLIENTS.install(),
    },
    Need {
        what: "the MCP clients of testdata/clients/py-1.txt",
        check: || locked::PY_CLIENTS_1.is_there(),
        install: || locked::PY_CLIENTS_1.install(),
    },
    Need {
        what: "the MCP clients of testdata/clients/py-2.txt",
        check: || locked::PY_CLIENTS_2.is_there(),
        install: || locked::PY_CLIENTS_2.install(),
    },
    Need {
        what: "the Xircuits of testdata/xircuits/requirements.txt",
        check: || locked::PY_XIRCUITS.is_there(),
        install: || locked::PY_XIRCUITS.install(),
    },
    Need {
        what: "the model of testdata/models/requirements.txt",
        check: || locked::PY_MODEL.is_there(),
        install: || locked::PY_MODEL.install(),
    },
];

const VENV: Need = Need {
    what: "Python's venv",
    check: || shell::succeeds(shell::at_root("python3").args(["-c", "import venv, ensurepip"])),
    install: || debian::install("python3-venv"),
};

const PYTHON_SERVERS: Need = Need {
    what: "the MCP servers of testdata/servers/py-new.txt",
    check: || locked::PY_NEW.is_there(),
    install: || locked::PY_NEW.install(),
};

/// Only `cargo xtask conformance` needs it.
const CONFORMANCE: Need = Need {
    what: "the suite of testdata/conformance",
    check: || locked::CONFORMANCE.is_there(),
    install: || locked::CONFORMANCE.install(),
};

/// Only `cargo xtask bench serve --peers` needs them.
const PEERS: &[Need] = &[
    VENV,
    Need {
        what: "the gateway of testdata/peers/mcp-proxy.txt",
        check: || locked::PEERS_MCP_PROXY.is_there(),
        install: || locked::PEERS_MCP_PROXY.install(),
    },
    Need {
        what: "the gateway of testdata/peers/fastmcp.txt",
        check: || locked::PEERS_FASTMCP.is_there(),
        install: || locked::PEERS_FASTMCP.install(),
    },
    Need {
        what: "the gateway of testdata/peers/npm",
        check: || locked::PEERS_NPM.is_there(),
        install: || locked::PEERS_NPM.install(),
    },
];

/// The crates of this machine's platform alone: the tests of no other run here.
const FETCH: &[&str] = &["fetch", "--locked", "--target", "host-tuple"];

struct Need {
    what: &'static str,
    /// Whether it is there; quick, because it runs each time.
    check: fn() -> bool,
    install: fn() -> anyhow::Result<()>,
}

/// Installs what is missing. A need that cannot be met is an error: its tests must not be skipped unseen.
pub(crate) fn meet_all() -> anyhow::Result<()> {
    NEEDS.iter().try_for_each(Need::meet)
}

/// The folder of published servers in Python, installed if it was missing.
pub(crate) fn python_servers() -> anyhow::Result<PathBuf> {
    VENV.meet()?;
    PYTHON_SERVERS.meet()?;
    locked::PY_NEW.folder()
}

/// The folder of the conformance suite, installed if it was missing.
pub(crate) fn conformance() -> anyhow::Result<PathBuf> {
    CONFORMANCE.meet()?;
    locked::CONFORMANCE.folder()
}

/// What the endpoint is measured beside, installed if it was missing.
pub(crate) fn peers() -> anyhow::Result<()> {
    PEERS.iter().try_for_each(Need::meet)
}

impl Need {
    fn meet(&self) -> anyhow::Result<()> {
        if (self.check)() {
            return Ok(());
        }
        eprintln!("installing {}", self.what);
        (self.install)().with_context(|| format!("the tests need {}", self.what))?;
        ensure!(
            (self.check)(),
            "the tests need {}, which is still missing after its installation",
            self.what
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;
