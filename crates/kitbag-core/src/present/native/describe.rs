//! Descriptions of tools, as long as a provider takes them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{NativeRequest, Provider};
use crate::catalog::Tool;

/// How long a description may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionLimit {
    /// In characters; none is as long as it is.
    pub longest: Option<usize>,
    /// What stands where one was cut; says where the rest is.
    pub pointer: Cow<'static, str>,
}

impl DescriptionLimit {
    /// As the provider wants it.
    pub fn of(provider: Provider) -> Self {
        Self { longest: provider.row().description, pointer: Cow::Borrowed("[shortened]") }
    }
}

/// What a tool's description is, if there is anything to say.
pub(super) fn description(
    tool: &Tool,
    said: &[String],
    request: &NativeRequest,
    notes: &mut Vec<String>,
) -> Option<String> {
    let own = tool.description.trim();
    let own = if own.is_empty() { tool.title.as_deref().unwrap_or_default() } else { own };
    let said = said.join(" ");
    let DescriptionLimit { longest, pointer } = &request.describe;
    let longest = longest.unwrap_or(usize::MAX);
    let extra = if said.is_empty() { 0 } else { said.chars().count() + 2 };
    let text = if own.chars().count() + extra <= longest {
        Cow::Borrowed(own)
    } else {
        notes.push(format!("its description is cut to {longest} characters"));
        let kept = longest.saturating_sub(extra + pointer.chars().count() + 1);
        Cow::Owned(format!("{} {pointer}", cut(own, kept)))
    };
    let text = match (text.is_empty(), said.is_empty()) {
        (_, true) => text.into_owned(),
        (true, false) => said,
        (false, false) => format!("{text}\n\n{said}"),
    };
    let text = if longest < text.chars().count() { text.chars().take(longest).collect() } else { text };
    Some(text).filter(|text| !text.is_empty())
}

/// At most so many characters: whole sentences if more than half of it are some, else whole words.
fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    let sentence = head.char_indices().rev().find(|(at, c)| {
        let after = text[at + c.len_utf8()..].chars().next();
        matches!(c, '。' | '！' | '？')
            || *c == '\n'
            || matches!(c, '.' | '!' | '?') && after.is_none_or(char::is_whitespace)
    });
    let sentence = sentence.map(|(at, c)| at + c.len_utf8()).filter(|at| end / 2 <= *at);
    let word = || head.rfind(char::is_whitespace).filter(|at| end / 2 <= *at);
    head[..sentence.or_else(word).unwrap_or(end)].trim_end()
}

/// Adds to a description what no keyword says.
pub(super) fn hint(schema: &mut Map<String, Value>, hints: &[String]) {
    if hints.is_empty() {
        return;
    }
    let hints = hints.join("; ");
    let text = match schema.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => hints,
        Some(text) => format!("{text} ({hints})"),
    };
    schema.insert("description".to_owned(), text.into());
}
