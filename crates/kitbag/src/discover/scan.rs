//! Reading files and folders of servers. A file that cannot be read is a fault of that file alone.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use kitbag_core::config::{Dialect, Document, Reading, read};
use kitbag_core::{Fault, FaultKind, Limits, SourceLocation, UserId};

/// A configuration file's text, or why there is none; no text and no fault when the file is not there.
pub(crate) fn text_of(file: &Path, limits: &Limits) -> Result<Option<String>, Box<Fault>> {
    text_within(file, limits.config_file)
}

/// The same for any file of at most so many bytes.
pub(crate) fn text_within(file: &Path, most: usize) -> Result<Option<String>, Box<Fault>> {
    let unreadable = |error: io::Error| {
        let fault = Fault::error(FaultKind::Unreadable, format!("cannot be read: {error}"));
        Box::new(fault.hint("check the file's permissions").at(SourceLocation::file(file)))
    };
    // Looked at before it is opened: opening a pipe already waits, for ever if nobody writes.
    match fs::metadata(file) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => {
            let fault = Fault::error(FaultKind::Unreadable, "is a folder, pipe or device, not a file");
            return Err(Box::new(
                fault.hint("put a file in its place, or remove it").at(SourceLocation::file(file)),
            ));
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    }
    let mut bytes = Vec::new();
    fs::File::open(file)
        .map_err(unreadable)?
        .take((most as u64).saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if most < bytes.len() {
        let fault = Fault::error(FaultKind::TooLarge, format!("file is larger than {most} bytes"));
        return Err(Box::new(fault.at(SourceLocation::file(file))));
    }
    decode(bytes).map(Some).ok_or_else(|| {
        let fault = Fault::error(FaultKind::Encoding, "not valid UTF-8");
        Box::new(fault.hint("save the file as UTF-8").at(SourceLocation::file(file)))
    })
}

/// UTF-8, or the UTF-16 that some Windows editors write, told by its byte order mark.
fn decode(bytes: Vec<u8>) -> Option<String> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        if !bytes.len().is_multiple_of(2) {
            return None;
        }
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units).ok()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).ok(),
    }
}

/// Reads one file of servers, if it is there.
pub fn read_file(
    file: &Path,
    dialect: Option<&'static Dialect>,
    workspace: &Path,
    limits: &Limits,
) -> Option<Document> {
    match text_of(file, limits) {
        Ok(text) => {
            text.map(|text| read(file, &text, Reading { dialect, workspace: Some(workspace), limits }))
        }
        Err(fault) => Some(unread(file, dialect, *fault)),
    }
}

/// A document that holds nothing but the reason why.
pub(crate) fn unread(file: &Path, dialect: Option<&'static Dialect>, fault: Fault) -> Document {
    let limits = Limits::default();
    let empty = read(file, "", Reading { dialect, workspace: None, limits: &limits });
    Document { faults: vec![fault], ..empty }
}

/// Whose files a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderOwner {
    /// The owner's; links are followed, people keep their dot files that way.
    Shared,
    /// One user's; what lies outside is not theirs, so links are not followed.
    User,
}

/// Files of a folder that hold no servers.
const NOT_SERVERS: [&str; 2] = ["kitbag.toml", "names.json"];

/// Reads every file of a folder, in order of name. A folder that is not there is empty.
pub fn read_folder(
    folder: &Path,
    kind: FolderOwner,
    dialect: Option<&'static Dialect>,
    limits: &Limits,
) -> (Vec<Document>, Vec<Fault>) {
    let (files, faults) = folder_files(folder, kind, limits);
    (files.iter().filter_map(|file| read_file(file, dialect, folder, limits)).collect(), faults)
}

/// The files of a folder that may hold servers, in order of name.
pub(crate) fn folder_files(folder: &Path, kind: FolderOwner, limits: &Limits) -> (Vec<PathBuf>, Vec<Fault>) {
    let mut faults = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries(folder, &mut faults) {
        let path = entry.path();
        let known = path
            .extension()
            .and_then(|e| e.to_str())
            .is_some_and(|e| matches!(e, "json" | "jsonc" | "yaml" | "yml" | "toml"));
        let ours = path.file_name().and_then(|name| name.to_str()).is_some_and(|n| NOT_SERVERS.contains(&n));
        let link = kind == FolderOwner::User && entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if link {
            let fault = Fault::warning(FaultKind::Unreadable, "a link in a user's folder is not followed");
            faults.push(fault.hint("copy the file into the folder").at(SourceLocation::file(path.as_path())));
        } else if known && !ours && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    if limits.config_files < files.len() {
        let message = format!("more than {} files; the rest is not read", limits.config_files);
        faults.push(Fault::error(FaultKind::TooLarge, message).at(SourceLocation::file(folder)));
        files.truncate(limits.config_files);
    }
    (files, faults)
}

/// The users that have a folder of their own here. Names are compared as the folder lists them: a file
/// system that folds case must not hand one user another's folder.
pub fn user_folders(folder: &Path) -> Vec<(UserId, PathBuf)> {
    let mut faults = Vec::new();
    let own = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let user = |entry: fs::DirEntry| Some((UserId::of_folder(entry.file_name().to_str()?)?, entry.path()));
    let mut users: Vec<_> = entries(folder, &mut faults).into_iter().filter(own).filter_map(user).collect();
    users.sort();
    users
}

fn entries(folder: &Path, faults: &mut Vec<Fault>) -> Vec<fs::DirEntry> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(Result::ok).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Vec::new()
        }
        Err(error) => {
            let fault = Fault::error(FaultKind::Unreadable, format!("folder cannot be read: {error}"));
            faults.push(fault.hint("check the folder's permissions").at(SourceLocation::file(folder)));
            Vec::new()
        }
    }
}
