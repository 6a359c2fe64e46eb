//! `kitbag servers enable` and `disable`.

use std::path::PathBuf;

use kitbag_core::config::layers::EntryState;
use kitbag_core::config::settings::Settings;

use super::{done, registry};
use crate::context::{Context, server_name};
use crate::exit::{Exit, Failure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server
    name: String,
}

pub(super) fn run(context: &mut Context, args: &Args, enabled: bool) -> Result<Exit, Failure> {
    let name = server_name(&args.name)?;
    let setup = context.setup()?;
    let says_otherwise = |(_, settings): &&(PathBuf, Settings)| {
        settings
            .servers
            .iter()
            .any(|(known, over)| known == name.as_str() && over.value.enabled == Some(!enabled))
    };
    if let Some((file, _)) = setup.settings.iter().find(says_otherwise) {
        let message = format!("[servers.{name}] in {} says enabled = {}", file.display(), !enabled);
        return Err(Failure::new(Exit::Config, message).hint("change it there"));
    }
    let file = registry(context, &setup)?.switch(&name, enabled, &setup.merged)?;
    done(context, if enabled { "enabled" } else { "disabled" }, &name, &file);
    match setup.merged.get(&name).map(|row| row.state) {
        Some(EntryState::Found) => context.remark(format!(
            "note: it is another program's and not used yet; `kitbag servers import {name}` takes it over"
        )),
        Some(EntryState::Held) => {
            context.remark(format!("note: it is held; `kitbag trust {name}` approves it"))
        }
        _ => {}
    }
    Ok(Exit::Done)
}
