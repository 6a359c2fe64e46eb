//! Rules that match nothing: a pattern or a name in the settings that no server, or no tool of its server, has. They are
//! usually misspelt, and nothing else would show it.

use std::collections::{BTreeMap, BTreeSet};

use super::policy::selector;
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
    categories: BTreeSet<String>,
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

    /// Takes note of a category that some tool has.
    pub fn add_category(&mut self, category: &str) {
        self.categories.insert(category.to_owned());
    }

    fn tools(&self, server: &str) -> Option<&[String]> {
        self.servers.get(server)?.as_deref()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Whether a server whose tools are not known could have one that a rule about `server/tool` means.
    fn is_open(&self, text: &str) -> bool {
        let mut unknown = self.servers.iter().filter(|(_, tools)| tools.is_none());
        unknown.any(|(server, _)| may_mean(text, server))
    }

    /// The servers whose tools these patterns are about and are not known.
    pub fn unknown<'a>(&'a self, patterns: &[&Pattern]) -> Vec<&'a str> {
        let is_meant = |server: &&str| {
            patterns.iter().any(|pattern| match &pattern.owner {
                PatternOwner::Server(name) | PatternOwner::Entry(name) => name == server,
                PatternOwner::Agent(_) | PatternOwner::Group(_) => {
                    let Meant::Tools(text) = Meant::by(pattern) else { return false };
                    let part = text.split_once('/').filter(|(_, tool)| *tool != "*");
                    pattern.key != "servers" && part.is_some_and(|(part, _)| fits(part, server))
                }
            })
        };
        let unknown = self.servers.iter().filter(|(_, tools)| tools.is_none());
        unknown.map(|(server, _)| server.as_str()).filter(is_meant).collect()
    }
}

