//! Plain technical English: words that a reader would search for, not a private vocabulary.

use super::{Finding, House};

/// What is not written, and what is.
const WORDS: &[(&str, &str)] = &[
    ("a list of texts", "a list of strings"),
    ("nobody reads the key", "unknown key"),
    ("how every server is", "the state of every server"),
    ("wrote beside the protocol", "stderr log"),
    ("bound and clock", "limits and timeouts"),
    ("is got over", "recovers from"),
    ("what to mend", "how to fix it"),
];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let files = house.files.iter().filter(|file| is_read_by_people(&file.path));
    files.flat_map(|file| found(&file.path, &file.text)).collect()
}

/// Sources and docs; what was released stays as it was said, and this file names what it refuses.
fn is_read_by_people(path: &str) -> bool {
    let is_text = [".rs", ".md", ".snap"].iter().any(|end| path.ends_with(end));
    is_text && !path.ends_with("CHANGELOG.md") && !path.starts_with("xtask/src/tidy/words")
}

fn found(path: &str, text: &str) -> Vec<Finding> {
    let in_line = |(at, line): (usize, &str)| {
        let wrong = WORDS.iter().find(|(wrong, _)| line.contains(wrong))?;
        Some(Finding::fail(path, at + 1, format!("write {:?} instead of {:?}", wrong.1, wrong.0)))
    };
    text.lines().enumerate().filter_map(in_line).collect()
}

#[cfg(test)]
mod tests;
