//! The diary that tests read: one line per event, each in a single appending write, so that it is complete
//! whenever the process dies and several processes may share the file.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process;

pub(crate) struct Events(Option<File>);

impl Events {
    /// A file that cannot be opened ends the process: a test without its diary proves nothing.
    pub(crate) fn open(path: Option<&Path>) -> Self {
        let open = |path: &Path| File::options().append(true).create(true).open(path);
        match path.map(open).transpose() {
            Ok(file) => Self(file),
            Err(error) => {
                eprintln!("fake-mcp: cannot open the events file: {error}");
                process::exit(2);
            }
        }
    }

    pub(crate) fn are_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Words are joined by spaces; white space inside a word becomes `_`.
    pub(crate) fn note(&self, words: &[&str]) {
        let Some(mut file) = self.0.as_ref() else { return };
        let words: Vec<_> = words.iter().map(|word| word.replace(char::is_whitespace, "_")).collect();
        let _ = file.write_all(format!("{}\n", words.join(" ")).as_bytes());
    }

    /// `text` as it is; it must hold no line end.
    pub(crate) fn note_exactly(&self, word: &str, text: &str) {
        let Some(mut file) = self.0.as_ref() else { return };
        let _ = file.write_all(format!("{word} {text}\n").as_bytes());
    }
}
