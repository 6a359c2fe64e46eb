//! The protocol's own test suite, run against the client everybody gets: each scenario starts a server of its own
//! and `kitbag conformance-client` at it.

use std::fs;

use anyhow::{Context, bail, ensure};

use crate::{Usage, needs, shell};

mod baseline;
mod suite;
mod table;

use baseline::Baseline;
use suite::Suite;
use table::Table;

/// The revisions of the protocol, each with the scenarios its release required.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const BASELINE: &str = "testdata/conformance/baseline.yml";

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    if !args.is_empty() {
        bail!(Usage("conformance takes no arguments".to_owned()));
    }
    let file = shell::root().join(BASELINE);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let baseline = Baseline::parse(&text).with_context(|| format!("cannot use {BASELINE}"))?;
    let suite = Suite::at(&needs::conformance()?)?;
    shell::run(&mut shell::cargo(&["build", "--locked", "--package", "kitbag-cli", "--bin", "kitbag"]))?;
    let target = shell::target()?;
    let (client, results) = (target.join("debug/kitbag"), target.join("conformance"));
    // What an earlier run left would look like this one's.
    if results.exists() {
        fs::remove_dir_all(&results).with_context(|| format!("cannot remove {}", results.display()))?;
    }
    let mut table = Table::default();
    for revision in REVISIONS {
        table.add(revision, suite.run(revision, &client, &results.join(revision))?);
    }
    print!("{}", table.shown(&baseline));
    println!("everything each client and check said is in {}", results.display());
    let wrong = baseline.compare(&table);
    ensure!(wrong.is_empty(), "the client is not as {BASELINE} says:\n  {}", wrong.join("\n  "));
    Ok(())
}
