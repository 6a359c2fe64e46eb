//! The long runs. `--short` is what every change must pass; the full size is run before a release and its
//! figures are kept in `docs/bench.md`.

use anyhow::bail;

use crate::{Usage, shell};

/// Calls, starts of a good server, starts of one that leaves a stubborn family.
const SHORT: [&str; 3] = ["5000", "50", "3"];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let short = match args {
        [] => false,
        [flag] if flag == "--short" => true,
        _ => bail!(Usage("soak takes --short or nothing".to_owned())),
    };
    let mut cargo =
        shell::cargo(&["run", "--release", "--package", "kitbag", "--example", "soak_link", "--"]);
    shell::run(cargo.args(SHORT.iter().filter(|_| short)))
}
