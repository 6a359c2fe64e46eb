//! The one way a file is written: locked, in one step, and only while it still is what was read. A file is
//! either as it was or as it should be, also after a crash; its owner, permissions and links stay.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::discover::Folders;

#[cfg(test)]
mod tests;

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

/// Holds every other Kitbag off while one changes files; let go when dropped or when the process ends.
pub(crate) struct Lock {
    _file: File,
}

/// Waits for the lock.
pub(crate) fn lock(folders: &Folders) -> Result<Lock, FileError> {
    let file = folders.state.join("write.lock");
    create_folder(&folders.state)?;
    let lock = File::options().create(true).append(true).open(&file).map_err(FileError::of("open", &file))?;
    lock.lock().map_err(FileError::of("lock", &file))?;
    Ok(Lock { _file: lock })
}

impl Lock {
    /// Reads a file that is to be changed.
    pub(crate) fn open(&self, file: &Path) -> Result<Opened<'_>, FileError> {
        Opened::of(file)
    }
}

/// A file's text; one that is not there is empty.
pub(super) fn read(file: &Path) -> Result<String, FileError> {
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(FileError::of("read", file)),
    }
}

/// Removes a file that holds just this text.
pub(super) fn remove(file: &Path, text: &str) -> Result<(), FileError> {
    if read(file)? != text {
        return Ok(());
    }
    fs::remove_file(file).map_err(FileError::of("remove", file))
}

/// Replaces a file's text in one step, keeping its owner and permissions; a new file is for its owner alone.
/// A link stays a link: what it points to is replaced.
pub fn write(file: &Path, text: &str) -> Result<(), FileError> {
    Opened::of(file)?.write(text)
}

/// The same for a file that only its owner may read, whoever could before.
pub(super) fn write_private(file: &Path, text: &str) -> Result<(), FileError> {
    Opened::of(file)?.replace(text, Access::OwnerOnly, Copies::None).map(|_| ())
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

/// A file as it was when it was read.
pub(crate) struct Opened<'a> {
    file: PathBuf,
    /// What the file is once links are followed.
    target: PathBuf,
    before: Option<Before>,
    _locked: std::marker::PhantomData<&'a Lock>,
}

struct Before {
    bytes: Vec<u8>,
    meta: Metadata,
}

/// Who may read the new file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    AsBefore,
    OwnerOnly,
}

/// Whether what was read is kept beside the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Copies {
    None,
    One,
}

