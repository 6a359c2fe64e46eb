//! The protocol's own test suite. Against the client everybody gets: each scenario starts a server of its own and
//! `kitbag conformance-client` at it. Against the endpoint: a server on the official SDK, directly, and behind
//! `kitbag serve`.

use std::fs;

use anyhow::{Context, bail, ensure};

use crate::{Usage, needs, shell};

mod baseline;
mod served;
mod suite;
mod table;

use baseline::{Baseline, Side};
use served::{Served, WAYS, Way};
use suite::Suite;
use table::Table;

/// The revisions of the protocol, each with the scenarios its release required.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
const BASELINE: &str = "testdata/conformance/baseline.yml";

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let sides = match args {
        [] => vec![Side::Client, Side::Server],
        [side] if side == "client" => vec![Side::Client],
        [side] if side == "server" => vec![Side::Server],
        _ => bail!(Usage("conformance takes client, server or nothing".to_owned())),
    };
    let run = Run::prepare()?;
    let mut wrong = Vec::new();
    for side in sides {
        wrong.extend(if side == Side::Client { run.client()? } else { run.server()? });
    }
    println!("everything each scenario found is in {}", run.results.display());
    ensure!(wrong.is_empty(), "not as {BASELINE} says:\n  {}", wrong.join("\n  "));
    Ok(())
}

/// The server's side again and again: what passes once may still be a race.
pub(crate) fn repeat(times: usize) -> anyhow::Result<()> {
    let run = Run::prepare()?;
    for time in 1..=times {
        let wrong = run.server()?;
        ensure!(wrong.is_empty(), "at run {time} of {times}:\n  {}", wrong.join("\n  "));
    }
    println!("{times} runs without a difference");
    Ok(())
}

/// Everything that is needed, built and installed.
struct Run {
    suite: Suite,
    baseline: Baseline,
    programs: std::path::PathBuf,
    results: std::path::PathBuf,
}

impl Run {
    fn prepare() -> anyhow::Result<Self> {
        let file = shell::root().join(BASELINE);
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let baseline = Baseline::parse(&text).with_context(|| format!("cannot use {BASELINE}"))?;
        let suite = Suite::at(&needs::conformance()?)?;
        shell::build(&["--bin", "kitbag", "--bin", "everything-mcp"])?;
        let target = shell::target()?;
        let (programs, results) = (target.join("debug"), target.join("conformance"));
        // What an earlier run left would look like this one's.
        if results.exists() {
            fs::remove_dir_all(&results).with_context(|| format!("cannot remove {}", results.display()))?;
        }
        Ok(Self { suite, baseline, programs, results })
    }

    /// What is not as expected of the client.
    fn client(&self) -> anyhow::Result<Vec<String>> {
        let mut table = Table::default();
        for revision in REVISIONS {
            let results = self.results.join("client").join(revision);
            table.add(revision, self.suite.client(revision, &self.programs.join("kitbag"), &results)?);
        }
        println!("kitbag as a client");
        print!("{}", table.shown(&self.baseline, Side::Client));
        Ok(self.baseline.compare(&table, Side::Client))
    }

    /// What is not as expected of the endpoint.
    fn server(&self) -> anyhow::Result<Vec<String>> {
        let mut wrong = Vec::new();
        for way in WAYS {
            let (table, side) = (self.served(way)?, way.side());
            println!("{way}");
            print!("{}", table.shown(&self.baseline, side));
            let found = match way {
                // What is not required of it is not looked at: it is not ours.
                Way::Directly => table.failing_scored(),
                Way::Through(..) => self.baseline.compare(&table, side),
            };
            wrong.extend(found.into_iter().map(|text| format!("{way}: {text}")));
        }
        Ok(wrong)
    }

    fn served(&self, way: Way) -> anyhow::Result<Table> {
        let mut table = Table::default();
        for revision in REVISIONS {
            let results = self.results.join("server").join(way.folder()).join(revision);
            fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
            // A server of its own: what one revision changed is not there in the other.
            let served = Served::start(way, &self.programs, &results)?;
            table.add(revision, self.suite.server(revision, served.url(), &results)?);
            served.end()?;
        }
        Ok(table)
    }
}
