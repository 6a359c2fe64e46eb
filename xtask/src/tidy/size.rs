//! Files stay small enough to be read in one go.

use super::{Finding, House};

/// From here on the file is asked whether it holds two ideas.
const ASK: usize = 450;
/// Beyond this it does.
const STOP: usize = 500;

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in house.rust.iter().filter(|file| !file.is_test()) {
        let lines = file.text.lines().count();
        if STOP < lines {
            findings.push(Finding::fail(
                &file.path,
                lines,
                format!("{lines} lines, at most {STOP}: split it"),
            ));
        } else if ASK <= lines {
            findings.push(Finding::note(&file.path, lines, format!("{lines} lines: is it still one idea?")));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
