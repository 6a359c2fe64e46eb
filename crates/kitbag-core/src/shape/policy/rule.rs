//! One rule as a person writes it: which tools it means, and with which arguments.
//!
//! ```text
//! fs/*                                server/tool, a glob over the server's own names
//! category:code                       the heading a tool stands under
//! risk:write                          read, write, destructive or open
//! fs/write_file path != /srv/data/**  and what an argument is, or is not
//! pay/send amount > 100 and to != *@example.com
//! ```

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

use super::condition::{Condition, Purpose, operator};
use crate::catalog::Tool;
use crate::fault::SourceLocation;
use crate::model::{Risk, RiskWord};
use crate::names::ServerName;
use crate::text::nearest;

/// A rule about tools.
#[derive(Debug)]
pub struct PolicyRule {
    /// As it was written.
    pub text: String,
    /// Where, if in a file.
    pub place: Option<SourceLocation>,
    pub(super) selector: Selector,
    conditions: Vec<Condition>,
}

/// Which tools a rule means.
#[derive(Debug)]
pub(super) enum Selector {
    /// Those whose `server/tool` fits.
    Tools(Box<(Glob, GlobMatcher)>),
    /// Those of one server whose own name fits.
    Own(ServerName, Box<GlobMatcher>),
    Category(Box<GlobMatcher>),
    Risk(RiskWord),
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the rule {text:?} cannot be read: {why}")]
pub struct BadRule {
    /// As it was written.
    pub text: String,
    /// Why.
    pub why: String,
}

impl PolicyRule {
    /// Reads a rule about the tools of all servers.
    pub fn parse(text: &str, place: Option<SourceLocation>) -> Result<Self, BadRule> {
        Self::read(text, place, |pattern| {
            let glob = glob(pattern)?;
            Ok(Selector::Tools(Box::new((glob.clone(), glob.compile_matcher()))))
        })
    }

    /// Reads a rule about the tools of one server, by their own names.
    pub fn parse_of(server: &ServerName, text: &str, place: Option<SourceLocation>) -> Result<Self, BadRule> {
        Self::read(text, place, |pattern| {
            Ok(Selector::Own(server.clone(), Box::new(glob(pattern)?.compile_matcher())))
        })
    }

    fn read(
        text: &str,
        place: Option<SourceLocation>,
        tools: impl FnOnce(&str) -> Result<Selector, String>,
    ) -> Result<Self, BadRule> {
        let bad = |why: String| BadRule { text: text.to_owned(), why };
        let (selector, conditions) = halves(text).map_err(bad)?;
        let selector = if let Some(word) = selector.strip_prefix("risk:") {
            Selector::Risk(RiskWord::parse(word).ok_or_else(|| bad(unknown_risk(word)))?)
        } else if let Some(category) = selector.strip_prefix("category:") {
            Selector::Category(Box::new(glob(category).map_err(bad)?.compile_matcher()))
        } else {
            tools(selector).map_err(bad)?
        };
        let conditions: Result<Vec<_>, _> = conditions.iter().map(|text| Condition::parse(text)).collect();
        Ok(Self { text: text.to_owned(), place, selector, conditions: conditions.map_err(bad)? })
    }

    /// Whether it looks at arguments.
    pub(super) fn is_conditional(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Whether it looks at what tools do, and has to assume the worst of one.
    pub(super) fn assumes(&self, risk: Risk) -> bool {
        matches!(&self.selector, Selector::Risk(word) if !word.is_decided(risk))
    }

    /// Whether it is about this tool, its arguments aside.
    pub(super) fn means(&self, tool: &Tool, path: &str, risk: Risk, purpose: Purpose) -> bool {
        match &self.selector {
            Selector::Tools(globs) => globs.1.is_match(path),
            Selector::Own(server, glob) => tool.server == *server && glob.is_match(tool.name.as_str()),
            Selector::Category(glob) => {
                tool.category.as_ref().is_some_and(|category| glob.is_match(category))
            }
            Selector::Risk(word) if purpose == Purpose::Restrict => word.may_be(risk),
            Selector::Risk(word) => word.surely_is(risk),
        }
    }

    /// Whether its conditions hold for the arguments of a call.
    pub(super) fn holds(&self, arguments: &Map<String, Value>, purpose: Purpose) -> bool {
        self.conditions.iter().all(|condition| condition.holds(arguments, purpose))
    }

    /// Whether it means every tool of a server, whatever they are.
    pub(super) fn means_all_of(&self, server: &ServerName) -> bool {
        let Selector::Tools(globs) = &self.selector else { return false };
        let rest = globs.0.glob().rsplit('/').next().unwrap_or_default();
        // One name that no server gives its tools stands for all of them.
        !self.is_conditional() && matches!(rest, "*" | "**") && globs.1.is_match(format!("{server}/\u{1}"))
    }

    /// Whether it may mean some tool of a server that has not said what it has.
    pub(super) fn may_mean_some_of(&self, server: &ServerName) -> bool {
        let Selector::Tools(globs) = &self.selector else { return true };
        let beginning = globs.0.glob().split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        let tools = format!("{server}/");
        beginning.starts_with(&tools) || tools.starts_with(beginning)
    }

    /// For people: what it says and where.
    pub fn shown(&self) -> String {
        match &self.place {
            Some(place) => format!("{:?} ({place})", self.text),
            None => format!("{:?}", self.text),
        }
    }
}

/// Which tools a rule means, as it was written; nothing where that cannot be told.
pub(in crate::shape) fn selector(text: &str) -> Option<&str> {
    halves(text).ok().map(|(selector, _)| selector)
}

/// The pattern of a rule and its conditions. Names may have blanks in them, so the first operator decides where the
/// pattern ends.
fn halves(text: &str) -> Result<(&str, Vec<&str>), String> {
    let text = text.trim();
    let Some((at, _)) = operator(text) else {
        if ["==", "!=", "<", ">"].iter().any(|sign| text.contains(sign)) {
            return Err(
                "it is not a pattern of tools; a condition is `argument == value`, with blanks".to_owned()
            );
        }
        return Ok((text, Vec::new()));
    };
    let Some(blank) = text[..at].trim_end().rfind(char::is_whitespace) else {
        return Err(
            "a condition needs a pattern before it, such as `fs/write_file path == /srv/**`".to_owned()
        );
    };
    Ok((text[..blank].trim(), text[blank..].split(" and ").map(str::trim).collect()))
}

fn glob(pattern: &str) -> Result<Glob, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(false).backslash_escape(true).build();
    glob.map_err(|error| error.kind().to_string())
}

fn unknown_risk(word: &str) -> String {
    let near = nearest(word, RiskWord::WORDS).map(|near| format!("; did you mean risk:{near}?"));
    format!("unknown risk {word:?}; write {}{}", RiskWord::WORDS.join(", "), near.unwrap_or_default())
}
