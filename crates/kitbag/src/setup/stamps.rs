//! What files looked like before they were read. Whether one changed since can be told at any time, and what changes
//! while it is read, or while what it says is put in place, counts as changed.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Every file and folder that decides something, as it was before anyone looked into it.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamps(BTreeMap<PathBuf, Option<Stamp>>);

impl Stamps {
    /// Looks at a file or folder that is about to be read; the first look counts.
    pub(super) fn note(&mut self, path: &Path) {
        if !self.0.contains_key(path) {
            self.renew(path);
        }
    }

    /// Looks at one that is about to be read again.
    pub(super) fn renew(&mut self, path: &Path) {
        self.0.insert(path.to_owned(), Stamp::of(path));
    }

    /// Whether any of them looks different by now.
    pub(super) fn are_stale(&self) -> bool {
        self.0.iter().any(|(path, stamp)| Stamp::of(path) != *stamp)
    }
}

/// What a file or folder looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamp {
    File {
        modified: Option<SystemTime>,
        len: u64,
    },
    /// By the names in it: its time changes as well when somebody writes a file that is not read.
    Folder(u64),
}

impl Stamp {
    /// None when it is not there.
    fn of(path: &Path) -> Option<Self> {
        let meta = std::fs::metadata(path).ok()?;
        if meta.is_dir() {
            return Some(Self::Folder(names(path)));
        }
        Some(Self::File { modified: meta.modified().ok(), len: meta.len() })
    }
}

/// The same number for the same names, in whichever order they are listed.
fn names(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().fold(0, |sum: u64, entry| {
        let mut hasher = DefaultHasher::new();
        entry.file_name().hash(&mut hasher);
        sum.wrapping_add(hasher.finish())
    })
}
