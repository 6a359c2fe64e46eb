//! Rules that match nothing: a pattern or a name in the settings that no server, or no tool of its server, has. They are
//! usually misspelt, and nothing else would show it.

use std::collections::BTreeMap;

use crate::config::settings::{Pattern, PatternOwner, TOOLS_KEY};
use crate::fault::{Fault, FaultKind};
use crate::names::ServerName;
use crate::text::{Globs, nearest};

#[cfg(test)]
mod tests;

/// What is known of servers and their tools.
#[derive(Clone, Debug, Default)]
pub struct KnownTools {
    servers: BTreeMap<String, Option<Vec<String>>>,
}

impl KnownTools {
    /// Takes note of a server whose tools are not known.
    pub fn add_server(&mut self, server: &str) {
        self.servers.entry(server.to_owned()).or_default();
    }

    /// Takes note of a server with its tools, by its own names for them; definitions that are left out count, too.
    pub fn add_tools(&mut self, server: &ServerName, tools: impl IntoIterator<Item = String>) {
        self.servers.insert(server.to_string(), Some(tools.into_iter().collect()));
    }

    fn tools(&self, server: &str) -> Option<&[String]> {
        self.servers.get(server)?.as_deref()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// The servers whose tools these patterns are about and are not known.
    pub fn unknown<'a>(&'a self, patterns: &[&Pattern]) -> Vec<&'a str> {
        let is_meant = |server: &&str| {
            patterns.iter().any(|pattern| match &pattern.owner {
                PatternOwner::Server(name) | PatternOwner::Entry(name) => name == server,
                PatternOwner::Agent(_) => {
                    let part = pattern.text.split_once('/').filter(|(_, tool)| *tool != "*");
                    pattern.key == "allow" && part.is_some_and(|(part, _)| fits(part, server))
                }
            })
        };
        let unknown = self.servers.iter().filter(|(_, tools)| tools.is_none());
        unknown.map(|(server, _)| server.as_str()).filter(is_meant).collect()
    }
}

/// A warning for each of these that matches nothing. What is not known matches anything.
pub fn unmatched(patterns: &[&Pattern], known: &KnownTools) -> Vec<Fault> {
    patterns.iter().filter_map(|pattern| one(pattern, known)).collect()
}

fn one(pattern: &Pattern, known: &KnownTools) -> Option<Fault> {
    let (message, meant) = match &pattern.owner {
        PatternOwner::Server(server) | PatternOwner::Entry(server) => of_server(pattern, server, known)?,
        PatternOwner::Agent(agent) if pattern.key == "servers" => {
            no_server(&format!("[agents.{agent}]"), pattern.key, &pattern.text, known)?
        }
        PatternOwner::Agent(agent) => of_allow(pattern, agent, known)?,
    };
    let fault = Fault::warning(FaultKind::NoMatch, message).at(pattern.place.clone());
    let fault = match meant {
        Some(meant) => fault.hint(format!("did you mean {meant:?}?")),
        None => fault.hint("correct it, or remove it: it has no effect"),
    };
    let server = match &pattern.owner {
        PatternOwner::Server(server) | PatternOwner::Entry(server) => ServerName::parse(server).ok(),
        PatternOwner::Agent(_) => None,
    };
    Some(Fault { server, ..fault })
}

/// What is wrong, and what was probably meant.
type Mistake = (String, Option<String>);

fn of_server(pattern: &Pattern, server: &str, known: &KnownTools) -> Option<Mistake> {
    let (tools, text) = (known.tools(server)?, pattern.text.as_str());
    if pattern.key == TOOLS_KEY {
        let is_there = tools.iter().any(|tool| tool == text);
        let meant = nearest(text, tools.iter().map(String::as_str)).map(str::to_owned);
        return (!is_there)
            .then(|| (format!("[servers.{server}.tools.{text}]: it has no tool called {text:?}"), meant));
    }
    if tools.iter().any(|tool| fits(text, tool)) {
        return None;
    }
    let title = match &pattern.owner {
        PatternOwner::Entry(_) => "its entry".to_owned(),
        _ => format!("[servers.{server}]"),
    };
    let which = if wildcard(text).is_some() { "that matches" } else { "called" };
    let message = format!("{:?} in {title}: it has no tool {which} {text:?}", pattern.key);
    Some((message, near(text, tools.iter().map(String::as_str))))
}

fn of_allow(pattern: &Pattern, agent: &str, known: &KnownTools) -> Option<Mistake> {
    let (text, title) = (pattern.text.as_str(), format!("[agents.{agent}]"));
    let mut pairs = Vec::new();
    let mut is_open = false;
    for (server, tools) in &known.servers {
        match tools {
            Some(tools) => pairs.extend(tools.iter().map(|tool| format!("{server}/{tool}"))),
            // Its tools are not known: whatever begins with it may match.
            None => is_open |= text.split_once('/').is_none_or(|(part, _)| fits(part, server)),
        }
    }
    if is_open || pairs.iter().any(|pair| fits(text, pair)) {
        return None;
    }
    let (part, tool) = text.split_once('/').unwrap_or((text, ""));
    if let Some((message, meant)) = no_server(&title, pattern.key, part, known) {
        return Some((message, meant.map(|server| format!("{server}/{tool}"))));
    }
    let message = format!("{:?} in {title}: no tool {}", pattern.key, called(text));
    Some((message, near(text, pairs.iter().map(String::as_str))))
}

fn no_server(title: &str, key: &str, text: &str, known: &KnownTools) -> Option<Mistake> {
    if known.names().any(|server| fits(text, server)) {
        return None;
    }
    Some((format!("{key:?} in {title}: no server {}", called(text)), near(text, known.names())))
}

/// A pattern that cannot be read is another fault.
fn fits(pattern: &str, name: &str) -> bool {
    Globs::new(&[pattern.to_owned()]).map_or(true, |globs| globs.fit(name))
}

fn called(text: &str) -> String {
    if wildcard(text).is_some() { format!("matches {text:?}") } else { format!("is called {text:?}") }
}

/// Where a pattern stops being a plain name.
fn wildcard(text: &str) -> Option<usize> {
    text.find(['*', '?', '[', '{'])
}

/// What was probably meant: a name, or a pattern that begins as a name does.
fn near<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let Some(at) = wildcard(text) else { return nearest(text, names).map(str::to_owned) };
    let (begin, rest) = text.split_at(at);
    // A slip may have taken a letter away, or put one in.
    let length = begin.chars().count();
    let lengths = [length, length + 1, length.saturating_sub(1)];
    let until =
        |name: &'a str, length: usize| name.char_indices().nth(length).map_or(name, |(end, _)| &name[..end]);
    let begins: Vec<&str> = names.flat_map(|name| lengths.map(|length| until(name, length))).collect();
    // Patterns end where words do: `get_*` is meant rather than `get_p*`.
    let is_alike = |other: &&str| other.chars().next_back() == begin.chars().next_back();
    let alike = nearest(begin, begins.iter().copied().filter(is_alike));
    alike.or_else(|| nearest(begin, begins.iter().copied())).map(|begin| format!("{begin}{rest}"))
}
