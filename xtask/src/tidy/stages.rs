//! The data goes one way through the stages; this keeps the code from going back.

use super::paths::{Named, paths};
use super::rust::RustFile;
use super::{Finding, House};

/// The stages of each crate, earliest first. A stage may use itself and what stands before it; names in one
/// row may use each other. `schema` stands before `catalog` because everything from there on uses it and it needs
/// none of them. A new module finds its place here before it is used.
const ORDER: &[(&str, &[&[&str]])] = &[
    (
        "crates/kitbag-core/src/",
        &[
            &["names", "text", "fault", "model", "codes", "serialize"],
            &["config"],
            &["schema"],
            &["catalog"],
            &["shape"],
            &["present"],
            &["search"],
        ],
    ),
    (
        "crates/kitbag/src/",
        &[
            &["env", "tokens", "code", "store"],
            &["pins"],
            &["discover"],
            &["registry"],
            &["setup"],
            &["held"],
            &["guard"],
            &["connect"],
            &["world"],
            &["roster"],
            &["local"],
            &["execute"],
            &["kit"],
            &["watch"],
        ],
    ),
];

pub(super) fn check(house: &House) -> Vec<Finding> {
    house.rust.iter().flat_map(check_file).collect()
}

fn check_file(file: &RustFile) -> Vec<Finding> {
    let homes = ORDER.iter().filter_map(|(folder, rows)| Some((file.path.strip_prefix(folder)?, *rows)));
    let Some((inside, rows)) = homes.into_iter().next() else { return Vec::new() };
    let module: Vec<_> = inside.trim_end_matches(".rs").trim_end_matches("/mod").split('/').collect();
    // The crate's front page names every stage.
    if module == ["lib"] {
        return Vec::new();
    }
    let place = |name: &str| rows.iter().position(|row| row.contains(&name));
    let Some(own) = place(module[0]) else {
        let text =
            format!("module `{}` has no place in the stage order (xtask/src/tidy/stages.rs)", module[0]);
        return vec![Finding::fail(&file.path, 1, text)];
    };
    let mut findings = Vec::new();
    for named in paths(&file.code) {
        let Some(used) = from_crate_root(&named, module.len()) else { continue };
        if place(used).is_some_and(|used| own < used) {
            let text = format!("stage `{}` uses the later stage `{used}`", module[0]);
            findings.push(Finding::fail(&file.path, named.line, text));
        }
    }
    findings
}

/// The first name below the crate's root, if the path goes there: by `crate::`, or by one `super::` for each
/// level of the module it stands in.
fn from_crate_root<'a>(named: &Named<'a>, depth: usize) -> Option<&'a str> {
    let parts = named.parts.strip_prefix(&["self"]).unwrap_or(&named.parts);
    let ups = parts.iter().take_while(|part| **part == "super").count();
    match parts[ups..] {
        ["crate", used, ..] => Some(used),
        [used, ..] if depth <= ups => Some(used),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
