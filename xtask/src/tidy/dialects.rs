//! Rules of one program's files stand in the dialect table: code elsewhere asks the table and never for an id.

use super::{Finding, House};

/// Where the table and the ways to find a row in it are.
const TABLE: [&str; 2] =
    ["crates/kitbag-core/src/config/dialect.rs", "crates/kitbag-core/src/config/dialect/"];

/// Ways to say the id of a dialect. What a server's origin says may be compared with what somebody typed.
const IDS: [&str; 2] = ["dialect.id", "origin.dialect"];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in house.rust.iter().filter(|file| !TABLE.iter().any(|place| file.path.starts_with(place))) {
        let written: Vec<&str> = file.text.lines().collect();
        for id in IDS {
            for (at, _) in file.shipped.match_indices(id) {
                let (before, after) =
                    (file.shipped[..at].trim_end_matches(is_path), &file.shipped[at + id.len()..]);
                let line = before.matches('\n').count() + 1;
                let line = line + file.shipped[before.len()..at].matches('\n').count();
                let is_typed = id == IDS[1] && !written.get(line - 1).is_some_and(|line| line.contains('"'));
                if is_compared(before, after) && !is_typed {
                    let text = "the id of a dialect is compared: make it a column of the dialect table";
                    findings.push(Finding::fail(&file.path, line, text));
                }
            }
        }
    }
    findings
}

fn is_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

fn is_compared(before: &str, after: &str) -> bool {
    let (before, after) =
        (before.trim_end_matches(|c: char| c.is_whitespace() || c == '&' || c == '*'), after.trim_start());
    let is_asked = ["==", "!=", "matches!(", "match"].iter().any(|word| before.ends_with(word));
    is_asked || ["==", "!=", ".eq(", ".ne(", ".starts_with("].iter().any(|word| after.starts_with(word))
}

#[cfg(test)]
mod tests;
