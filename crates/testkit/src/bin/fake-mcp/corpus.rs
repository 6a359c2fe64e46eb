//! Recorded definitions of real servers, served as they are: `--tools FILE` with one list of definitions, or
//! with a list of servers of which `--pick` names one.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::options::Options;

/// Definitions on one line each, otherwise as they stand in the file.
pub(crate) struct Corpus(Vec<Entry>);

struct Entry {
    name: String,
    definition: String,
}

impl Corpus {
    pub(crate) fn load(options: &Options) -> Result<Option<Self>, String> {
        let Some(path) = &options.corpus else { return Ok(None) };
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let tools = match &options.pick {
            None => list(path, &text)?,
            Some(pick) => picked(path, &text, pick)?,
        };
        tools.into_iter().map(entry).collect::<Result<_, _>>().map(|tools| Some(Self(tools)))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn definition(&self, index: usize) -> &str {
        &self.0[index].definition
    }

    pub(crate) fn named(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|entry| entry.name == name).map(|entry| &*entry.definition)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }
}

fn list<'a>(path: &Path, text: &'a str) -> Result<Vec<&'a RawValue>, String> {
    serde_json::from_str(text).map_err(|error| format!("{} is no list: {error}", path.display()))
}

/// The shape of LiveMCPBench: `[{"name": …, "tools": {id: {"tools": [definition, …]}}}, …]`. A server is known
/// by its name and by its id.
fn picked<'a>(path: &Path, text: &'a str, pick: &str) -> Result<Vec<&'a RawValue>, String> {
    #[derive(Deserialize)]
    struct Server<'a> {
        name: String,
        #[serde(borrow)]
        tools: BTreeMap<String, Recorded<'a>>,
    }
    #[derive(Deserialize)]
    struct Recorded<'a> {
        #[serde(borrow)]
        tools: Vec<&'a RawValue>,
    }
    let wrong = |error| format!("{} is no list of servers: {error}", path.display());
    let servers: Vec<Server<'a>> = serde_json::from_str(text).map_err(wrong)?;
    let known = |server: &Server<'_>| server.name == pick || server.tools.contains_key(pick);
    let server = servers.into_iter().find(known);
    let server = server.ok_or_else(|| format!("{} has no server {pick}", path.display()))?;
    Ok(server.tools.into_values().flat_map(|recorded| recorded.tools).collect())
}

fn entry(raw: &RawValue) -> Result<Entry, String> {
    #[derive(Deserialize)]
    struct Known {
        name: String,
        tools: Option<IgnoredAny>,
    }
    let known: Known = serde_json::from_str(raw.get()).map_err(|error| format!("no definition: {error}"))?;
    if known.tools.is_some() {
        return Err(format!("{} is a server; --pick one", known.name));
    }
    // Inside its strings JSON has no line ends, so nothing but the layout is lost.
    Ok(Entry { name: known.name, definition: raw.get().replace(['\n', '\r'], "") })
}
