//! A library takes ranges of versions: an exact one would keep every program that uses the library from taking any other
//! release. The lock file pins what our own binary is built of.

use super::{Finding, House};

const WORKSPACE: &str = "Cargo.toml";
/// The crates that others depend on.
const LIBRARIES: [&str; 3] =
    ["crates/kitbag-core/Cargo.toml", "crates/kitbag/Cargo.toml", "crates/kitbag-store/Cargo.toml"];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let text = |path: &str| house.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let workspace: Vec<Requirement<'_>> = text(WORKSPACE)
        .map(|text| requirements(text, |table| table == "workspace.dependencies"))
        .unwrap_or_default();
    let mut findings = Vec::new();
    for library in LIBRARIES {
        for needed in text(library).map(|text| requirements(text, is_shipped)).unwrap_or_default() {
            let shared = workspace.iter().filter(|shared| needed.is_shared() && shared.name == needed.name);
            let places = shared.map(|shared| (WORKSPACE, shared)).chain([(library, &needed)]);
            for (file, exact) in places.filter(|(_, requirement)| requirement.is_exact()) {
                let text = format!("{library} needs exactly one version of {}: write a range", exact.name);
                findings.push(Finding::fail(file, exact.line, text));
            }
        }
    }
    findings
}

/// Whether whoever depends on the crate gets what stands in this table, too.
fn is_shipped(table: &str) -> bool {
    ["dependencies", "build-dependencies"]
        .iter()
        .any(|kind| table == *kind || table.ends_with(&format!(".{kind}")))
}

/// One line of a table of dependencies.
struct Requirement<'a> {
    name: &'a str,
    value: &'a str,
    line: usize,
}

impl Requirement<'_> {
    fn is_exact(&self) -> bool {
        self.value.split('"').skip(1).step_by(2).any(|text| text.trim_start().starts_with('='))
    }

    fn is_shared(&self) -> bool {
        self.value.contains("workspace = true") || self.value == "true"
    }
}

fn requirements(text: &str, is_wanted: impl Fn(&str) -> bool) -> Vec<Requirement<'_>> {
    let mut table = "";
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(name) = line.trim().strip_prefix('[') {
            table = name.trim_end_matches(']');
        } else if let Some((name, value)) = line.split_once('=')
            && is_wanted(table)
            && !name.trim_start().starts_with('#')
        {
            let name = name.trim().trim_end_matches(".workspace");
            found.push(Requirement { name, value: value.trim(), line: index + 1 });
        }
    }
    found
}

#[cfg(test)]
mod tests;
