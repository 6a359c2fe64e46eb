//! What is worth knowing about a server's list and about single definitions: notes with a stable code, told wherever
//! tools are shown. A note is a [`Fault`] of the stage `catalog`; its kind is the code.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Rejected, ServerTools, Snapshot, Tool, cut, named_others};
use crate::fault::{Fault, FaultKind, Severity, Stage};
use crate::names::{ServerName, ToolName};
use crate::schema::tree::values;
use crate::text::{is_hidden, rfc3339};

/// Characters shown of a note.
const LONGEST: usize = 400;
/// Code points named in a note.
const MOST_POINTS: usize = 4;

/// Why a list was not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListCut {
    /// In a few words, such as `more than 5000 tools`.
    pub why: String,
    /// The limit that was reached, by its name, if it was one.
    pub limit: Option<&'static str>,
}

impl ListCut {
    /// By a limit.
    pub fn by(limit: &'static str, why: impl Into<String>) -> Self {
        Self { why: why.into(), limit: Some(limit) }
    }

    /// By what the server did.
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), limit: None }
    }
}

/// A server's list that is not the one the server would give now, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaleList {
    /// When the list that is shown was received, in seconds since 1970, if that is known.
    pub since: Option<u64>,
    /// Why there is no newer one, in one line without secrets; none while the server was not asked yet.
    pub why: Option<String>,
}

/// A note about one tool: what is said follows its name.
pub(super) fn of_tool(kind: FaultKind, server: &ServerName, tool: &ToolName, said: &str) -> Fault {
    let message = cut(&format!("the tool \"{tool}\" {said}"), LONGEST);
    in_catalog(Fault::note(kind, message)).on(server, tool)
}

fn in_catalog(fault: Fault) -> Fault {
    Fault { stage: Stage::Catalog, ..fault }
}

fn warning(fault: Fault) -> Fault {
    Fault { severity: Severity::Warning, ..fault }
}

/// The parts of a definition that hold characters nobody sees. What merely chooses how an emoji is drawn is not
/// worth a word.
pub(in crate::catalog) fn hidden(
    fields: &Map<String, Value>,
    server: &ServerName,
    tool: &ToolName,
) -> Option<Fault> {
    let mut points = Vec::new();
    let mut keys = Vec::new();
    for (key, value) in fields {
        let before = points.len();
        collect(value, &mut points);
        if before < points.len() {
            keys.push(key.as_str());
        }
    }
    points.sort_unstable();
    points.dedup();
    let named: Vec<String> =
        points.iter().take(MOST_POINTS).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
    let more = if MOST_POINTS < points.len() { ", …" } else { "" };
    let said = format!(
        "has hidden characters ({}{more}) in its {}; they are not shown",
        named.join(", "),
        keys.join(", ")
    );
    (!points.is_empty()).then(|| warning(of_tool(FaultKind::HiddenCharacters, server, tool, &said)))
}

/// Each character nobody sees, once for each text it stands in.
fn collect(value: &Value, found: &mut Vec<char>) {
    let is_told = |c: char| {
        let is_ordinary = matches!(c, '\n' | '\t' | '\r' | '\u{fe0e}' | '\u{fe0f}');
        !is_ordinary && (c.is_control() || is_hidden(c))
    };
    let look = |text: &str, found: &mut Vec<char>| {
        let before = found.len();
        for c in text.chars().filter(|c| is_told(*c)) {
            if !found[before..].contains(&c) {
                found.push(c);
            }
        }
    };
    for (value, _) in values(value) {
        match value {
            Value::String(text) => look(text, found),
            Value::Object(fields) => fields.keys().for_each(|key| look(key, found)),
            _ => {}
        }
    }
}

/// That a tool's arguments or results are not what they were when it was listed before.
pub(super) fn schema_changed(before: &Tool, now: &Tool) -> Option<Fault> {
    let what = match (before.input != now.input, before.output != now.output) {
        (true, true) => "input and output schema",
        (true, false) => "input schema",
        (false, true) => "output schema",
        (false, false) => return None,
    };
    let said = format!("has a different {what} than when it was listed before");
    Some(warning(of_tool(FaultKind::SchemaChanged, &now.server, &now.name, &said)))
}

