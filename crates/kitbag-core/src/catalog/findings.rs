//! What a definition says to the model instead of describing the tool: orders, requests for secrets or for the
//! conversation, encoded text, names of other servers' tools. Found by fixed words, so these are hints for a person and
//! nothing is hidden or denied by them; `docs/findings.md` says how much they find and how much they miss.

use serde_json::{Map, Value};

use super::Tool;
use super::notes;
use crate::fault::{Fault, FaultKind, Severity};
use crate::text::{neutral, one_line};

mod encoded;
mod others;
mod phrases;
mod words;

#[cfg(test)]
mod tests;

pub use others::all_findings;
pub(crate) use others::named_others;
use words::Words;

/// Characters shown of the words of a finding.
const LONGEST: usize = 60;
/// Characters shown of a place.
const LONGEST_PLACE: usize = 80;

/// Words in a definition that speak to the model, and where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What they are.
    pub kind: FaultKind,
    /// In which part of the definition, such as `inputSchema.properties.note.description`.
    pub place: String,
    /// The words, shortened, with hidden characters made visible.
    pub words: String,
}

impl Finding {
    fn new(kind: FaultKind, place: &str, words: &str) -> Self {
        let cut = |text: &str, most: usize| match text.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.to_owned(),
        };
        Self { kind, place: cut(&one_line(place), LONGEST_PLACE), words: cut(&one_line(words), LONGEST) }
    }

    /// What a person reads: the kind, the place, the words.
    fn said(&self) -> String {
        let what = match self.kind {
            FaultKind::InstructsModel => "gives the model orders",
            FaultKind::AsksForSecrets => "speaks of secrets or private files",
            FaultKind::AsksForContext => "wants to know the conversation or the model",
            FaultKind::NamesOtherTool => "speaks of another server's tool",
            _ => "holds encoded text",
        };
        format!("{what} in its {}: \"{}\"", self.place, self.words)
    }

    /// As a note about its tool. Orders and secrets have no place in a definition; the rest may be harmless.
    pub(super) fn note(&self, tool: &Tool) -> Fault {
        let note = notes::of_tool(self.kind, &tool.server, &tool.name, &self.said());
        let severity = match self.kind {
            FaultKind::InstructsModel | FaultKind::AsksForSecrets | FaultKind::AsksForContext => {
                Severity::Warning
            }
            _ => Severity::Note,
        };
        Fault { severity, ..note }
    }
}

/// What one definition says to the model: the first words of each kind.
pub fn findings(tool: &Tool) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    each_text(tool, &mut |place, text| {
        let known = |kind: FaultKind| found.iter().any(|finding| finding.kind == kind);
        let mut new: Vec<(FaultKind, &str)> = Vec::new();
        if let Some(words) = encoded::run(text).filter(|_| !known(FaultKind::EncodedText)) {
            new.push((FaultKind::EncodedText, words));
        }
        let words = Words::of(text);
        for (kind, phrases) in phrases::tables() {
            if !known(*kind) && new.iter().all(|(other, _)| other != kind) {
                new.extend(phrases.find(&words).map(|words| (*kind, words)));
            }
        }
        if !new.is_empty() {
            let place = place.to_string();
            found.extend(new.into_iter().map(|(kind, words)| Finding::new(kind, &place, words)));
        }
    });
    found
}

/// A place within a definition; written out only where something was found.
pub(super) struct Place<'p> {
    part: &'static str,
    path: &'p [&'p str],
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.part)?;
        self.path.iter().try_for_each(|key| write!(f, ".{key}"))
    }
}

/// Every text of a definition that a model may read, with its place: what is shown, after hidden characters are gone
/// and within the limits that hold for it.
pub(super) fn each_text<'t>(tool: &'t Tool, visit: &mut dyn FnMut(&Place<'_>, &str)) {
    let part = |part: &'static str| Place { part, path: &[] };
    visit(&part("name"), tool.name.as_str());
    if let Some(title) = &tool.title {
        visit(&part("title"), title);
    }
    visit(&part("description"), &tool.description);
    let title = tool.raw.pointer("/annotations/title").and_then(Value::as_str);
    if let Some(title) = title.filter(|title| tool.title.as_deref() != Some(*title)) {
        visit(&part("annotations.title"), &neutral(title));
    }
    let schemas = [("inputSchema", Some(&tool.input)), ("outputSchema", tool.output.as_ref())];
    for (part, schema) in schemas {
        if let Some(Value::Object(schema)) = schema.map(|schema| &**schema) {
            in_schema(part, schema, visit);
        }
    }
}

/// Keys and strings of a schema, in order. Does not recurse, so depth costs nothing.
fn in_schema<'t>(
    part: &'static str,
    schema: &'t Map<String, Value>,
    visit: &mut dyn FnMut(&Place<'_>, &str),
) {
    let mut open: Vec<(usize, &'t str, &'t Value)> = Vec::new();
    let mut path: Vec<&'t str> = Vec::new();
    open.extend(schema.iter().rev().map(|(key, value)| (0, key.as_str(), value)));
    while let Some((depth, key, value)) = open.pop() {
        path.truncate(depth);
        path.push(key);
        // A property's name is what the model fills in.
        if depth.checked_sub(1).and_then(|above| path.get(above)) == Some(&"properties") {
            visit(&Place { part, path: &path }, key);
        }
        match value {
            Value::String(text) => visit(&Place { part, path: &path }, text),
            Value::Array(list) => open.extend(list.iter().rev().map(|inner| (depth + 1, "[]", inner))),
            Value::Object(object) => {
                open.extend(object.iter().rev().map(|(key, inner)| (depth + 1, key.as_str(), inner)));
            }
            _ => {}
        }
    }
}
