//! Images, sounds and files in a result become files, each under a name that was free.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use kitbag::{CallResult, Fault, FaultKind};
use kitbag_core::Stage;

use crate::exit::{Exit, Failure};

/// The most files of one name.
const MOST: usize = 10_000;
/// The longest part of a name that a tool decides.
const LONGEST: usize = 64;

/// Where files go.
pub(super) struct Folder {
    path: PathBuf,
    /// How names in it are shown.
    shown: PathBuf,
    pub(super) is_asked_for: bool,
}

impl Folder {
    /// The working folder.
    pub(super) fn working(cwd: &Path) -> Self {
        Self { path: cwd.to_owned(), shown: PathBuf::new(), is_asked_for: false }
    }

    /// One that was named; it is made if it is not there, before anything is called.
    pub(super) fn asked_for(folder: &Path) -> Result<Self, Failure> {
        std::fs::create_dir_all(folder).map_err(|error| {
            let message = format!("files cannot be saved in {}: {error}", folder.display());
            Failure::new(Exit::Usage, message).hint("correct the path after --save")
        })?;
        Ok(Self { path: folder.to_owned(), shown: folder.to_owned(), is_asked_for: true })
    }
}

/// Saves the files of one result.
pub(super) struct Saving<'a> {
    folder: &'a Folder,
    result: &'a CallResult,
    /// The most files.
    most: usize,
    /// The number to try next, by ending: those before are taken.
    next: HashMap<&'static str, usize>,
    pub(super) saved: Vec<PathBuf>,
    /// Files beyond the most.
    beyond: usize,
    /// Files that could not be saved, and why the first could not.
    failed: Option<(io::Error, usize)>,
}

/// What became of a file.
pub(super) enum Saved {
    /// It is here, as it is shown.
    At(PathBuf),
    /// It could not be saved.
    Failed,
    /// There were too many before it.
    Beyond,
}

impl<'a> Saving<'a> {
    pub(super) fn new(folder: &'a Folder, result: &'a CallResult, most: usize) -> Self {
        let (next, saved) = (HashMap::new(), Vec::new());
        Self { folder, result, most, next, saved, beyond: 0, failed: None }
    }

    pub(super) fn save(&mut self, kind: &str, bytes: &[u8]) -> Saved {
        let tried = self.saved.len() + self.failed.as_ref().map_or(0, |(_, count)| *count);
        if self.most <= tried {
            self.beyond += 1;
            return Saved::Beyond;
        }
        match self.write(kind, bytes) {
            Ok(file) => {
                self.saved.push(file.clone());
                Saved::At(file)
            }
            Err(error) => {
                let (_, count) = self.failed.get_or_insert((error, 0));
                *count += 1;
                Saved::Failed
            }
        }
    }

    /// Writes bytes under the next free name; the path as it is shown.
    fn write(&mut self, kind: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let (stem, ending) = (stem(&self.result.info.tool), ending(kind));
        let next = self.next.entry(ending).or_insert(1);
        while *next <= MOST {
            let name = format!("{stem}-{next}.{ending}");
            *next += 1;
            // Only a file that was not there is made: nothing is written over, and no link followed.
            match OpenOptions::new().write(true).create_new(true).open(self.folder.path.join(&name)) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(self.folder.shown.join(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("there are {MOST} files of that name")))
    }

    /// What was not saved, in a line for each reason.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let meta = &self.result.info;
        let fault = |kind, message: String, hint: &str| {
            let fault = Fault::error(kind, message).hint(hint).of(&meta.server);
            Fault { stage: Stage::Execute, ..fault }
        };
        let failed = self.failed.as_ref().map(|(error, count)| {
            let what = if *count == 1 { "a file".to_owned() } else { format!("{count} files") };
            let message = format!("{what} in the result of {} cannot be saved: {error}", meta.tool);
            fault(FaultKind::Unreadable, message, "--save DIR")
        });
        let beyond = (0 < self.beyond).then(|| {
            let (most, beyond, tool) = (self.most, self.beyond, &meta.tool);
            let message =
                format!("{beyond} more files in the result of {tool} are not saved, at most {most} are");
            fault(FaultKind::TooLarge, message, "[limits] files in kitbag.toml, or --json --full")
        });
        failed.into_iter().chain(beyond).collect()
    }
}

