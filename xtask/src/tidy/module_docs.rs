//! Every module says why it exists, before its first line of code. The compiler asks this of public modules
//! alone.

use super::{Finding, House};

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in house.rust.iter().filter(|file| !file.is_test()) {
        let lines = file.text.lines().map(str::trim).enumerate();
        let (index, first) = lines.into_iter().find(|(_, line)| !line.is_empty()).unwrap_or_default();
        if first.trim_end_matches("//!").is_empty() || !first.starts_with("//!") {
            let text = "begin the file with `//!` and say why the module exists";
            findings.push(Finding::fail(&file.path, index + 1, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
