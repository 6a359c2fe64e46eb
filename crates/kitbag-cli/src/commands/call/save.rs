//! Images, sounds and files in a result become files, each under a name that was free.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::path::PathBuf;

use kitbag::{CallResult, Fault, FaultKind};
use kitbag_core::Stage;

use crate::terminal::plural;

mod folder;

pub(in crate::commands) use folder::Folder;

/// The most files of one name.
const MOST: usize = 10_000;
/// The longest part of a name that a tool decides.
const LONGEST: usize = 64;

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
    /// Bytes written, and files that found no room among those that are kept.
    bytes: usize,
    too_large: usize,
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
        Self { folder, result, most, next, saved, beyond: 0, bytes: 0, too_large: 0, failed: None }
    }

    pub(super) fn save(&mut self, kind: &str, bytes: &[u8]) -> Saved {
        let tried = self.saved.len() + self.failed.as_ref().map_or(0, |(_, count)| *count);
        if self.most <= tried {
            self.beyond += 1;
            return Saved::Beyond;
        }
        if self.folder.room().saturating_sub(self.bytes) < bytes.len() {
            self.too_large += 1;
            return Saved::Failed;
        }
        match self.write(kind, bytes) {
            Ok(file) => {
                self.bytes += bytes.len();
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
            match self.folder.create(&name) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(self.folder.path().join(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("there are {MOST} files of that name")))
    }

    /// Ends it: what was not saved, in a line for each reason.
    pub(super) fn end(&self) -> Vec<Fault> {
        if !self.saved.is_empty() {
            self.folder.make_room();
        }
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
        let too_large = (0 < self.too_large).then(|| {
            let (count, tool, most) = (plural(self.too_large, "file"), &meta.tool, self.folder.room());
            let message = format!("{count} in the result of {tool} not kept, at most {most} bytes are");
            fault(FaultKind::TooLarge, message, "--save DIR, or [limits] saved in kitbag.toml")
        });
        failed.into_iter().chain(beyond).chain(too_large).collect()
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
    use std::path::Path;
    use std::time::Duration;

    use kitbag::{CallInfo, CallResult, Limits, ServerName, UserId};

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
        CallResult {
            content: Vec::new(),
            structured: None,
            is_error: false,
            meta: None,
            raw: None,
            info: meta,
        }
    }

    /// A file that was found taken, or was written, is not tried again: thousands would take the time of millions.
    #[test]
    fn f76_each_name_is_tried_once() {
        let temp = tempfile::tempdir().unwrap();
        let (folder, result) = (Folder::asked_for(temp.path()).unwrap(), result("x"));
        std::fs::write(temp.path().join("x-2.png"), "mine").unwrap();
        let mut saving = Saving::new(&folder, &result, 10);
        let mut save = |kind: &str| match saving.save(kind, b"data") {
            Saved::At(file) => file.file_name().unwrap().to_string_lossy().into_owned(),
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
        let (folder, result) = (Folder::asked_for(temp.path()).unwrap(), result("x"));
        let mut saving = Saving::new(&folder, &result, 3);
        (0..10).for_each(|_| drop(saving.save("image/png", b"data")));
        assert_eq!((saving.saved.len(), std::fs::read_dir(temp.path()).unwrap().count()), (3, 3));
        let faults = saving.end();
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].message.starts_with("7 more files"), "{faults:?}");
        // Nor is a folder that takes nothing tried for each.
        let nowhere = temp.path().join("nowhere");
        let asked = Folder::asked_for(&nowhere).unwrap();
        std::fs::remove_dir(&nowhere).unwrap();
        let mut saving = Saving::new(&asked, &result, 3);
        (0..10).for_each(|_| drop(saving.save("image/png", b"data")));
        let messages: Vec<String> = saving.end().into_iter().map(|fault| fault.message).collect();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("3 files") && messages[1].starts_with("7 more"), "{messages:?}");
    }

    /// Saves a picture of so many bytes in the folder of a call that was made then.
    fn keep(state: &Path, second: u64, size: usize, limits: &Limits) -> (Saved, Vec<Fault>) {
        let folder = Folder::kept(state, &UserId::local(), limits, Duration::from_secs(second));
        let result = result("x");
        let mut saving = Saving::new(&folder, &result, 10);
        (saving.save("image/png", &vec![0; size]), saving.end())
    }

    #[test]
    fn f64_what_is_kept_is_bounded_and_the_oldest_go_first() {
        let temp = tempfile::tempdir().unwrap();
        let mut limits = Limits::default();
        limits.saved = 100;
        let kept = |second, size| match keep(temp.path(), second, size, &limits) {
            (Saved::At(file), faults) if faults.is_empty() => file,
            (_, faults) => panic!("{faults:?}"),
        };
        let (first, second) = (kept(1, 40), kept(2, 40));
        assert!(first.exists() && second.exists());
        let third = kept(3, 40);
        assert_eq!([first, second, third.clone()].map(|file| file.exists()), [false, true, true]);
        // One that is larger than all of it takes nothing away.
        let (saved, faults) = keep(temp.path(), 4, 101, &limits);
        assert!(matches!(saved, Saved::Failed) && third.exists());
        assert!(faults[0].message.contains("at most 100 bytes"), "{faults:?}");
    }

    /// Two whose names differ by case alone, in the same moment.
    #[test]
    fn t34_files_of_two_users_lie_apart() {
        let (state, limits) = (Path::new("state"), Limits::default());
        let folder = |user: &str| {
            let user = UserId::parse(user).unwrap();
            Folder::kept(state, &user, &limits, Duration::from_secs(1))
                .path()
                .to_string_lossy()
                .to_lowercase()
        };
        assert_eq!(folder("ada"), folder("ada"));
        assert!(folder("ada") != folder("bob") && folder("ada") != folder("Ada"), "{}", folder("Ada"));
    }

    #[cfg(unix)]
    #[test]
    fn f64_what_is_kept_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tempfile::tempdir().unwrap();
        let (Saved::At(file), _) = keep(temp.path(), 1, 4, &Limits::default()) else { panic!("not saved") };
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
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
