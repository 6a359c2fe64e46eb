//! JSON as people paste it: from a README, in code fences, with a sentence before it.

use std::path::Path;

use super::dialect::{ALL, Quirk};
use super::document::{Document, Loaded, Reading, read};
use crate::fault::{Fault, FaultKind, SourceLocation};
use crate::model::{Limits, ServerSpec};

/// Reads pasted text: a whole configuration in any dialect, one server with its name inside, or a piece of a file such
/// as `"name": {…}`.
pub fn read_pasted(text: &str, limits: &Limits) -> Document {
    let file = Path::new("<pasted>");
    let body = unfenced(text);
    let reading = Reading { dialect: None, workspace: None, limits };
    let is_piece = body.trim_start().starts_with('"');
    let mut document = match is_piece {
        true => read(file, &format!("{{\n{body}\n}}"), reading),
        false => read(file, body, reading),
    };
    // Places are counted in what was pasted, fences included.
    let skipped = text[..offset(text, body)].matches('\n').count() as u32;
    for place in places(&mut document).into_iter().filter(|place| 0 < place.line) {
        place.line = (place.line + skipped).saturating_sub(u32::from(is_piece)).max(1);
    }
    if body.trim().is_empty() {
        let fault = Fault::error(FaultKind::NoServers, "nothing was pasted");
        document.faults.push(fault.hint("paste {\"mcpServers\": {…}} or {\"name\": …, \"command\": …}"));
    }
    if document.dialect.has(Quirk::NamedByFile)
        && document.servers.iter().all(|loaded| loaded.name == "<pasted>")
    {
        document.dialect = &ALL[0];
    }
    document
}

/// Every place in a document.
fn places(document: &mut Document) -> Vec<&mut SourceLocation> {
    let mut places: Vec<&mut SourceLocation> =
        document.toggles.iter_mut().map(|toggle| &mut toggle.place).collect();
    places.extend(document.faults.iter_mut().filter_map(|fault| fault.place.as_mut()));
    for Loaded { place, spec, faults, .. } in &mut document.servers {
        places.push(place);
        places.extend(faults.iter_mut().filter_map(|fault| fault.place.as_mut()));
        for ServerSpec { origin, places: all, .. } in spec.as_mut().into_iter() {
            places.push(&mut origin.place);
            places.extend(all.values_mut());
        }
    }
    places
}

/// The text inside the first code fence, or all of it. A fence begins a line: three backticks inside a text
/// are none.
fn unfenced(text: &str) -> &str {
    let mut open = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        match (open, line.trim_start().starts_with("```")) {
            (None, true) => open = Some(end),
            (Some(open), true) => return &text[open..start],
            _ => {}
        }
    }
    open.map_or(text, |open| &text[open..])
}

fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}
