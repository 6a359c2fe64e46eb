//! A catalog in files: one a server, each a list of definitions as `tools/list` has them. Nothing runs behind it.

use std::path::Path;

use kitbag_core::catalog::Part;
use kitbag_core::{Fault, FaultKind, Limits, Place, ServerName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::text_of;

/// What a server answers when it is asked for its tools.
#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

/// Reads every `.json` file of a folder, in order of name; the name without `.json` is the server's. A file
/// that cannot be used costs itself.
pub(crate) fn read_catalog(folder: &Path, limits: &Limits) -> std::io::Result<(Vec<Part>, Vec<Fault>)> {
    let entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let (mut parts, mut faults) = (Vec::new(), Vec::new());
    for file in files {
        match read(&file, limits) {
            Ok(part) => parts.extend(part),
            Err(fault) => faults.push(*fault),
        }
    }
    if parts.is_empty() && faults.is_empty() {
        let fault = Fault::warning(FaultKind::Unreadable, "has no .json file with definitions of tools");
        faults.push(fault.at(Place::file(folder)));
    }
    Ok((parts, faults))
}

fn read(file: &Path, limits: &Limits) -> Result<Option<Part>, Box<Fault>> {
    let wrong = |kind: FaultKind, message: String, hint: &str| {
        Box::new(Fault::error(kind, message).hint(hint).at(Place::file(file)))
    };
    // Two names that are no text could become one.
    let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) else {
        return Err(wrong(FaultKind::BadName, "its name is no text in UTF-8".to_owned(), "rename the file"));
    };
    let server = ServerName::parse(stem)
        .map_err(|invalid| wrong(FaultKind::BadName, invalid.to_string(), "rename the file"))?;
    // What a server may send may stand in a file.
    let mut limits = limits.clone();
    limits.config_file = limits.line;
    let Some(text) = text_of(file, &limits)? else { return Ok(None) };
    let definitions = definitions(text.trim_start_matches('\u{feff}'))
        .map_err(|why| wrong(FaultKind::Syntax, why, "write [{\"name\": …, \"inputSchema\": …}, …]"))?;
    Ok(Some(Part::parse(&server, definitions.into_iter().map(RawValue::get), &limits)))
}

/// The definitions, as written: a list, or an answer with one.
fn definitions(text: &str) -> Result<Vec<&RawValue>, String> {
    if let Ok(list) = serde_json::from_str(text) {
        return Ok(list);
    }
    match (serde_json::from_str::<Answer<'_>>(text), serde_json::from_str::<&RawValue>(text)) {
        (Ok(answer), _) => Ok(answer.tools),
        (Err(_), Ok(_)) => Err("is no list of definitions of tools".to_owned()),
        (Err(_), Err(error)) => Err(format!("is not valid JSON: {error}")),
    }
}
