//! The one command that tests everything, the same by hand and in CI.

use std::process::Command;

use crate::{needs, shell};

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    needs::meet_all()?;
    // Both runs, also when the first fails: one look shows all that is broken.
    let tests = shell::run(for_this_place(runner().args(args)));
    let examples = shell::run(for_this_place(&mut shell::cargo(&["test", "--workspace", "--doc"])));
    tests.and(examples)
}

fn runner() -> Command {
    if shell::succeeds(&mut shell::cargo(&["nextest", "--version"])) {
        eprintln!("testing with nextest");
        return shell::cargo(&["nextest", "run", "--workspace"]);
    }
    eprintln!("testing with cargo test (nextest is not installed)");
    // The targets by name, because without them the examples in the docs would run here too.
    shell::cargo(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples"])
}

/// In CI a snapshot that differs must fail, not be written.
#[expect(
    clippy::disallowed_methods,
    reason = "the only look at the environment; no `Env` value reaches xtask"
)]
fn for_this_place(command: &mut Command) -> &mut Command {
    if std::env::var_os("CI").is_some() {
        command.env("INSTA_UPDATE", "no");
    }
    command
}
