//! `kitbag completions`: a script that completes commands and flags.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::args::Args::command(), "kitbag", &mut script);
    context.print(String::from_utf8_lossy(&script));
    Ok(Exit::Done)
}
