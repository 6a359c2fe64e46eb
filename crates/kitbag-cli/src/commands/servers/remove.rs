//! `kitbag servers remove`.

use super::{done, registry};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let name = server_name(&args.name)?;
    let setup = context.setup()?;
    let file = registry(context, &setup)?.remove(&name, &setup.merged)?;
    done(context, "removed", &name, &file);
    Ok(Exit::Done)
}
