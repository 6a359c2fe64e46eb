//! Where the files of a result go: into the folder that was asked for, else into one of the state folder, which a call
//! has for itself. What is kept there is bounded; the oldest go first.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kitbag::{Limits, UserId};
use kitbag_core::text::rfc3339_millis;

use crate::exit::{Exit, Failure};

/// The most files that are looked at to find out what is kept.
const LOOKED_AT: usize = 100_000;

pub(in crate::commands) struct Folder {
    path: PathBuf,
    kind: Kind,
}

enum Kind {
    /// By `--save`.
    AskedFor,
    /// In the state folder: where all that is kept lies, and how many bytes of it there may be.
    Kept { all: PathBuf, most: usize },
}

impl Folder {
    /// One of its own in the state folder; it is made when there is something to save.
    pub(in crate::commands) fn kept(
        state: &Path,
        user: &UserId,
        limits: &Limits,
        since_epoch: Duration,
    ) -> Self {
        let all = state.join("results").join("files");
        // Names in order of time, fit for every file system; two calls of one moment are two processes.
        let time = rfc3339_millis(since_epoch).replace(':', "");
        let path = all.join(user.state_folder()).join(format!("{time}-{}", std::process::id()));
        Self { path, kind: Kind::Kept { all, most: limits.saved } }
    }

    /// One that was named; it is made if it is not there, before anything is called.
    pub(in crate::commands) fn asked_for(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(folder).map_err(|error| {
            let message = format!("files cannot be saved in {}: {error}", folder.display());
            Failure::new(Exit::Usage, message).hint("correct the path after --save")
        })?;
        Ok(Self { path: folder.to_owned(), kind: Kind::AskedFor })
    }

    pub(in crate::commands) fn is_asked_for(&self) -> bool {
        matches!(self.kind, Kind::AskedFor)
    }

    pub(in crate::commands) fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of one result it takes.
    pub(super) fn room(&self) -> usize {
        match &self.kind {
            Kind::AskedFor => usize::MAX,
            Kind::Kept { most, .. } => *most,
        }
    }

    /// Makes a file that is not there: nothing is written over, and no link followed.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if !self.is_asked_for() {
            let mut folders = DirBuilder::new();
            folders.recursive(true);
            #[cfg(unix)]
            {
                // Others on this machine have no business with results.
                std::os::unix::fs::DirBuilderExt::mode(&mut folders, 0o700);
                std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            }
            folders.create(&self.path)?;
        }
        options.open(self.path.join(name))
    }

    /// Removes what earlier calls left, the oldest first, until all of it is within the bound again.
    pub(super) fn make_room(&self) {
        let Kind::Kept { all, most } = &self.kind else { return };
        let within = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|at| at.path());
        let calls = within(all).flat_map(|user| within(&user).collect::<Vec<_>>());
        let sized = |call: PathBuf| {
            let sizes = within(&call).filter_map(|file| Some(fs::symlink_metadata(file).ok()?.len()));
            let size =
                sizes.map(|size| usize::try_from(size).unwrap_or(usize::MAX)).fold(0, usize::saturating_add);
            (call, size)
        };
        let mut calls: Vec<(PathBuf, usize)> = calls.take(LOOKED_AT).map(sized).collect();
        calls.sort_by(|(one, _), (other, _)| one.file_name().cmp(&other.file_name()));
        let mut total = calls.iter().map(|(_, size)| *size).fold(0, usize::saturating_add);
        for (call, size) in calls.iter().filter(|(call, _)| *call != self.path) {
            if total <= *most {
                return;
            }
            if fs::remove_dir_all(call).is_ok() {
                total = total.saturating_sub(*size);
            }
        }
    }
}
