//! A Rust file as the checks see it: code without comments and literals, so that a word in a message or a doc
//! line is never mistaken for a use.

use super::mask::{mask, without_tests};
use crate::files::File;

pub(super) struct RustFile {
    pub(super) path: String,
    pub(super) text: String,
    /// The text with comments and literals blanked; lines keep their numbers.
    pub(super) code: String,
    /// `code` with test modules blanked as well; all blank in a test file.
    pub(super) shipped: String,
}

impl RustFile {
    pub(super) fn new(file: &File) -> Self {
        let code = mask(&file.text);
        let shipped = if is_test(&file.path) { String::new() } else { without_tests(&code) };
        Self { path: file.path.clone(), text: file.text.clone(), code, shipped }
    }

    pub(super) fn is_test(&self) -> bool {
        is_test(&self.path)
    }
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}
