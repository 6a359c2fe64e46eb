//! Approvals for what a file of the working folder would start. Each is bound to a hash of everything that
//! decides what runs, so it is void as soon as any of it changes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::file::{self, FileError};
use crate::discover::Folders;

/// One approval.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TrustEntry {
    /// The file.
    pub file: PathBuf,
    /// The server, or `kitbag.toml` for a folder's settings.
    pub server: String,
    /// What was approved.
    pub hash: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    version: u32,
    approvals: Vec<TrustEntry>,
}

/// The approvals given so far. A damaged file counts as none: what is not surely approved is held.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    file: PathBuf,
    approvals: Vec<TrustEntry>,
    damaged: bool,
}

impl TrustStore {
    /// Reads the approvals.
    pub fn load(folders: &Folders) -> Self {
        let file = folders.approvals();
        let stored = match file::read(&file) {
            Ok(text) if text.trim().is_empty() => Some(Stored::default()),
            Ok(text) => serde_json::from_str(&text).ok(),
            Err(_) => None,
        };
        Self { damaged: stored.is_none(), approvals: stored.unwrap_or_default().approvals, file }
    }

    /// Whether the file of approvals cannot be read.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// The file of approvals.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// All approvals.
    pub fn approvals(&self) -> &[TrustEntry] {
        &self.approvals
    }

    /// Whether just this was approved.
    pub fn holds(&self, approval: &TrustEntry) -> bool {
        self.approvals.contains(approval)
    }

    /// Adds approvals, replacing older ones for the same entries.
    pub fn approve(folders: &Folders, new: &[TrustEntry]) -> Result<Self, FileError> {
        Self::change(folders, |approvals| {
            approvals.retain(|old| !new.iter().any(|new| new.file == old.file && new.server == old.server));
            approvals.extend_from_slice(new);
        })
    }

    /// Takes approvals back; those of one file, or of one server in it.
    pub fn revoke(folders: &Folders, is_meant: impl Fn(&TrustEntry) -> bool) -> Result<Self, FileError> {
        Self::change(folders, |approvals| approvals.retain(|approval| !is_meant(approval)))
    }

    fn change(folders: &Folders, change: impl FnOnce(&mut Vec<TrustEntry>)) -> Result<Self, FileError> {
        let lock = file::lock(folders)?;
        let opened = lock.open(&folders.state.join("trust.json"))?;
        let mut trust = Self::load(folders);
        change(&mut trust.approvals);
        trust.approvals.sort();
        trust.damaged = false;
        let stored = Stored { version: 1, approvals: trust.approvals.clone() };
        opened.write(&(serde_json::to_string_pretty(&stored).unwrap_or_default() + "\n"))?;
        Ok(trust)
    }
}
