//! Questions about text that every stage asks: what cannot be seen, what was probably meant, what must not
//! be shown.

mod globs;
mod known;
mod log;
mod near;
mod neutral;
mod redact;
mod time;

#[cfg(test)]
mod tests;

pub use globs::{BadGlob, Globs};
pub use known::Redactor;
pub use log::redact_log;
pub(crate) use near::Asked;
pub use near::{all_nearest, nearest};
pub use neutral::neutral;
pub(crate) use redact::STAND_INS;
pub use redact::{
    Grammar, MASK, line as redact_line, line_in as redact_line_in, looks_secret, names_secret,
    url as redact_url, words as redact_words,
};
pub use time::{rfc3339, rfc3339_millis};

/// A text of at most this many bytes, with a sign where it was cut.
pub fn cut(mut text: String, most: usize) -> String {
    if most < text.len() {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Characters that take part in a text without showing: format characters (zero-width, bidirectional, tags,
/// number signs of some scripts), line and paragraph separators, variation selectors, fillers, and code points
/// that mean nothing to a reader (private use, noncharacters). Ordinary blanks and controls are not among them.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{0600}'..='\u{0605}' | '\u{061c}' | '\u{06dd}' | '\u{070f}'
        | '\u{0890}'..='\u{0891}' | '\u{08e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        | '\u{f0000}'..='\u{10ffff}')
        // The last two code points of every plane are no characters.
        || 0xfffe <= (c as u32 & 0xffff)
}

/// A text on one line, fit for terminals and logs: line ends and tabs become blanks, any other control or hidden
/// character is made visible.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // The `\n` that follows stands for both.
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\r' | '\t' => out.push(' '),
            c => push_visible(&mut out, c),
        }
    }
    out
}

/// The text with every control and hidden character made visible as `\u{…}`, for terminals and logs.
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        push_visible(&mut out, c);
        out
    })
}

fn push_visible(out: &mut String, c: char) {
    if c.is_control() || is_hidden(c) {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}
