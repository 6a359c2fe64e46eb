//! The `kitbag` command: arguments in, one command run, an exit code out.

mod agents;
mod args;
mod arguments;
mod commands;
mod context;
mod exit;
mod follow;
mod json;
mod keyboard;
mod link_args;
mod live;
mod log;
mod markdown;
mod nothing;
mod offered;
mod present;
mod programs;
mod report;
#[cfg(unix)]
mod signals;
mod snippets;
mod starting;
mod store;
mod terminal;
mod transcripts;
mod unused;
mod usage;

use std::process::ExitCode;

use clap::Parser as _;

use args::Args;
use context::Context;
use exit::Exit;

fn main() -> ExitCode {
    // First of all: this very process may have been started to guard a server.
    kitbag::guard::init();
    commands::completions::answer_if_asked();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return exit::usage(&error),
    };
    let mut context = Context::new(args.global);
    let outcome = commands::run(&mut context, args.command);
    let exit = outcome.unwrap_or_else(|failure| {
        context.failed(&failure);
        failure.exit
    });
    match context.finish() {
        Ok(()) => exit.into(),
        // Whoever read our output went away; there is nobody to tell.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Exit::Done.into(),
        Err(_) => Exit::Bug.into(),
    }
}