impl Opened<'_> {
    fn of(file: &Path) -> Result<Self, FileError> {
        let failed = FileError::of("read", file);
        let target = target(file).map_err(&failed)?;
        let before = Before::of(&target).map_err(&failed)?;
        Ok(Self { file: file.to_owned(), target, before, _locked: std::marker::PhantomData })
    }

    /// The file's name as it was given.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Its text; empty when it is not there.
    pub(crate) fn text(&self) -> Result<&str, FileError> {
        let bytes = self.before.as_ref().map_or(&[][..], |before| &before.bytes);
        std::str::from_utf8(bytes)
            .map_err(|_| FileError::of("read", &self.file)(refused("it is not valid UTF-8")))
    }

    /// Replaces its text.
    pub(crate) fn write(&self, text: &str) -> Result<(), FileError> {
        self.replace(text, Access::AsBefore, Copies::None).map(|_| ())
    }

    /// Replaces its text and keeps what was read beside it; where, if there was something.
    pub(crate) fn write_with_copy(&self, text: &str) -> Result<Option<PathBuf>, FileError> {
        self.replace(text, Access::AsBefore, Copies::One)
    }

    /// Deletes it. Of a link the link goes; what it leads to is another's.
    pub(crate) fn delete(&self) -> Result<(), FileError> {
        let failed = FileError::of("delete", &self.file);
        self.before.as_ref().map_or(Ok(()), |before| is_writable(&before.meta)).map_err(&failed)?;
        self.is_unchanged().map_err(&failed)?;
        fs::remove_file(&self.file).map_err(failed)
    }

    fn replace(&self, text: &str, access: Access, copies: Copies) -> Result<Option<PathBuf>, FileError> {
        let failed = FileError::of("write", &self.file);
        let folder = self.target.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let fresh = self.fresh(folder, text.as_bytes(), access).map_err(&failed)?;
        let copy = match copies {
            Copies::One => self.copy().map_err(FileError::of("copy", &self.file))?,
            Copies::None => None,
        };
        // Looked at again as late as can be: those without our lock have but this moment to be overwritten in.
        let put = self.is_unchanged().and_then(|()| match &self.before {
            Some(_) => fresh.persist(&self.target).map_err(|error| error.error),
            None => fresh.persist_noclobber(&self.target).map_err(|error| error.error),
        });
        if let Err(error) = put {
            // Nothing was changed, so there is nothing to keep.
            let _ = copy.as_ref().map(fs::remove_file);
            return Err(failed(error));
        }
        Ok(copy)
    }

    /// A new file in the folder, with the old one's owner and permissions.
    fn fresh(&self, folder: &Path, bytes: &[u8], access: Access) -> io::Result<NamedTempFile> {
        if let Some(before) = &self.before {
            is_writable(&before.meta)?;
            has_one_name(&before.meta)?;
        }
        let mut fresh = Builder::new().prefix(".kitbag-").tempfile_in(folder)?;
        fresh.write_all(bytes)?;
        if let Some(before) = &self.before {
            keep_owner(fresh.as_file(), &before.meta)?;
            if access == Access::AsBefore {
                fresh.as_file().set_permissions(before.meta.permissions())?;
            }
        }
        fresh.as_file().sync_all()?;
        Ok(fresh)
    }

    /// Keeps the text that was read beside the file.
    fn copy(&self) -> io::Result<Option<PathBuf>> {
        let Some(before) = &self.before else { return Ok(None) };
        let name = self.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut fresh = self.fresh(folder.unwrap_or(Path::new(".")), &before.bytes, Access::AsBefore)?;
        for n in 1..=u16::MAX {
            let copy = self.file.with_file_name(format!("{name}.kitbag-{n}.bak"));
            match fresh.persist_noclobber(&copy) {
                Ok(_) => return Ok(Some(copy)),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => fresh = error.file,
                Err(error) => return Err(error.error),
            }
        }
        Err(refused("there are too many copies beside it"))
    }

    /// Whether the file still is what was read; somebody without our lock may have written it meanwhile.
    fn is_unchanged(&self) -> io::Result<()> {
        let now = Before::of(&self.target)?;
        let is_same = now.as_ref().map(|now| &now.bytes) == self.before.as_ref().map(|before| &before.bytes);
        if is_same && target(&self.file)? == self.target {
            return Ok(());
        }
        Err(refused("somebody else changed it just now; try again"))
    }
}

impl Before {
    fn of(target: &Path) -> io::Result<Option<Self>> {
        // Looked at before it is opened: opening a pipe already waits, for ever if nobody writes.
        match fs::metadata(target) {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return Err(refused("it is a folder, pipe or device, not a file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut file = File::open(target)?;
        let meta = file.metadata()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(Self { bytes, meta }))
    }
}

/// What a file is once links are followed. A link that leads nowhere is somebody's mistake or somebody's plan,
/// and is not ours to replace by a file.
fn target(file: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(file) {
            Ok(nowhere) => Err(refused(format!("it is a link to {}, which is not there", nowhere.display()))),
            Err(_) => Ok(file.to_owned()),
        },
        other => other,
    }
}

/// A file that its owner may not write was made so on purpose; renaming another into its place would get
/// around that.
fn is_writable(meta: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    let is_kept = std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o200 == 0;
    #[cfg(not(unix))]
    let is_kept = meta.permissions().readonly();
    if is_kept { Err(refused("it is read-only")) } else { Ok(()) }
}

/// A new file in the place of one with several names would part them.
fn has_one_name(meta: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    if 1 < std::os::unix::fs::MetadataExt::nlink(meta) {
        return Err(refused("it has other names (hard links), which would keep the old text"));
    }
    let _ = meta;
    Ok(())
}

#[cfg(unix)]
fn keep_owner(fresh: &File, before: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let ours = fresh.metadata()?;
    if (ours.uid(), ours.gid()) == (before.uid(), before.gid()) {
        return Ok(());
    }
    fchown(fresh, Some(before.uid()), Some(before.gid()))
        .map_err(|error| refused(format!("it is another user's and would not stay so ({error})")))
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

fn refused(why: impl Into<String>) -> io::Error {
    io::Error::other(why.into())
}

/// Kitbag's folders hold secrets: only their owner may look inside.
fn create_folder(folder: &Path) -> Result<(), FileError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(FileError::of("create", folder))
}