impl Rejected {
    /// That it was left out, and why.
    pub fn note(&self, server: &ServerName) -> Fault {
        let message = match &self.tool {
            Some(tool) => format!("the tool \"{tool}\" is left out: {}", self.why),
            None => format!("a tool is left out: {}", self.why),
        };
        let tool = self.tool.as_deref().and_then(|tool| ToolName::parse(tool).ok());
        Fault { tool, ..in_catalog(Fault::warning(FaultKind::BadTool, message)).of(server) }
    }
}

impl ServerTools {
    /// How many definitions were left out.
    pub fn left_out(&self) -> usize {
        self.rejected.len() + self.rejected_more
    }

    /// What is worth knowing about the list as a whole.
    fn list_notes(&self) -> Vec<Fault> {
        let mut notes = Vec::new();
        if let Some(cut) = &self.truncated {
            let message = format!("the tool list is not complete: {}", cut.why);
            let hint = match cut.limit {
                Some(limit) => format!("raise \"{limit}\" under [limits] in kitbag.toml"),
                None => format!("kitbag logs {}", self.server),
            };
            notes.push(in_catalog(Fault::warning(FaultKind::ListCut, message)).of(&self.server).hint(hint));
        }
        if self.tools.is_empty() && self.left_out() == 0 && self.truncated.is_none() {
            let note = Fault::note(FaultKind::ListEmpty, "the server lists no tools");
            notes.push(in_catalog(note).of(&self.server));
        }
        notes
    }

    /// What was left out.
    fn rejections(&self) -> impl Iterator<Item = Fault> {
        let more = (0 < self.rejected_more).then(|| {
            let message = format!("{} more tools are left out", self.rejected_more);
            in_catalog(Fault::warning(FaultKind::BadTool, message)).of(&self.server)
        });
        self.rejected.iter().map(|rejected| rejected.note(&self.server)).chain(more)
    }
}

impl Snapshot {
    /// What is worth knowing about one server's list as a whole, whichever tool is looked at.
    pub fn list_notes(&self, server: &ServerName) -> Vec<Fault> {
        let part = self.part(server);
        let stale = self.stale(server).and_then(|stale| stale.note(server, part.is_some()));
        stale.into_iter().chain(part.iter().flat_map(|part| part.list_notes())).collect()
    }

    /// Everything worth knowing about the lists and tools of all servers, those that cannot be listed too; `written`
    /// gives the name an operator wrote down for a tool. It looks at every tool: for whoever shows it, not for a call.
    pub fn notes(&self, written: &dyn Fn(&Tool) -> Option<String>) -> Vec<Fault> {
        let mut notes: Vec<Fault> = Vec::new();
        let mut beside: BTreeMap<ServerName, Vec<Fault>> = BTreeMap::new();
        let tools = twin_tools(self.tools().map(|tool| (&**tool, seen_as(tool, written(tool).as_deref()))));
        let others = named_others(self.tools().map(|tool| &**tool));
        let servers = twin_servers(self.parts().map(|part| &part.server)).into_iter();
        for fault in servers.chain(tools).chain(others) {
            if let Some(server) = &fault.server {
                beside.entry(server.clone()).or_default().push(fault);
            }
        }
        let unlisted = self.all_stale().map(|(server, _)| server);
        let mut servers: Vec<&ServerName> = self.parts().map(|part| &part.server).chain(unlisted).collect();
        servers.sort();
        servers.dedup();
        for server in servers {
            notes.extend(self.list_notes(server));
            let Some(part) = self.part(server) else { continue };
            notes.extend(part.rejections());
            notes.extend(beside.remove(server).unwrap_or_default());
            notes.extend(part.tools.iter().flat_map(|tool| tool.notes.iter().cloned()));
        }
        notes
    }
}