/// A tool's name as the beginning of a file name: it cannot lead out of the folder, nor hide in it.
fn stem(tool: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let stem: String = tool.chars().take(LONGEST).map(plain).collect();
    match stem.trim_start_matches('-') {
        "" => "result".to_owned(),
        stem => stem.to_owned(),
    }
}

/// The usual ending for a type. What a server writes decides nothing but which of these it is.
fn ending(kind: &str) -> &'static str {
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "image/tiff" => "tiff",
        "image/avif" => "avif",
        "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" | "audio/aac" | "audio/x-m4a" => "m4a",
        "audio/webm" | "video/webm" => "webm",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "text/csv" => "csv",
        "text/html" => "html",
        "application/xml" | "text/xml" => "xml",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use kitbag::CallInfo;
    use kitbag::CallResult;
    use kitbag::ServerName;

    use super::*;

    fn result(tool: &str) -> CallResult {
        let meta = CallInfo {
            server: ServerName::parse("x").unwrap(),
            tool: tool.to_owned(),
            transport: None,
            took: std::time::Duration::ZERO,
            retries: 0,
            cache_hit: false,
            coerced: Vec::new(),
            handle: None,
            notes: Vec::new(),
        };
        CallResult { content: Vec::new(), structured: None, is_error: false, meta: None, info: meta }
    }

    /// A file that was found taken, or was written, is not tried again: thousands would take the time of millions.
    #[test]
    fn f76_each_name_is_tried_once() {
        let temp = tempfile::tempdir().unwrap();
        let (folder, result) = (Folder::working(temp.path()), result("x"));
        std::fs::write(temp.path().join("x-2.png"), "mine").unwrap();
        let mut saving = Saving::new(&folder, &result, 10);
        let mut save = |kind: &str| match saving.save(kind, b"data") {
            Saved::At(file) => file.to_string_lossy().into_owned(),
            Saved::Failed => "failed".to_owned(),
            Saved::Beyond => "beyond".to_owned(),
        };
        assert_eq!(
            [save("image/png"), save("image/png"), save("audio/wav")],
            ["x-1.png", "x-3.png", "x-1.wav"]
        );
        std::fs::remove_file(temp.path().join("x-1.png")).unwrap();
        assert_eq!(save("image/png"), "x-4.png");
        assert_eq!(std::fs::read(temp.path().join("x-2.png")).unwrap(), b"mine");
    }

    #[test]
    fn f76_what_is_not_saved_is_told_in_one_line() {
        let temp = tempfile::tempdir().unwrap();
        let (folder, result) = (Folder::working(temp.path()), result("x"));
        let mut saving = Saving::new(&folder, &result, 3);
        (0..10).for_each(|_| drop(saving.save("image/png", b"data")));
        assert_eq!((saving.saved.len(), std::fs::read_dir(temp.path()).unwrap().count()), (3, 3));
        let faults = saving.faults();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].message.starts_with("7 more files"), "{faults:?}");
        // Nor is a folder that takes nothing tried for each.
        let nowhere = Folder::working(&temp.path().join("nowhere"));
        let mut saving = Saving::new(&nowhere, &result, 3);
        (0..10).for_each(|_| drop(saving.save("image/png", b"data")));
        let messages: Vec<String> = saving.faults().into_iter().map(|fault| fault.message).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("3 files") && messages[1].starts_with("7 more"), "{messages:?}");
    }

    #[test]
    fn names_stay_in_the_folder() {
        for (tool, expected) in [
            ("image", "image"),
            ("../../etc/x", "______etc_x"),
            (".hidden", "_hidden"),
            ("--help", "help"),
            ("", "result"),
            ("名前", "__"),
        ] {
            assert_eq!(stem(tool), expected, "{tool:?}");
        }
        assert_eq!(stem(&"x".repeat(300)).len(), LONGEST);
    }

    #[test]
    fn endings_are_of_a_closed_list() {
        for (kind, expected) in [
            ("image/png", "png"),
            ("IMAGE/PNG; x=y", "png"),
            ("audio/x-wav", "wav"),
            ("image/../../sh", "bin"),
            ("", "bin"),
        ] {
            assert_eq!(ending(kind), expected, "{kind:?}");
        }
    }
}
