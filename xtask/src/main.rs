//! House-keeping of the workspace, started as `cargo xtask <command>`, so that one toolchain builds the
//! product and checks it, with no script language in between.

use std::process::ExitCode;

mod api;
mod bench;
mod conformance;
mod docs;
mod examples;
mod files;
mod lean;
mod needs;
mod shell;
mod soak;
mod test;
mod tidy;

/// One row per command; help and the "unknown command" message are printed from it.
const COMMANDS: &[Command] = &[
    Command {
        name: "tidy",
        about: "check file sizes, stage order, module docs, docs/checks.md and that no test sleeps",
        run: tidy::run,
    },
    Command {
        name: "test",
        about: "install what the tests need, then run all of them [nextest args…]",
        run: test::run,
    },
    Command {
        name: "examples",
        about: "run the library's examples against real servers",
        run: examples::run,
    },
    Command { name: "bench", about: "run one benchmark: bench <name> [args…]", run: bench::run },
    Command {
        name: "soak",
        about: "run for long [store, agents, conformance]; --short as every change must pass",
        run: soak::run,
    },
    Command {
        name: "conformance",
        about: "run the protocol's own test suite [client, server]",
        run: conformance::run,
    },
    Command {
        name: "api",
        about: "count the library's public names and write docs/api.md; --check compares instead",
        run: api::run,
    },
    Command {
        name: "lean",
        about: "count what the library brings, and run a program with the smallest set of features",
        run: lean::run,
    },
    Command { name: "docs", about: "write the generated docs; --check compares instead", run: docs::run },
];

struct Command {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

/// A command line nobody can act on; it exits 2, where failed work exits 1.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Err(error) = dispatch(&args) else { return ExitCode::SUCCESS };
    eprintln!("error: {error:#}");
    ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
}

fn dispatch(args: &[String]) -> anyhow::Result<()> {
    let Some((name, rest)) = args.split_first() else { return help() };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        return help();
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(unknown("command", name, COMMANDS.iter().map(|command| command.name)));
    };
    (command.run)(rest)
}

fn help() -> anyhow::Result<()> {
    println!("usage: cargo xtask <command>\n");
    for command in COMMANDS {
        println!("  {:<11} {}", command.name, command.about);
    }
    Ok(())
}

/// The error for a word that is none of the allowed ones.
fn unknown(kind: &str, word: &str, allowed: impl Iterator<Item = &'static str>) -> anyhow::Error {
    let allowed: Vec<_> = allowed.collect();
    Usage(format!("unknown {kind} `{word}`, expected one of: {}", allowed.join(", "))).into()
}
