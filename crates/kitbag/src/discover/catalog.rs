//! A catalog in files: one a server, each a list of definitions as `tools/list` has them. Nothing runs behind it.

use std::collections::HashSet;
use std::path::Path;

use kitbag_core::catalog::{ListCut, ServerTools};
use kitbag_core::{Fault, FaultKind, Limits, ServerName, SourceLocation, ToolName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::text_of;

#[cfg(test)]
mod tests;

/// What a server answers when it is asked for its tools.
#[derive(Deserialize)]
struct ListAnswer<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// Reads every `.json` file of a folder, in order of name; the name without `.json` is the server's. A file
/// that cannot be used costs itself.
pub(crate) fn read_catalog(
    folder: &Path,
    limits: &Limits,
) -> std::io::Result<(Vec<ServerTools>, Vec<Fault>)> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let (mut parts, mut faults) = (Vec::new(), Vec::new());
    for file in files {
        match read(&file, limits, &mut faults) {
            Ok(part) => parts.extend(part),
            Err(fault) => faults.push(*fault),
        }
    }
    if parts.is_empty() && faults.is_empty() {
        let fault = Fault::warning(FaultKind::Unreadable, "has no .json file with definitions of tools");
        faults.push(fault.at(SourceLocation::file(folder)));
    }
    Ok((parts, faults))
}

fn read(file: &Path, limits: &Limits, faults: &mut Vec<Fault>) -> Result<Option<ServerTools>, Box<Fault>> {
    let wrong = |kind: FaultKind, message: String, hint: &str| {
        Box::new(Fault::error(kind, message).hint(hint).at(SourceLocation::file(file)))
    };
    // Two names that are no text could become one.
    let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) else {
        return Err(wrong(FaultKind::BadName, "its name is not valid UTF-8".to_owned(), "rename the file"));
    };
    let server = ServerName::parse(stem)
        .map_err(|invalid| wrong(FaultKind::BadName, invalid.to_string(), "rename the file"))?;
    // What a server may send may stand in a file.
    let mut limits = limits.clone();
    limits.config_file = limits.line;
    let Some(text) = text_of(file, &limits)? else { return Ok(None) };
    let definitions = definitions(text.trim_start_matches('\u{feff}'))
        .map_err(|why| wrong(FaultKind::Syntax, why, "write [{\"name\": …, \"inputSchema\": …}, …]"))?;
    let (taken, over) = within(definitions, limits.tools);
    let mut part = ServerTools::parse(&server, taken.into_iter().map(RawValue::get), &limits);
    if 0 < over {
        let most = limits.tools;
        part.truncated = Some(ListCut::by("tools", format!("more than {most} tools")));
        let message = format!(
            "has {} tools, and {most} are taken from one server (limits.tools): the last {over} are left out",
            most + over
        );
        let fault = Fault::warning(FaultKind::TooLarge, message).hint("spread them over several files");
        faults.push(fault.of(&server).at(SourceLocation::file(file)));
    }
    Ok(Some(part))
}

/// The definitions that are taken from one server, first come first served, and how many tools are over. What
/// has no name that can be used, or has it from another, is no tool more: whoever parses it says what is wrong.
fn within(definitions: Vec<&RawValue>, most: usize) -> (Vec<&RawValue>, usize) {
    let (mut names, mut over) = (HashSet::new(), HashSet::new());
    let mut taken = Vec::new();
    for raw in definitions {
        let named = serde_json::from_str::<Named>(raw.get()).ok();
        match named.and_then(|named| ToolName::parse(&named.name).ok()) {
            Some(name) if most <= names.len() && !names.contains(&name) => drop(over.insert(name)),
            name => {
                names.extend(name);
                taken.push(raw);
            }
        }
    }
    (taken, over.len())
}

/// The definitions, as written: a list, or an answer with one.
fn definitions(text: &str) -> Result<Vec<&RawValue>, String> {
    if let Ok(list) = serde_json::from_str(text) {
        return Ok(list);
    }
    match (serde_json::from_str::<ListAnswer<'_>>(text), serde_json::from_str::<&RawValue>(text)) {
        (Ok(answer), _) => Ok(answer.tools),
        (Err(_), Ok(_)) => Err("not a list of tool definitions".to_owned()),
        (Err(_), Err(error)) => Err(format!("not valid JSON: {error}")),
    }
}
