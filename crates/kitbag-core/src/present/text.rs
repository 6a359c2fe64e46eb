//! Tools for models without tool calling: a list in the prompt, and calls written as a line
//! `TOOL: name arguments` in the reply.
//!
//! A call is only ever read from the assistant's own reply. What a tool answered goes back as a message
//! in which only the lines we wrote begin with a word of ours: any other that does is quoted with `> `. So no
//! answer speaks in our name, and even a model that repeats one word by word calls nothing.

use crate::names::ServerName;
use crate::present::Intent;
use crate::shape::View;

mod bind;
mod listing;
mod message;
mod parse;
mod resolve;

#[cfg(test)]
mod tests;

pub use bind::bind;
pub use listing::{instruction, listing};
pub use message::{TextMessage, error, result};
pub use parse::{ParsedReply, WrittenArguments, WrittenCall, parse};
pub use resolve::{ResolvedTool, resolve};

/// What a line of a reply begins with when it is a call.
pub const MARKER: &str = "TOOL:";
/// What a message begins with that tells what a tool answered.
pub const ANSWER: &str = "SYSTEM:";
/// What the answer of a call that failed begins with.
const ERROR: &str = "ERROR:";
/// What a line begins with that tells the model something beside the answer.
const NOTE: &str = "NOTE:";
/// Every word that means something at the beginning of a line. What others wrote never begins with one.
const OURS: [&str; 4] = [MARKER, ANSWER, ERROR, NOTE];

/// Whether a text begins with one of our words, in whichever case: a model reads `System:` like `SYSTEM:`.
fn looks_ours(text: &str) -> bool {
    let begins = |word: &&str| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    OURS.iter().any(begins)
}

/// What an agent may use.
#[derive(Clone, Copy, Debug)]
pub struct Toolbelt<'a> {
    /// The tools.
    pub view: &'a View,
    /// Under which name the program's own tools stand in the view.
    pub local: Option<&'a ServerName>,
    /// The servers it declared, in the order declared. Tools of others are not its own, even if the view
    /// has them.
    pub servers: &'a [DeclaredServer<'a>],
    /// Tools of servers that are configured but not declared, as server and tool, as far as the user may
    /// know of them.
    pub others: &'a [(&'a str, &'a str)],
}

/// A server that an agent declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredServer<'a> {
    /// The name as declared.
    pub name: &'a str,
    /// How it stands with it.
    pub standing: DeclaredState<'a>,
}

/// How it stands with a declared server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredState<'a> {
    /// Its tools are known and can be called.
    Ready,
    /// It cannot be reached, and why in one line.
    Away(&'a str),
    /// No server of that name is configured.
    Unknown,
}

/// How many calls of one reply are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallsPerReply {
    /// The first.
    #[default]
    First,
    /// All, in order.
    InOrder,
}

/// What a reply means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedReply {
    /// In order: what was said before a call, and the calls. A reply without a call is the answer.
    pub intents: Vec<Intent>,
    /// What belongs into the history: what was said and the calls that are made.
    pub history: String,
    /// What the model should know beside the result: calls that are not made, a name that fits several tools.
    pub notes: Vec<String>,
}

/// Reads a reply. What stands behind the last call was written without knowing its result and is dropped.
pub fn decode(belt: &Toolbelt<'_>, reply: &str, calls: CallsPerReply) -> DecodedReply {
    let reply = parse(reply);
    if reply.calls.is_empty() {
        let (intents, history) = (vec![Intent::Say(reply.said.clone())], reply.said);
        return DecodedReply { intents, history, notes: Vec::new() };
    }
    let made = match calls {
        CallsPerReply::First => 1,
        CallsPerReply::InOrder => reply.calls.len(),
    };
    let mut decoded = DecodedReply { history: reply.kept(made), ..DecodedReply::default() };
    if !reply.said.is_empty() {
        decoded.intents.push(Intent::Say(reply.said.clone()));
    }
    for call in reply.calls.iter().take(made) {
        let intent = intent(belt, call, &mut decoded.notes);
        decoded.intents.push(intent.unwrap_or_else(|repair| Intent::Malformed { repair }));
    }
    decoded.notes.extend(reply.rest(made));
    decoded
}

fn intent(belt: &Toolbelt<'_>, call: &WrittenCall, notes: &mut Vec<String>) -> Result<Intent, String> {
    let ResolvedTool { shown, note } = resolve(belt, &call.name)?;
    let arguments = bind(shown, &call.arguments)?;
    notes.extend(note);
    Ok(Intent::Call { tool: shown.name.to_string(), arguments })
}
