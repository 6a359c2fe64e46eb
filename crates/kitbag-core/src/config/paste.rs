//! JSON as people paste it: from a README, in code fences, with a sentence before it.

use std::path::Path;

use super::dialect::ALL;
use super::document::{Document, Reading, read};
use crate::fault::{Fault, FaultKind};
use crate::model::Limits;

/// Reads pasted text: a whole configuration in any dialect, or one server with its name inside.
pub fn read_pasted(text: &str, limits: &Limits) -> Document {
    let file = Path::new("<pasted>");
    let body = unfenced(text);
    let reading = Reading { dialect: None, workspace: None, limits };
    let mut document = read(file, body, reading);
    // Places are counted in what was pasted, fences included.
    let skipped = text[..offset(text, body)].matches('\n').count() as u32;
    let places =
        document.faults.iter_mut().chain(document.servers.iter_mut().flat_map(|loaded| &mut loaded.faults));
    for place in places.filter_map(|fault| fault.place.as_mut()) {
        place.line += if 0 < place.line { skipped } else { 0 };
    }
    if body.trim().is_empty() {
        let fault = Fault::error(FaultKind::NoServers, "nothing was pasted");
        document.faults.push(fault.hint("paste {\"mcpServers\": {…}} or {\"name\": …, \"command\": …}"));
    }
    if document.dialect.id == "tgnote" && document.servers.iter().all(|loaded| loaded.name == "<pasted>") {
        document.dialect = &ALL[0];
    }
    document
}

/// The text inside the first code fence, or all of it.
fn unfenced(text: &str) -> &str {
    let Some(open) = text.find("```") else { return text };
    let after = &text[open + 3..];
    let Some(line_end) = after.find('\n') else { return text };
    let body = &after[line_end + 1..];
    body.find("```").map_or(body, |close| &body[..close])
}

fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}
