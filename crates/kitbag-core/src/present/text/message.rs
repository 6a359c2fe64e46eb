//! What a model reads after a call.

use super::{ANSWER, ERROR, NOTE, looks_ours};
use crate::text::neutral;

/// What stands for an answer without words.
const NOTHING: &str = "The tool ran and returned nothing.";

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextMessage {
    /// Who it is from, as far as the model is concerned.
    pub role: &'static str,
    /// The text.
    pub content: String,
}

impl TextMessage {
    fn new(words: &str, notes: &[String]) -> Self {
        let mut content = format!("{ANSWER}\n{words}");
        for note in notes {
            content.push_str(&format!("\n{NOTE} {}", quoted(note)));
        }
        Self { role: "user", content }
    }
}

/// What a tool answered, and what else the model should know.
pub fn result(text: &str, notes: &[String]) -> TextMessage {
    let words = quoted(text);
    TextMessage::new(if words.trim().is_empty() { NOTHING } else { &words }, notes)
}

/// Why there is no answer. Never without words.
pub fn error(text: &str, notes: &[String]) -> TextMessage {
    let words = quoted(text.trim());
    let words = if words.is_empty() { "the call failed, and no reason was given" } else { &words };
    TextMessage::new(&format!("{ERROR} {words}"), notes)
}

/// The text with every line quoted that could be taken for one of ours.
fn quoted(text: &str) -> String {
    let text = neutral(text);
    let looks_ours = |line: &str| looks_ours(line.trim_start());
    if !text.lines().any(looks_ours) {
        return text.into_owned();
    }
    let lines = text.lines().map(|line| if looks_ours(line) { format!("> {line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}
