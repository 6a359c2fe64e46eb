//! Where an added server is written: Kitbag's own file, or the project's `.mcp.json`.

use std::path::{Path, PathBuf};

use kitbag::files::{Registry, RegistryError, export_into, project_folders, read_file};
use kitbag::{ServerName, ServerSpec, Setup, Severity};
use kitbag_core::config::export::{self, ExportSecrets, ExportTarget};
use kitbag_core::config::layers::{EntryState, Layer};
use kitbag_core::config::{Dialect, Reading, read};
use serde_json::json;

use super::super::registry;
use super::{AddOptions, Named};
use crate::context::Context;
use crate::exit::{Exit, Failure};

/// The words other programs have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Scope {
    User,
    Project,
    Local,
}

/// A file to write into.
pub(super) struct Destination {
    file: File,
    replace: bool,
}

enum File {
    Ours(Registry),
    Project { setup: Box<Setup>, file: PathBuf },
}

impl Destination {
    pub(super) fn of(context: &mut Context, setup: &Setup, options: &AddOptions) -> Result<Self, Failure> {
        let file = match options.scope {
            Some(Scope::Project) if context.global.user.is_some() => {
                let failure = Failure::new(Exit::Usage, "--scope project cannot be used with --user");
                return Err(failure.hint("leave one of the two out"));
            }
            Some(Scope::Project) => {
                File::Project { setup: Box::new(setup.clone()), file: project_file(setup) }
            }
            scope => {
                if scope == Some(Scope::Local) {
                    context.remark(
                        "note: Kitbag has no servers for one folder alone; it is added for all folders",
                    );
                }
                File::Ours(registry(context, setup)?)
            }
        };
        Ok(Self { file, replace: options.force })
    }

    /// Writes all entries, or none; where each one went.
    pub(super) fn add(&self, entries: &[Named]) -> Result<Vec<PathBuf>, Failure> {
        match &self.file {
            File::Ours(registry) if self.replace => Ok(registry.replace_entries(entries)?),
            File::Ours(registry) => registry.add_entries(entries).map_err(|error| match error {
                error @ RegistryError::Duplicate { .. } => taken(error.to_string()),
                error => error.into(),
            }),
            File::Project { setup, file } => {
                let known = read_file(file, Dialect::by_id("claude-code"), setup.env().cwd(), &setup.limits);
                let known = known.map(|document| document.servers).unwrap_or_default();
                let twin =
                    known.iter().find(|loaded| entries.iter().any(|(name, _)| name.as_str() == loaded.name));
                if let Some(twin) = twin.filter(|_| !self.replace) {
                    return Err(taken(format!("{} is already there ({})", twin.name, twin.place)));
                }
                let specs =
                    entries.iter().map(|named| spec(named, setup)).collect::<Result<Vec<_>, Failure>>()?;
                let written = export::servers(ExportTarget::project(), &specs, ExportSecrets::Written);
                export_into(&setup.folders, ExportTarget::project(), file, &written.entries)?;
                Ok(entries.iter().map(|_| file.clone()).collect())
            }
        }
    }

    /// Says so when what was added is not what will be used.
    pub(super) fn warn(&self, context: &mut Context, setup: &Setup, name: &ServerName) {
        if matches!(self.file, File::Project { .. }) {
            let flags = context.flags();
            return context.remark(format!("it is held until you approve it: kitbag trust {name}{flags}"));
        }
        let above =
            |layer: &Layer| matches!(layer, Layer::Project | Layer::User(_) | Layer::Env | Layer::Flags);
        let row = setup
            .merged
            .servers
            .iter()
            .find(|row| row.name == name.as_str() && row.state == EntryState::Used && above(&row.layer));
        if let Some(row) = row.filter(|_| context.global.user.is_none()) {
            context.remark(format!("note: {} in {} is used instead", name, row.origin.place));
        }
    }
}

fn taken(message: String) -> Failure {
    Failure::new(Exit::Config, message).hint("choose another name, or add --force to replace it")
}

/// The nearest `.mcp.json` of the project, or a new one at its root.
fn project_file(setup: &Setup) -> PathBuf {
    let folders = project_folders(setup.env());
    let files = || folders.iter().map(|folder| folder.join(".mcp.json"));
    let known = files().rev().find(|file| file.exists());
    known.or_else(|| files().next()).unwrap_or_else(|| setup.env().cwd().join(".mcp.json"))
}

/// What an entry in our words means.
fn spec((name, entry): &Named, setup: &Setup) -> Result<ServerSpec, Failure> {
    let text = json!({ "mcpServers": { name.as_str(): entry } }).to_string();
    let reading = Reading { dialect: Dialect::by_id("kitbag"), workspace: None, limits: &setup.limits };
    let mut document = read(Path::new("<new entry>"), &text, reading);
    let loaded = document.servers.pop();
    let faults = loaded.iter().flat_map(|loaded| &loaded.faults).chain(&document.faults);
    let fault =
        faults.filter(|fault| fault.severity == Severity::Error).max_by_key(|fault| fault.hint.is_some());
    match (fault, loaded.as_ref().and_then(|loaded| loaded.spec.clone())) {
        (None, Some(spec)) => Ok(spec),
        (fault, _) => {
            let why = fault.map_or("has neither a command nor a url", |fault| fault.message.as_str());
            let failure = Failure::new(Exit::Config, format!("{name} cannot be added: {why}"));
            Err(Failure { hint: fault.and_then(|fault| fault.hint.clone()), ..failure })
        }
    }
}
