//! Locked, atomic writes: a file is either as it was or as it should be, also after a crash.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::Builder;

use crate::discover::Folders;

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {file}: {error}")]
pub struct FileError {
    verb: &'static str,
    file: PathBuf,
    #[source]
    error: io::Error,
}

impl FileError {
    fn of<'a>(verb: &'static str, file: &'a Path) -> impl Fn(io::Error) -> Self + 'a {
        move |error| Self { verb, file: file.to_owned(), error }
    }
}

/// A file that is there and cannot be understood: who wrote over it would lose what it holds.
pub(super) fn damaged(file: &Path) -> FileError {
    let why = "it is damaged; restore it, or delete it to begin anew";
    FileError::of("change", file)(io::Error::new(io::ErrorKind::InvalidData, why))
}

/// Holds every other Kitbag off while one changes its files; let go when dropped or when the process ends.
pub(crate) fn lock(folders: &Folders) -> Result<File, FileError> {
    let file = folders.state.join("write.lock");
    create_folder(&folders.state)?;
    let lock = File::options().create(true).append(true).open(&file).map_err(FileError::of("open", &file))?;
    lock.lock().map_err(FileError::of("lock", &file))?;
    Ok(lock)
}

/// A file's text; one that is not there is empty.
pub(super) fn read(file: &Path) -> Result<String, FileError> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(FileError::of("read", file)),
    }
}

/// Replaces a file's text in one step, keeping its permissions; a new file is for its owner alone. A link
/// stays a link: what it points to is replaced.
pub fn write(file: &Path, text: &str) -> Result<(), FileError> {
    replace(file, text, |fresh, target| match fs::metadata(target) {
        Ok(meta) => fresh.set_permissions(meta.permissions()),
        Err(_) => Ok(()),
    })
}

/// The same for a file that only its owner may read, whoever could before.
pub(super) fn write_private(file: &Path, text: &str) -> Result<(), FileError> {
    replace(file, text, |_, _| Ok(()))
}

/// The same for what may be lost in a crash: quickly.
pub(crate) fn write_cache(file: &Path, text: &str) -> Result<(), FileError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let failed = FileError::of("write", file);
    let mut fresh = Builder::new().prefix(".kitbag-").tempfile_in(folder).map_err(&failed)?;
    fresh.write_all(text.as_bytes()).map_err(&failed)?;
    fresh.persist(file).map_err(|error| failed(error.error))?;
    Ok(())
}

fn replace(
    file: &Path,
    text: &str,
    permit: impl Fn(&File, &Path) -> io::Result<()>,
) -> Result<(), FileError> {
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let failed = FileError::of("write", file);
    let mut fresh = Builder::new().prefix(".kitbag-").tempfile_in(folder).map_err(&failed)?;
    fresh.write_all(text.as_bytes()).map_err(&failed)?;
    permit(fresh.as_file(), &target).map_err(&failed)?;
    fresh.as_file().sync_all().map_err(&failed)?;
    fresh.persist(&target).map_err(|error| failed(error.error))?;
    Ok(())
}

/// Copies a file beside itself before somebody else's file is written; the copy's name, if there was one.
pub fn backup(file: &Path) -> Result<Option<PathBuf>, FileError> {
    if !file.exists() {
        return Ok(None);
    }
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let copy =
        (1..).map(|n| file.with_file_name(format!("{name}.kitbag-{n}.bak"))).find(|copy| !copy.exists());
    let copy = copy.unwrap_or_else(|| file.with_extension("bak"));
    fs::copy(file, &copy).map_err(FileError::of("copy", file))?;
    Ok(Some(copy))
}

pub(super) fn delete(file: &Path) -> Result<(), FileError> {
    fs::remove_file(file).map_err(FileError::of("delete", file))
}

/// Kitbag's folders hold secrets: only their owner may look inside.
fn create_folder(folder: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(FileError::of("create", folder))
}
