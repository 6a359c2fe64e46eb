//! `docs/settings.md` says which test shows the effect of each key of `kitbag.toml`; this keeps a key from standing there
//! that nothing obeys.

use std::collections::BTreeSet;

use serde_json::Value;

use super::check_rows::functions;
use super::{Finding, House};

const PAGE: &str = "docs/settings.md";
const SCHEMA: &str = "docs/kitbag.schema.json";
/// What the schema says about a key that is accepted and refused.
const NOT_YET: &str = "(not supported yet)";

pub(super) fn check(house: &House) -> Vec<Finding> {
    let text = |path: &str| house.files.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let Some(schema) = text(SCHEMA) else { return Vec::new() };
    let Ok(schema) = serde_json::from_str::<Value>(schema) else {
        return vec![Finding::fail(SCHEMA, 1, "is no JSON")];
    };
    let mut keys = Vec::new();
    walk(&schema, String::new(), &mut keys);
    let functions = functions(house);
    let page = text(PAGE).unwrap_or_default();
    let rows: Vec<Row<'_>> =
        page.lines().enumerate().filter_map(|(at, line)| Row::read(at + 1, line)).collect();
    let mut findings = Vec::new();
    for (key, about) in &keys {
        let Some(row) = rows.iter().find(|row| row.key == key) else {
            findings.push(Finding::fail(
                PAGE,
                1,
                format!("the key `{key}` has no row: which test shows its effect?"),
            ));
            continue;
        };
        if row.tests.is_empty() {
            findings.push(Finding::fail(PAGE, row.line, format!("`{key}` has no test")));
        }
        if about.contains(NOT_YET) != row.not_yet {
            findings.push(Finding::fail(
                PAGE,
                row.line,
                format!("`{key}`: page and schema differ about {NOT_YET}"),
            ));
        }
    }
    let known: BTreeSet<&str> = keys.iter().map(|(key, _)| key.as_str()).collect();
    for row in &rows {
        if !known.contains(row.key) {
            findings.push(Finding::fail(PAGE, row.line, format!("`{}` is no key of kitbag.toml", row.key)));
        }
        for test in row.tests.iter().filter(|test| !functions.contains_key(**test)) {
            findings.push(Finding::fail(PAGE, row.line, format!("test `{test}` does not exist")));
        }
    }
    findings
}

/// Every key that holds a value, with what is said about it.
fn walk(schema: &Value, path: String, keys: &mut Vec<(String, String)>) {
    let properties = schema["properties"].as_object().filter(|_| path != "limits");
    if let Some(properties) = properties {
        for (key, inner) in properties {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            walk(inner, path, keys);
        }
    } else if schema["additionalProperties"].is_object() {
        walk(&schema["additionalProperties"], format!("{path}.*"), keys);
    } else {
        keys.push((path, schema["description"].as_str().unwrap_or_default().to_owned()));
    }
}

/// One row: `| `key` | what it does | `test`, … |`.
struct Row<'a> {
    line: usize,
    key: &'a str,
    not_yet: bool,
    tests: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn read(line: usize, text: &'a str) -> Option<Self> {
        let mut cells = text.trim().strip_prefix("| `")?.trim_end_matches('|').split(" | ");
        let key = cells.next()?.trim().trim_end_matches('`');
        let about = cells.next()?;
        let tests = cells.next()?.split('`').skip(1).step_by(2).collect();
        Some(Self { line, key, not_yet: about.contains(NOT_YET), tests })
    }
}

#[cfg(test)]
mod tests;
