//! A conversation as a file to hand on: Markdown for people, JSON for programs.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use kitbag_agent::Transcript;

use crate::exit::{Exit, Failure};
use crate::json;
use crate::terminal::readable;

/// Writes a new file; its name says which form it has. Only its owner may read it.
pub(crate) fn save(transcript: &Transcript, folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    let text = match path.extension().and_then(|extension| extension.to_str()) {
        // Files are looked at on terminals, too.
        Some("md") => readable(&transcript.to_markdown()),
        Some("json") => json::pretty(&transcript.to_json()) + "\n",
        _ => {
            let failure = Failure::new(Exit::Usage, format!("{name:?} ends in neither .md nor .json"));
            return Err(failure.hint("a name such as chat.md or chat.json"));
        }
    };
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.write(true).create_new(true).open(&path);
    match written.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let failure = Failure::new(Exit::Usage, format!("{} exists already", path.display()));
            Err(failure.hint("another name, or remove that file first"))
        }
        Err(error) => {
            Err(Failure::new(Exit::Config, format!("{} cannot be written: {error}", path.display())))
        }
    }
}
