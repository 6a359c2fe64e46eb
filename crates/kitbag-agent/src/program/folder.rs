//! The folder of one run: only its user can look into it, and it goes with the run. What a killed process left is taken away
//! by the next run: a folder is in use as long as somebody holds the lock of its file.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;

use super::ProgramError;

/// Whoever holds its lock uses the folder.
const LOCK: &str = "lock";

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    path: PathBuf,
    _lock: File,
}

impl PrivateFolder {
    /// A new one below a folder that is made where it is missing.
    pub(super) fn new(below: &Path) -> Result<Self, ProgramError> {
        let failed = |path: &Path, error: io::Error| failed(path, &error);
        builder().recursive(true).create(below).map_err(|error| failed(below, error))?;
        // One at a time: a folder whose lock is not held yet is not taken for one that was left.
        let making = File::create(below.join(LOCK)).and_then(|making| making.lock().map(|()| making));
        let _making = making.map_err(|error| failed(below, error))?;
        sweep(below);
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| failed(below, error.into()))?;
        let path = below.join(HEXLOWER.encode(&bytes));
        builder().create(&path).map_err(|error| failed(&path, error))?;
        let lock = File::create(path.join(LOCK)).and_then(|lock| lock.lock().map(|()| lock));
        match lock {
            Ok(lock) => Ok(Self { path, _lock: lock }),
            Err(error) => {
                let _ = fs::remove_dir_all(&path);
                Err(failed(&path, error))
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file that only the user can read; where it is.
    pub(super) fn write(&self, name: &Path, text: &str) -> Result<String, ProgramError> {
        let path = self.path.join(name);
        let written = private().open(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| failed(&path, &error))?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Adds a folder.
    pub(super) fn add(&self, name: &Path) -> Result<(), ProgramError> {
        let path = self.path.join(name);
        builder().create(&path).map_err(|error| failed(&path, &error))
    }

    /// Links everything in a folder but one file of it; nothing where there is no such folder.
    pub(super) fn link_all(&self, from: &Path, to: &Path, but: &str) -> Result<(), ProgramError> {
        let Ok(entries) = fs::read_dir(from) else { return Ok(()) };
        for entry in entries.flatten().filter(|entry| entry.file_name() != but) {
            self.link(&entry.path(), &to.join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Links one file or folder; nothing where there is none.
    pub(super) fn link(&self, from: &Path, to: &Path) -> Result<(), ProgramError> {
        let path = self.path.join(to);
        if !from.exists() {
            return Ok(());
        }
        link(from, &path).map_err(|error| failed(&path, &error))
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // The next run tries again.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Takes away what nobody uses any more.
fn sweep(below: &Path) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten() {
        let lock = File::open(entry.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> ProgramError {
    ProgramError::Folder { path: path.display().to_string(), why: error.to_string() }
}

#[cfg(unix)]
fn builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

#[cfg(unix)]
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn builder() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

/// Other systems let not everybody link; what is copied is forgotten with the run.
#[cfg(not(unix))]
fn link(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_file() { fs::copy(from, to).map(drop) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