/// Which tools a pattern is about.
enum Meant<'a> {
    /// Those whose names fit.
    Tools(&'a str),
    /// Those under a heading.
    Category(&'a str),
    /// What they do, or what another fault is about.
    Other,
}

impl<'a> Meant<'a> {
    fn by(pattern: &'a Pattern) -> Self {
        let is_rule = match &pattern.owner {
            PatternOwner::Server(_) | PatternOwner::Entry(_) => pattern.key == "approve",
            PatternOwner::Agent(_) => pattern.key != "servers",
            PatternOwner::Group(_) => true,
        };
        if !is_rule {
            return Self::Tools(&pattern.text);
        }
        match selector(&pattern.text) {
            Some(text) if text.starts_with("risk:") => Self::Other,
            Some(text) => text.strip_prefix("category:").map_or(Self::Tools(text), Self::Category),
            None => Self::Other,
        }
    }
}

/// A warning for each of these that matches nothing. What is not known matches anything.
pub fn unmatched(patterns: &[&Pattern], known: &KnownTools) -> Vec<Fault> {
    patterns.iter().filter_map(|pattern| one(pattern, known)).collect()
}

fn one(pattern: &Pattern, known: &KnownTools) -> Option<Fault> {
    let title = match &pattern.owner {
        PatternOwner::Server(server) => format!("[servers.{server}]"),
        PatternOwner::Entry(_) => "its entry".to_owned(),
        PatternOwner::Agent(agent) => format!("[agents.{agent}]"),
        PatternOwner::Group(group) => format!("[groups.{group}]"),
    };
    let (message, meant) = match (&pattern.owner, Meant::by(pattern)) {
        (_, Meant::Other) => return None,
        (_, Meant::Tools(text)) if is_about_no_tool(text) => return None,
        (_, Meant::Category(category)) => of_category(pattern, category, &title, known)?,
        (PatternOwner::Server(server) | PatternOwner::Entry(server), Meant::Tools(text)) => {
            of_server(pattern, text, (server, &title), known)?
        }
        (PatternOwner::Agent(_), Meant::Tools(text)) if pattern.key == "servers" => {
            no_server(&title, pattern.key, text, known)?
        }
        (PatternOwner::Agent(_) | PatternOwner::Group(_), Meant::Tools(text)) => {
            of_all(pattern, text, &title, known)?
        }
    };
    let fault = Fault::warning(FaultKind::NoMatch, message).at(pattern.place.clone());
    let fault = match meant {
        Some(meant) => fault.hint(format!("did you mean {meant:?}?")),
        None => fault.hint("correct it, or remove it: it has no effect"),
    };
    let server = match &pattern.owner {
        PatternOwner::Server(server) | PatternOwner::Entry(server) => ServerName::parse(server).ok(),
        PatternOwner::Agent(_) | PatternOwner::Group(_) => None,
    };
    Some(Fault { server, ..fault })
}

/// Which prompts and resources there are is asked when somebody wants them, so any of them may be.
fn is_about_no_tool(text: &str) -> bool {
    let is = |name: &str| name.starts_with("resource:") || name.starts_with("prompt:");
    is(text) || text.split_once('/').is_some_and(|(_, name)| is(name))
}

/// What is wrong, and what was probably meant.
type Mistake = (String, Option<String>);

fn of_server(
    pattern: &Pattern,
    text: &str,
    (server, title): (&str, &str),
    known: &KnownTools,
) -> Option<Mistake> {
    let tools = known.tools(server)?;
    if pattern.key == TOOLS_KEY {
        let is_there = tools.iter().any(|tool| tool == text);
        let meant = nearest(text, tools.iter().map(String::as_str)).map(str::to_owned);
        return (!is_there)
            .then(|| (format!("[servers.{server}.tools.{text}]: it has no tool called {text:?}"), meant));
    }
    if tools.iter().any(|tool| fits(text, tool)) {
        return None;
    }
    let which = if wildcard(text).is_some() { "that matches" } else { "called" };
    let message = format!("{:?} in {title}: it has no tool {which} {text:?}", pattern.key);
    Some((message, near(text, tools.iter().map(String::as_str))))
}

/// A rule about the tools of all servers.
fn of_all(pattern: &Pattern, text: &str, title: &str, known: &KnownTools) -> Option<Mistake> {
    let listed =
        known.servers.iter().flat_map(|(server, tools)| tools.iter().map(move |tools| (server, tools)));
    let pairs: Vec<String> =
        listed.flat_map(|(server, tools)| tools.iter().map(move |tool| format!("{server}/{tool}"))).collect();
    if known.is_open(text) || pairs.iter().any(|pair| fits(text, pair)) {
        return None;
    }
    let message = format!("{:?} in {title}: no tool {}", pattern.key, called(text));
    let Some((part, tool)) = text.split_once('/') else {
        return Some((format!("{message}; a rule here says server/tool"), in_full(text, &pairs, known)));
    };
    if let Some((message, meant)) = no_server(title, pattern.key, part, known) {
        return Some((message, meant.map(|server| format!("{server}/{tool}"))));
    }
    Some((message, near(text, pairs.iter().map(String::as_str))))
}

/// What a name or pattern without a server was probably to mean.
fn in_full(text: &str, pairs: &[String], known: &KnownTools) -> Option<String> {
    if known.names().any(|server| server == text) {
        return Some(format!("{text}/*"));
    }
    if wildcard(text).is_some() {
        return pairs.iter().any(|pair| fits(&format!("*/{text}"), pair)).then(|| format!("*/{text}"));
    }
    let own = |pair: &&String, name: &str| pair.split_once('/').is_some_and(|(_, tool)| tool == name);
    let tools = pairs.iter().filter_map(|pair| pair.split_once('/')).map(|(_, tool)| tool);
    let found = pairs.iter().find(|pair| own(pair, text));
    found
        .or_else(|| nearest(text, tools).and_then(|meant| pairs.iter().find(|pair| own(pair, meant))))
        .cloned()
}

/// A rule about the tools under a heading.
fn of_category(pattern: &Pattern, text: &str, title: &str, known: &KnownTools) -> Option<Mistake> {
    let is_open = known.servers.values().any(Option::is_none);
    if is_open || known.categories.iter().any(|category| fits(text, category)) {
        return None;
    }
    let message = format!("{:?} in {title}: no tool has a category that {}", pattern.key, called(text));
    let meant = near(text, known.categories.iter().map(String::as_str));
    Some((message, meant.map(|category| format!("category:{category}"))))
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

/// Whether a server could have a tool that a rule about `server/tool` means.
fn may_mean(text: &str, server: &str) -> bool {
    let begin = &text[..wildcard(text).unwrap_or(text.len())];
    let tools = format!("{server}/");
    begin.starts_with(&tools) || wildcard(text).is_some() && tools.starts_with(begin)
}

fn called(text: &str) -> String {
    if wildcard(text).is_some() { format!("matches {text:?}") } else { format!("is called {text:?}") }
}

/// Where a pattern stops being a plain name.
fn wildcard(text: &str) -> Option<usize> {
    text.find(['*', '?', '[', '{', '\\'])
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
