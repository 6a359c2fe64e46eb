//! `kitbag man`: the manual pages, made from the same table of commands as `--help`.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::context::Context;
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write the page of every command into this folder; without it, the first page is printed
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let mut command = crate::args::Args::command();
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        let rendered = Man::new(command).render(&mut page);
        rendered.map_err(|error| Failure::new(Exit::Bug, format!("the page cannot be made: {error}")))?;
        context.print(String::from_utf8_lossy(&page));
        return Ok(Exit::Done);
    };
    // Help has a page of its own otherwise, for every command once more.
    command = command.disable_help_subcommand(true);
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|error| {
        let message = format!("cannot write manual pages to {}: {error}", folder.display());
        Failure::new(Exit::Usage, message).hint("name a folder you may write to")
    })?;
    context.remark(format!("wrote the manual pages to {}", folder.display()));
    Ok(Exit::Done)
}
