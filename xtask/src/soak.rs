//! The long runs. `--short` is what every change must pass; the full size is run before a release and its
//! figures are kept in `docs/bench.md`.

use anyhow::bail;

use crate::{Usage, conformance, shell};

/// Each long run with its short size.
const SOAKS: [Soak; 2] = [
    // Calls, starts of a good server, starts of one that leaves a stubborn family.
    Soak { example: "soak_link", short: &["5000", "50", "3"] },
    // Calls by each transport.
    Soak { example: "soak_http", short: &["5000"] },
];

/// How often the suite is run against the endpoint.
const REPEATS: usize = 12;

struct Soak {
    example: &'static str,
    short: &'static [&'static str],
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    match args {
        [name] if name == "store" => return kills(),
        [name] if name == "agents" => return conversations(),
        [name] if name == "conformance" => return conformance::repeat(REPEATS),
        _ => {}
    }
    let short = match args {
        [] => false,
        [flag] if flag == "--short" => true,
        _ => bail!(Usage("soak takes --short, store, agents, conformance or nothing".to_owned())),
    };
    let mut outcome = Ok(());
    // All of them, also when one fails: one look shows all that is broken.
    for Soak { example, short: sizes } in SOAKS {
        let mut cargo =
            shell::cargo(&["run", "--release", "--package", "kitbag", "--example", example, "--"]);
        outcome = outcome.and(shell::run(cargo.args(sizes.iter().filter(|_| short))));
    }
    if short {
        outcome
    } else {
        outcome.and(histories()).and(conversations()).and(kills()).and(conformance::repeat(REPEATS))
    }
}

/// A thousand random histories against real servers; every change passes thirty of them with the other tests.
fn histories() -> anyhow::Result<()> {
    let args = ["test", "--workspace", "--test", "it", "--", "live::histories", "--nocapture"];
    shell::run(shell::cargo(&args).env("KITBAG_SOAK", "1"))
}

/// A thousand random conversations of agents; every change passes thirty of them with the other tests.
fn conversations() -> anyhow::Result<()> {
    let args = ["test", "--package", "kitbag-agent", "--test", "it", "--", "histories::", "--nocapture"];
    shell::run(shell::cargo(&args).env("KITBAG_FULL_TESTS", "1"))
}

/// Writers of the store, killed a thousand times on each database; every change passes thirty with the other tests.
fn kills() -> anyhow::Result<()> {
    let args = ["test", "--workspace", "--test", "it", "--", "crash::t44", "--nocapture"];
    shell::run(shell::cargo(&args).env("KITBAG_FULL_TESTS", "1"))
}
