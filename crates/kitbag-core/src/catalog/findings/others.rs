//! Names of other servers' tools in a definition: by these one server steers what a model does with another.

use std::collections::HashMap;

use super::{Finding, each_text};
use crate::catalog::Tool;
use crate::fault::{Fault, FaultKind};
use crate::names::ServerName;

/// Letters of a name below which it is a word like any other.
const SHORTEST: usize = 8;

/// Notes about the tools that speak of tools of other servers, of all that are given.
pub(crate) fn named_others<'a>(tools: impl Iterator<Item = &'a Tool>) -> Vec<Fault> {
    let tools: Vec<&Tool> = tools.collect();
    let mut owners: HashMap<&str, Vec<&ServerName>> = HashMap::new();
    for tool in tools.iter().filter(|tool| is_distinct(tool.name.as_str())) {
        owners.entry(tool.name.as_str()).or_default().push(&tool.server);
    }
    let told = |tool: &&Tool| Some(named(tool, &owners)?.note(tool));
    if owners.is_empty() { Vec::new() } else { tools.iter().filter_map(told).collect() }
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
