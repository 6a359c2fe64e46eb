//! Reading files again: one that cannot be read now keeps the text it had when it last could. Half-written files
//! and lost permissions change nothing of what a file said.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kitbag_core::config::settings::{self, Settings};
use kitbag_core::config::{Dialect, Document, Reading, read};
use kitbag_core::{Fault, Limits, Severity};

use super::stamps::Stamps;
use crate::discover::{FolderOwner, folder_files, text_of, unread};

/// The texts of files as they were when they could last be read, by path.
pub(super) type Texts = BTreeMap<PathBuf, Arc<str>>;

/// Reads files, remembering their texts and what each looked like before.
pub(super) struct Files<'a> {
    before: Option<&'a Texts>,
    pub(super) texts: Texts,
    pub(super) stamps: Stamps,
    /// Files of which nothing is known, not even what they said before.
    pub(super) lost: Vec<PathBuf>,
}

impl<'a> Files<'a> {
    /// With what an earlier look read, if there was one.
    pub(super) fn new(before: Option<&'a Texts>) -> Self {
        Self { before, texts: Texts::new(), stamps: Stamps::default(), lost: Vec::new() }
    }

    /// A file's text as it is now, if it is there.
    pub(super) fn text(&mut self, file: &Path, limits: &Limits) -> Result<Option<String>, Box<Fault>> {
        self.stamps.note(file);
        text_of(file, limits)
    }

    /// A file's text, or the one before where it cannot be read now; and why it cannot.
    pub(super) fn kept_text(&mut self, file: &Path, limits: &Limits) -> (Option<Arc<str>>, Option<Fault>) {
        match self.text(file, limits) {
            Ok(None) => (None, None),
            Ok(Some(text)) => {
                let text: Arc<str> = text.into();
                self.texts.insert(file.to_owned(), text.clone());
                (Some(text), None)
            }
            Err(fault) => (self.earlier(file), Some(*fault)),
        }
    }

    /// A file of servers, if it is there.
    pub(super) fn document(
        &mut self,
        file: &Path,
        dialect: Option<&'static Dialect>,
        workspace: &Path,
        limits: &Limits,
    ) -> Option<Document> {
        let parse = |text: &str| read(file, text, Reading { dialect, workspace: Some(workspace), limits });
        let document = match self.text(file, limits) {
            Ok(None) => return None,
            Ok(Some(text)) => {
                let document = parse(&text);
                if !is_lost(&document) {
                    self.texts.insert(file.to_owned(), text.into());
                    return Some(document);
                }
                document
            }
            Err(fault) => unread(file, dialect, *fault),
        };
        let Some(before) = self.earlier(file) else {
            self.lost.push(file.to_owned());
            return Some(document);
        };
        let mut kept = parse(&before);
        kept.faults.extend(document.faults);
        Some(kept)
    }

    /// The files of a folder. One that cannot be looked into has those it had before.
    pub(super) fn of_folder(
        &mut self,
        folder: &Path,
        kind: FolderOwner,
        limits: &Limits,
    ) -> (Vec<PathBuf>, Vec<Fault>) {
        self.stamps.note(folder);
        let (files, faults) = folder_files(folder, kind, limits);
        let is_closed = files.is_empty() && faults.iter().any(|fault| fault.severity == Severity::Error);
        match self.before.filter(|_| is_closed) {
            Some(before) => {
                let inside = |file: &&PathBuf| file.parent() == Some(folder);
                (before.keys().filter(inside).cloned().collect(), faults)
            }
            None => (files, faults),
        }
    }

    /// Settings by their text, which was read once by the caller; what they said before where this cannot be
    /// understood.
    pub(super) fn settings(&mut self, file: &Path, text: &str, limits: &Limits) -> (Settings, Vec<Fault>) {
        let (read, faults) = settings::read(file, text, limits);
        if !read.unread {
            self.texts.insert(file.to_owned(), text.into());
            return (read, faults);
        }
        self.earlier_settings(file, limits).map_or((read, faults.clone()), |before| (before, faults))
    }

    /// What settings said that can no longer be read at all.
    pub(super) fn earlier_settings(&mut self, file: &Path, limits: &Limits) -> Option<Settings> {
        let before = self.earlier(file)?;
        Some(settings::read(file, &before, limits).0)
    }

    /// What a file said before, whether or not it still counts.
    pub(super) fn before(&self, file: &Path) -> Option<Arc<str>> {
        self.before?.get(file).cloned()
    }

    fn earlier(&mut self, file: &Path) -> Option<Arc<str>> {
        let text = self.before(file)?;
        self.texts.insert(file.to_owned(), text.clone());
        Some(text)
    }
}

/// Whether nothing of a file could be used.
fn is_lost(document: &Document) -> bool {
    document.servers.is_empty()
        && document.toggles.is_empty()
        && document.faults.iter().any(|fault| fault.severity == Severity::Error)
}
