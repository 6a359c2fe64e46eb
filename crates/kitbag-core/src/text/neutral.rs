//! Text for a model: nothing in it that a person reading the same text would not see.

use std::borrow::Cow;

use super::is_hidden;

/// The text without hidden and control characters; lines and tabs stay, and every line ends in `\n`.
pub fn neutral(text: &str) -> Cow<'_, str> {
    let keeps = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || is_hidden(c));
    if text.chars().all(keeps) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // The `\n` that follows stands for both.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            c if keeps(c) => out.push(c),
            _ => {}
        }
    }
    Cow::Owned(out)
}
