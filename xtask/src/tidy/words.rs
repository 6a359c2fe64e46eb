//! Plain technical English: words that a reader would search for, not a private vocabulary.

use super::{Finding, House};

/// What is not written anywhere, and what is.
const ANYWHERE: &[(&str, &str)] = &[
    ("list of texts", "list of strings"),
    ("found a text", "found a string"),
    ("nobody reads the key", "unknown key"),
    ("how every server is", "the state of every server"),
    ("beside the protocol", "stderr log"),
    ("bound and clock", "limits and timeouts"),
    ("bounds and clocks", "limits and timeouts"),
    ("got over", "recovers from"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("mending", "fixing"),
];

/// What is not shown to people: not in messages, help and docs. In comments it may stand for what it says.
const SHOWN: &[(&str, &str)] = &[
    ("gave no result", "answered without a result"),
    ("is no answer", "is not a response"),
    ("is no text", "is not valid UTF-8, or not a string"),
    ("is no list", "is not a list"),
    ("is no object", "is not an object"),
    ("are no object", "are not an object"),
    ("is no table", "is not a table"),
    ("is no JSON", "is not valid JSON"),
    ("are no JSON", "are not valid JSON"),
    ("is no pattern", "is not a valid pattern"),
    ("a person's yes", "approval by a person"),
    ("nobody has it", "no such tool"),
    ("not spoken here", "not supported"),
    ("go in circles", "repeat"),
    ("how they are", "their state"),
    ("makes no sense", "cannot be used"),
];

/// Type names that say nothing to who searches for them.
const TYPES: &[(&str, &str)] = &[
    ("Manner", "CallOptions"),
    ("Ear", "Inbox"),
    ("Voice", "Session"),
    ("Matter", "Reason"),
    ("Surroundings", "LinkContext"),
];

/// Where doc comments are the help of a command.
const HELP: &str = "crates/kitbag-cli/src/";

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
        let shown = if is_shown(path, line) { SHOWN } else { &[] };
        let in_any_case = || ANYWHERE.iter().chain(shown).find(|(wrong, _)| has_words(line, wrong));
        let types = || TYPES.iter().find(|(name, _)| path.ends_with(".rs") && is_whole(line, name));
        let wrong = in_any_case().or_else(types)?;
        Some(Finding::fail(path, at + 1, format!("write {:?} instead of {:?}", wrong.1, wrong.0)))
    };
    text.lines().enumerate().filter_map(in_line).collect()
}

/// Whether people read a line who do not read the code. Tests say in their messages what they like.
fn is_shown(path: &str, line: &str) -> bool {
    let is_source = path.ends_with(".rs");
    let is_shipped = path.starts_with("crates/") && path.contains("/src/") && !path.contains("/tests");
    let (line, is_help) = (line.trim_start(), path.starts_with(HELP));
    let is_comment = line.starts_with("//") && !(is_help && line.starts_with("/// "));
    !is_source || is_shipped && !path.starts_with("crates/testkit/") && !is_comment
}

/// Whether these words stand in a line, in whichever case, and not as a piece of longer ones.
fn has_words(line: &str, words: &str) -> bool {
    is_whole(&line.to_lowercase(), &words.to_lowercase())
}

fn is_whole(line: &str, words: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(words)
        .any(|(at, found)| !line[..at].ends_with(goes_on) && !line[at + found.len()..].starts_with(goes_on))
}

#[cfg(test)]
mod tests;
