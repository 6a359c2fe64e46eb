//! Entries written into another program's file: just where that program reads them, beside everything else.

use std::path::{Path, PathBuf};

use kitbag_core::Limits;
use kitbag_core::config::edit::{self, EditError, Edited, Editing, EntryChange, Home};
use kitbag_core::config::export::ExportTarget;
use kitbag_core::config::tree::{self, Format};
use kitbag_core::config::{Reading, Source};
use serde_json::Value;

use super::{RegistryError, file};
use crate::discover::Folders;

/// Sets each entry in another program's file and leaves the rest as it is. What was read is kept beside it;
/// where, if there was something and it changed.
pub fn export_into(
    folders: &Folders,
    target: ExportTarget,
    file: &Path,
    entries: &[(String, Value)],
) -> Result<Option<PathBuf>, RegistryError> {
    let lock = file::lock(folders)?;
    let opened = lock.open(file)?;
    let left = |error: EditError| RegistryError::Edit { file: file.to_owned(), error };
    let text = with_entries(target, file, opened.text()?, entries).map_err(left)?;
    if text == opened.text()? {
        return Ok(None);
    }
    Ok(opened.write_with_copy(&text)?)
}

fn with_entries(
    target: ExportTarget,
    file: &Path,
    before: &str,
    entries: &[(String, Value)],
) -> Result<String, EditError> {
    let limits = Limits::default();
    let reading = Reading { dialect: None, workspace: None, limits: &limits };
    let editing = Editing::theirs(file, target.dialect(), reading, target.home());
    let mut text = before.to_owned();
    for (name, entry) in entries {
        if let Edited::Text(edited) = editing.change(&text, name, EntryChange::Set { entry, words: None })? {
            text = edited;
        }
    }
    // Beside a list stands a switch for all of it.
    if let Home::List([first, ..]) = target.home() {
        let root = tree::parse(&Source::new(file, &text), Format::Json, &limits);
        let switch = [*first, "enabled"];
        if root.is_ok_and(|root| root.at_path(&switch).is_none()) {
            text = edit::set(&text, &switch, &true.into())?;
        }
    }
    let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    editing.check_others(before, &text, &names)?;
    Ok(text)
}
