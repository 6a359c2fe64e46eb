//! The long runs. `--short` is what every change must pass; the full size is run before a release and its
//! figures are kept in `docs/bench.md`.

use anyhow::bail;

use crate::{Usage, shell};

/// Each long run with its short size.
const SOAKS: [Soak; 2] = [
    // Calls, starts of a good server, starts of one that leaves a stubborn family.
    Soak { example: "soak_link", short: &["5000", "50", "3"] },
    // Calls by each transport.
    Soak { example: "soak_http", short: &["5000"] },
];

struct Soak {
    example: &'static str,
    short: &'static [&'static str],
}

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let short = match args {
        [] => false,
        [flag] if flag == "--short" => true,
        _ => bail!(Usage("soak takes --short or nothing".to_owned())),
    };
    let mut outcome = Ok(());
    // All of them, also when one fails: one look shows all that is broken.
    for Soak { example, short: sizes } in SOAKS {
        let mut cargo =
            shell::cargo(&["run", "--release", "--package", "kitbag", "--example", example, "--"]);
        outcome = outcome.and(shell::run(cargo.args(sizes.iter().filter(|_| short))));
    }
    if short { outcome } else { outcome.and(histories()) }
}

/// A thousand random histories against real servers; every change passes thirty of them with the other tests.
fn histories() -> anyhow::Result<()> {
    let args = ["test", "--package", "kitbag-cli", "--test", "it", "--", "live::histories", "--nocapture"];
    shell::run(shell::cargo(&args).env("KITBAG_SOAK", "1"))
}
