//! Every environment variable that is read is explained in `docs/config.md`.

use super::{Finding, House};

const DOCS: &str = "docs/config.md";

/// Where variables are read, and the calls that read one.
const READERS: &[&str] = &["crates/kitbag/src/", "crates/kitbag-cli/src/"];
const CALLS: &[&str] = &[".get(\"", ".filled(\"", "base(\"", "named(\""];

pub(super) fn check(house: &House) -> Vec<Finding> {
    let docs = house.files.iter().find(|file| file.path == DOCS).map_or("", |file| file.text.as_str());
    let mut findings = Vec::new();
    for file in &house.rust {
        if file.is_test() || !READERS.iter().any(|folder| file.path.starts_with(folder)) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            let unknown = variables(line).filter(|name| !docs.contains(&format!("`{name}`")));
            findings.extend(unknown.map(|name| {
                Finding::fail(&file.path, index + 1, format!("{DOCS} does not say what {name} does"))
            }));
        }
    }
    findings
}

/// The names in a line that look like those of variables and are read there.
fn variables(line: &str) -> impl Iterator<Item = &str> {
    let is_name =
        |name: &&str| 2 < name.len() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let after = CALLS.iter().flat_map(move |call| line.split(call).skip(1));
    after.filter_map(|rest| rest.split('"').next()).filter(is_name)
}

#[cfg(test)]
mod tests;