impl StaleList {
    fn note(&self, server: &ServerName, is_known: bool) -> Option<Fault> {
        let since = self.since.map(|since| format!(" of {}", rfc3339(since))).unwrap_or_default();
        let fault = match (&self.why, is_known) {
            (Some(why), false) => Fault::error(FaultKind::ListFailed, why),
            (Some(why), true) => Fault::warning(
                FaultKind::ListStale,
                format!("these tools are from the last good list{since}: {why}"),
            ),
            (None, true) => {
                let said = format!(
                    "these tools are from the remembered list{since}; the server has not listed them in this run"
                );
                Fault::note(FaultKind::ListStale, said)
            }
            (None, false) => return None,
        };
        Some(in_catalog(fault).of(server).hint(format!("kitbag logs {server}")))
    }
}

/// What a tool's name is taken for at a glance: by the one an operator wrote down, else by its server's and its own.
pub(crate) fn seen_as(tool: &Tool, written: Option<&str>) -> String {
    match written {
        Some(name) => at_a_glance(name),
        None => at_a_glance(tool.server.as_str()) + &at_a_glance(tool.name.as_str()),
    }
}

/// Tools whose names are taken for one another, by the key each is seen as.
pub(crate) fn twin_tools<'a>(tools: impl Iterator<Item = (&'a Tool, String)>) -> Vec<Fault> {
    let mut alike: BTreeMap<String, Vec<&Tool>> = BTreeMap::new();
    for (tool, key) in tools {
        alike.entry(key).or_default().push(tool);
    }
    let mut notes = Vec::new();
    for tools in alike.into_values().filter(|tools| 1 < tools.len()) {
        for tool in &tools {
            let other = tools.iter().find(|other| !std::ptr::eq(**other, *tool));
            let Some(other) = other else { continue };
            let said = format!("has a name that looks like {}/{}", other.server, other.name);
            let note = of_tool(FaultKind::TwinNames, &tool.server, &tool.name, &said);
            let hint =
                format!("name one of them under [servers.{:?}.tools] in kitbag.toml", tool.server.as_str());
            notes.push(warning(note).hint(hint));
        }
    }
    notes
}

/// Servers whose names are taken for one another.
fn twin_servers<'a>(servers: impl Iterator<Item = &'a ServerName>) -> Vec<Fault> {
    let mut alike: BTreeMap<String, Vec<&ServerName>> = BTreeMap::new();
    for server in servers {
        alike.entry(at_a_glance(server.as_str())).or_default().push(server);
    }
    let mut notes = Vec::new();
    for servers in alike.into_values().filter(|servers| 1 < servers.len()) {
        for server in &servers {
            let Some(other) = servers.iter().find(|other| *other != server) else { continue };
            let message = format!("the server has a name that looks like {other}");
            let note = in_catalog(Fault::warning(FaultKind::TwinNames, message)).of(server);
            notes.push(note.hint(format!("kitbag servers rename {server} <name>")));
        }
    }
    notes
}

/// A name as it is seen at a glance: without separators and case, letters of other scripts as the Latin ones they
/// look like. Not every likeness there is, but the common ones.
fn at_a_glance(name: &str) -> String {
    let letter = |c: char| match c {
        'а' | 'α' => 'a',
        'е' | 'ε' => 'e',
        'о' | 'ο' | '0' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'і' | 'ι' | 'l' | '1' | '|' => 'i',
        'ј' => 'j',
        'ѕ' => 's',
        'к' | 'κ' => 'k',
        'т' | 'τ' => 't',
        'м' => 'm',
        'н' => 'h',
        'в' | 'β' => 'b',
        'ν' => 'v',
        'ԁ' => 'd',
        'ո' => 'n',
        c => c,
    };
    let words = name.chars().filter(|c| !matches!(c, '_' | '-' | '.' | ' ' | '/' | ':'));
    words.flat_map(char::to_lowercase).map(letter).collect()
}

#[cfg(test)]
mod tests;
