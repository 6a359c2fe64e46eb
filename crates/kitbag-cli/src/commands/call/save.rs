//! Images, sounds and files in a result become files, each under a name that was free.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

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
            Failure::new(Exit::Usage, message).hint("mend the path after --save")
        })?;
        Ok(Self { path: folder.to_owned(), shown: folder.to_owned(), is_asked_for: true })
    }

    /// Saves bytes under the next free name; the path as it is shown.
    pub(super) fn save(&self, tool: &str, kind: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let (stem, ending) = (stem(tool), ending(kind));
        for number in 1..=MOST {
            let name = format!("{stem}-{number}.{ending}");
            // Only a file that was not there is made: nothing is written over, and no link followed.
            match OpenOptions::new().write(true).create_new(true).open(self.path.join(&name)) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    return Ok(self.shown.join(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, format!("there are {MOST} files of that name")))
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
    use super::*;

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
