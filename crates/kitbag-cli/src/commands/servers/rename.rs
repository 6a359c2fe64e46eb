//! `kitbag servers rename`.

use std::path::PathBuf;

use kitbag_core::config::settings::Settings;

use super::{done, registry};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server
    name: String,
    /// Its new name
    new: String,
}

pub(super) fn run(context: &mut Context, args: &Args) -> Result<Exit, Failure> {
    let (name, new) = (server_name(&args.name)?, server_name(&args.new)?);
    let setup = context.setup()?;
    // Rules go by names: one that keeps something from this server would no longer know it.
    let says_name = |(file, _): &&(PathBuf, Settings)| {
        std::fs::read_to_string(file).is_ok_and(|text| text.contains(name.as_str()))
    };
    if let Some((file, _)) = setup.settings.iter().find(says_name) {
        let message = format!("{} names {name}, and its rules would not follow", file.display());
        return Err(Failure::new(Exit::Config, message).hint("change the name there first"));
    }
    let file = registry(context, &setup)?.rename(&name, &new, &setup.merged)?;
    done(context, "renamed", &new, &file);
    Ok(Exit::Done)
}
