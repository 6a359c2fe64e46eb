//! Names of other servers' tools in a definition: by these one server steers what a model does with another.

use std::collections::HashMap;

use super::{Finding, each_text, findings};
use crate::catalog::Tool;
use crate::catalog::notes::hidden;
use crate::fault::{Fault, FaultKind};
use crate::names::ServerName;

/// Letters of a name below which it is a word like any other.
const SHORTEST: usize = 8;

/// Notes about the tools that speak of tools of other servers, of all that are given.
pub(crate) fn named_others<'a>(tools: impl Iterator<Item = &'a Tool>) -> Vec<Fault> {
    let tools: Vec<&Tool> = tools.collect();
    let owners = owners(&tools);
    let told = |tool: &&Tool| Some(named(tool, &owners)?.note(tool));
    if owners.is_empty() { Vec::new() } else { tools.iter().filter_map(told).collect() }
}

/// All that definitions say to a model, as notes about each of these tools, beside one another.
pub fn all_findings(tools: &[&Tool]) -> Vec<Vec<Fault>> {
    let owners = owners(tools);
    let of_tool = |tool: &&Tool| {
        let named = if owners.is_empty() { None } else { named(tool, &owners) };
        let said = findings(tool).into_iter().chain(named).map(|finding| finding.note(tool));
        said.chain(tool.raw.as_object().and_then(|raw| hidden(raw, &tool.server, &tool.name))).collect()
    };
    tools.iter().map(of_tool).collect()
}

fn owners<'a>(tools: &[&'a Tool]) -> HashMap<&'a str, Vec<&'a ServerName>> {
    let mut owners: HashMap<&str, Vec<&ServerName>> = HashMap::new();
    for tool in tools.iter().filter(|tool| is_distinct(tool.name.as_str())) {
        owners.entry(tool.name.as_str()).or_default().push(&tool.server);
    }
    owners
}

/// The first name of another server's tool that a definition has and its own server does not.
fn named(tool: &Tool, owners: &HashMap<&str, Vec<&ServerName>>) -> Option<Finding> {
    let mut found = None;
    each_text(tool, &mut |place, text| {
        if found.is_some() || text == tool.name.as_str() {
            return;
        }
        let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
        let other = words
            .filter_map(|word| owners.get_key_value(word.trim_matches(['-', '_'])))
            .find(|(_, servers)| !servers.contains(&&tool.server));
        found = other.map(|(name, servers)| {
            let owner = servers.first().map(|server| format!("{server}/")).unwrap_or_default();
            Finding::new(FaultKind::NamesOtherTool, &place.to_string(), &format!("{owner}{name}"))
        });
    });
    found
}

/// Whether a name is hardly written by chance: one of several words.
fn is_distinct(name: &str) -> bool {
    let is_compound =
        name.contains(['_', '-']) || name.chars().skip(1).any(char::is_uppercase) && !name.contains(' ');
    SHORTEST <= name.len() && is_compound
}
