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
    // What was removed may have been only a switch; the server itself stands elsewhere and counts again.
    let elsewhere = setup.merged.get(&name).filter(|row| *row.origin.place.file != *file);
    if let Some(row) = elsewhere {
        context.remark(format!("{name} is still defined in {}, which is used from now on", row.origin.place));
    }
    done(context, "removed", &name, &file);
    Ok(Exit::Done)
}
