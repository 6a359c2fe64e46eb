//! No file speaks of the machine it was written on: such a path is true for one person and leaks a little of
//! their life.

use super::{Finding, House};
use crate::files::File;

/// Put together here so that this file does not contain what it looks for.
const HOMES: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];

pub(super) fn check(house: &House) -> Vec<Finding> {
    // Test data shows what other people's files contain.
    let ours = |file: &&File| !file.path.split('/').any(|part| part == "testdata");
    house.files.iter().filter(ours).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for home in HOMES.iter().filter(|home| has_absolute(line, home)) {
            let text = format!("`{home}` is a path of one machine");
            findings.push(Finding::fail(&file.path, index + 1, text));
        }
    }
    findings
}

/// Whether the path begins at `home`; after a name, a dot, a variable or a glob it is the middle of another.
fn has_absolute(line: &str, home: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "_-.~})*$%".contains(c);
    line.match_indices(home).any(|(at, _)| !line[..at].ends_with(goes_on))
}

#[cfg(test)]
mod tests;
