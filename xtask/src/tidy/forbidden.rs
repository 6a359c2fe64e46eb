//! Words that must not be in the code, beyond what clippy can be told.

use super::paths::paths;
use super::{Finding, House};

/// In any Rust file: a test that does not run, or a silenced lint, is silent for ever.
const ANYWHERE: &[(&str, &str)] = &[
    ("#[ignore", "a test that cannot run fails and says why"),
    ("#[allow(", "write `#[expect(…, reason = …)]`"),
    ("#![allow(", "write `#![expect(…, reason = …)]`"),
];

/// Outside tests.
const SHIPPED: &[(&str, &str)] = &[
    ("todo!", "finish it or leave it out"),
    ("unimplemented!", "finish it or leave it out"),
    ("dbg!", "remove it"),
    ("mod utils", "name the module after its idea"),
    ("mod helpers", "name the module after its idea"),
    ("mod common", "name the module after its idea"),
    ("mod manager", "name the module after its idea"),
];

const CORE: &str = "crates/kitbag-core/";

/// Paths that the pure crate must not take.
const IMPURE: &[&[&str]] = &[&["std", "fs"], &["std", "env"], &["std", "net"], &["tokio"]];

/// Types that the pure crate must not name, whatever the path to them.
const CLOCKS: &[&str] = &["Instant", "SystemTime"];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &house.rust {
        words(&file.path, &file.code, ANYWHERE, &mut findings);
        words(&file.path, &file.shipped, SHIPPED, &mut findings);
        if file.path.starts_with(CORE) {
            impure(&file.path, &file.shipped, &mut findings);
        }
    }
    findings
}

fn words(path: &str, code: &str, rules: &[(&str, &str)], findings: &mut Vec<Finding>) {
    for (index, line) in code.lines().enumerate() {
        for (word, instead) in rules.iter().filter(|(word, _)| has_word(line, word)) {
            findings.push(Finding::fail(path, index + 1, format!("`{word}` is forbidden: {instead}")));
        }
    }
}

/// Whether `word` stands in `line` and is not a piece of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |(at, found): (usize, &str)| {
        let before = line[..at].ends_with(goes_on) && found.starts_with(goes_on);
        let after = line[at + found.len()..].starts_with(goes_on) && found.ends_with(goes_on);
        !before && !after
    };
    line.match_indices(word).any(whole)
}

fn impure(path: &str, code: &str, findings: &mut Vec<Finding>) {
    for named in paths(code) {
        let taken = IMPURE.iter().any(|rule| named.parts.starts_with(rule));
        let clock = named.parts.iter().any(|part| CLOCKS.contains(part));
        if taken || clock {
            let text = format!("kitbag-core must not use `{}`: take it as a value", named.parts.join("::"));
            findings.push(Finding::fail(path, named.line, text));
        }
    }
}

#[cfg(test)]
mod tests;
