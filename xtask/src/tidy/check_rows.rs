//! `docs/checks.md` says which test proves which promise; this keeps the page and the tests from parting.

use std::collections::BTreeMap;

use super::{Finding, House};

mod table;

use table::Row;

const PAGE: &str = "docs/checks.md";

pub(super) fn check(house: &House) -> Vec<Finding> {
    // Without the page no test is named by it, so the first one that should be is a finding.
    let page = house.files.iter().find(|file| file.path == PAGE).map_or("", |file| &file.text);
    let (rows, mut findings) = table::read(page);
    let functions = functions(house);
    for row in &rows {
        findings.extend(check_row(row, &functions));
    }
    let missing = |name: &&str| is_proof(name) && !rows.iter().any(|row| row.tests.contains(name));
    for (name, (file, line)) in functions.iter().filter(|(name, _)| missing(name)) {
        findings.push(Finding::fail(file, *line, format!("test `{name}` is in no row of {PAGE}")));
    }
    findings
}

fn check_row(row: &Row<'_>, functions: &BTreeMap<&str, (&str, usize)>) -> Vec<Finding> {
    let fail = |text| Finding::fail(PAGE, row.line, text);
    let mut findings = Vec::new();
    for test in row.tests.iter().filter(|test| !functions.contains_key(*test)) {
        findings.push(fail(format!("row {} names test `{test}`, which does not exist", row.number)));
    }
    if row.tests.is_empty() && !row.open.contains(char::is_alphanumeric) {
        findings.push(fail(format!("row {} has no test and does not say why under `open`", row.number)));
    }
    findings
}

/// Every function of the project and where it is.
pub(super) fn functions(house: &House) -> BTreeMap<&str, (&str, usize)> {
    let mut found = BTreeMap::new();
    for file in &house.rust {
        for (index, line) in file.code.lines().enumerate() {
            for (at, key) in line.match_indices("fn ") {
                if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                    continue;
                }
                let name = line[at + key.len()..].split(|c: char| !c.is_alphanumeric() && c != '_').next();
                found.entry(name.unwrap_or_default()).or_insert((file.path.as_str(), index + 1));
            }
        }
    }
    found
}

/// Whether the name claims a number: `s2_13_…`, `t32_…`.
fn is_proof(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<_> = name.split('_').collect();
    match parts[..] {
        [seed, check, _, ..] if seed.starts_with('s') => {
            seed.len() == 2 && is_number(&seed[1..]) && is_number(check)
        }
        [threat, _, ..] => threat.strip_prefix('t').is_some_and(is_number),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
