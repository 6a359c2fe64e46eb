//! Sets of tools by which private data can be carried off: one reads it, one brings in text that others wrote and that may
//! hold orders for the model, and one sends something out. Each alone is harmless.
//!
//! What a tool does is what the operator says of it (`risk`), else what its words let suppose. What its server says in
//! annotations does not count: whoever lies there would be let through.

use std::collections::BTreeSet;

use crate::catalog::Tool;
use crate::model::{Effect, Risk};

mod words;

#[cfg(test)]
mod tests;

use words::{
    ADDRESSES, BODIES, CODE, COMMANDS, FOREIGN, PRIVATE, PRIVATE_ALONE, PUBLIC, READ, RECIPIENTS, RUN, SEND,
    WEB, WRITE,
};
pub use words::{WORD_LISTS, WordList};

/// What a tool does in a set of tools, as far as can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolLabels {
    /// It reads private data.
    pub private: bool,
    /// It brings in text that others wrote.
    pub untrusted: bool,
    /// It sends something out.
    pub sends: bool,
}

impl ToolLabels {
    /// Those of a tool, by what the operator says of its risk and else by its words.
    pub fn of(tool: &Tool, risk: Risk) -> Self {
        let words = ToolWords::of(tool);
        let by_words =
            Self { private: words.reads_private(), untrusted: words.brings_text(), sends: words.sends() };
        let reaches_out = words.takes_address() || words.runs_commands();
        match risk.open {
            // What stays on the machine neither brings in nor sends.
            Some(false) => Self { private: by_words.private, ..Self::default() },
            Some(true) => {
                let sends = risk.effect != Some(Effect::Read) || reaches_out;
                Self { untrusted: true, sends, ..by_words }
            }
            // What changes nothing still sends what it puts into an address.
            None if risk.effect == Some(Effect::Read) => Self { sends: reaches_out, ..by_words },
            None => by_words,
        }
    }

    fn count(self) -> usize {
        [self.private, self.untrusted, self.sends].into_iter().filter(|label| *label).count()
    }
}

/// Three tools, or fewer, by which private data can be carried off; each as `server/tool`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToxicSet {
    /// Reads private data.
    pub private: String,
    /// Brings in text that others wrote.
    pub untrusted: String,
    /// Sends something out.
    pub sends: String,
}

impl ToxicSet {
    /// One of a set of tools, if there is any: of each label the tool that has the fewest others.
    pub fn of<'a>(tools: impl IntoIterator<Item = (&'a Tool, ToolLabels)>) -> Option<Self> {
        let mut best: [Option<(usize, &Tool)>; 3] = [None; 3];
        for (tool, labels) in tools {
            let has = [labels.private, labels.untrusted, labels.sends];
            for (best, _) in best.iter_mut().zip(has).filter(|(_, has)| *has) {
                if best.is_none_or(|(count, _)| labels.count() < count) {
                    *best = Some((labels.count(), tool));
                }
            }
        }
        let [Some((_, private)), Some((_, untrusted)), Some((_, sends))] = best else { return None };
        let name = |tool: &Tool| format!("{}/{}", tool.server, tool.name);
        Some(Self { private: name(private), untrusted: name(untrusted), sends: name(sends) })
    }
}

impl std::fmt::Display for ToxicSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { private, untrusted, sends } = self;
        write!(f, "{private} reads private data, {untrusted} brings in untrusted text, {sends} sends out")
    }
}

/// The words of a tool that say what it does.
struct ToolWords {
    name: BTreeSet<String>,
    /// Those of its server's name, its heading and the first sentence of its description.
    around: BTreeSet<String>,
    arguments: BTreeSet<String>,
}

impl ToolWords {
    fn of(tool: &Tool) -> Self {
        let first = tool.description.split(['.', '\n']).find(|sentence| !sentence.trim().is_empty());
        let around =
            [tool.server.as_str(), tool.category.as_deref().unwrap_or_default(), first.unwrap_or_default()];
        let arguments = tool.input.get("properties").and_then(serde_json::Value::as_object);
        Self {
            name: words(tool.name.as_str()).collect(),
            around: around.into_iter().flat_map(words).collect(),
            arguments: arguments.into_iter().flat_map(|all| all.keys()).flat_map(|key| words(key)).collect(),
        }
    }

    fn is_named(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.name.contains(*word))
    }

    fn is_about(&self, list: &[&str]) -> bool {
        self.is_named(list) || list.iter().any(|word| self.around.contains(*word))
    }

    fn takes(&self, list: &[&str]) -> bool {
        list.iter().any(|word| self.arguments.contains(*word))
    }

    fn reads_private(&self) -> bool {
        self.is_named(READ) && self.is_about(PRIVATE) || self.is_named(PRIVATE_ALONE) || self.runs_commands()
    }

    fn brings_text(&self) -> bool {
        let is_read = self.is_named(READ);
        self.is_named(WEB)
            || is_read && (self.is_about(FOREIGN) || self.takes_address())
            || self.runs_commands()
    }

    fn sends(&self) -> bool {
        let is_read = self.is_named(READ);
        let writes_in_public = self.is_named(WRITE) && self.is_named(PUBLIC);
        !is_read && (self.is_named(SEND) || writes_in_public)
            || self.takes(RECIPIENTS) && self.takes(BODIES)
            || self.takes_address()
            || self.runs_commands()
    }

    /// The model chooses where it goes, and so what is written into the address.
    fn takes_address(&self) -> bool {
        self.takes(ADDRESSES)
    }

    fn runs_commands(&self) -> bool {
        self.is_named(RUN) && (self.takes(COMMANDS) || self.is_named(CODE))
    }
}

/// The words of a name or a sentence in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut all = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            all.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let Some(last) = all.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    all.into_iter().filter(|word| !word.is_empty())
}
