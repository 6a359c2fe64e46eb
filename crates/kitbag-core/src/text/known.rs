//! Hiding values that are known to be secret, however a program writes them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::redact::MASK;
use super::{one_line, redact_log};
use crate::model::Secret;

mod forms;
mod parts;

#[cfg(test)]
mod tests;

use forms::forms;
use parts::{PART, Parts};

/// Shorter values are words or numbers like any other; to hide them would hide what an error is about.
const SHORTEST: usize = 6;

/// How much of a line may matter for the next one.
const BEFORE: usize = 64;

/// Values that stand in examples, or that everybody has.
const COMMON: [&str; 25] = [
    "anonymous",
    "apikey",
    "bearer",
    "changeme",
    "credentials",
    "default",
    "development",
    "disabled",
    "enabled",
    "example",
    "localhost",
    "oauth2",
    "optional",
    "password",
    "placeholder",
    "postgres",
    "private",
    "production",
    "public",
    "required",
    "secret",
    "server",
    "staging",
    "undefined",
    "username",
];

/// Hides known values: plain, escaped, encoded, wrapped, and every part of at least twelve bytes. Clones share it.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Known>>);

struct Known {
    /// Ways to write a value that are shorter than a part.
    short: Option<AhoCorasick>,
    parts: Parts,
}

impl Redactor {
    /// Hides these values. Too short and too common ones are left: they would be found in any text.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let values =
            secrets.into_iter().map(|secret| secret.expose().trim()).filter(|value| is_telling(value));
        let forms: std::collections::BTreeSet<String> = values.flat_map(forms).collect();
        if forms.is_empty() {
            return Self(None);
        }
        let fits =
            |form: &&String| SHORTEST <= form.len() && form.lines().map(str::len).sum::<usize>() < PART;
        let short: Vec<&String> = forms.iter().filter(fits).collect();
        let kind = aho_corasick::MatchKind::LeftmostLongest;
        let short = Some(short)
            .filter(|short| !short.is_empty())
            .and_then(|short| AhoCorasick::builder().match_kind(kind).build(short).ok());
        Self(Some(Arc::new(Known { short, parts: Parts::new(forms.iter().map(String::as_str)) })))
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// A text without these values; the rest as it is, lines included.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.mask_after("", text)
    }

    /// The same of bytes.
    pub fn mask_bytes<'t>(&self, bytes: &'t [u8]) -> Cow<'t, [u8]> {
        let found = self.find(b"", bytes);
        if found.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(without(bytes, &found)) }
    }

    /// The same of a JSON value: its texts, its keys and numbers. Texts that follow each other are looked at as the
    /// lines they may be.
    pub fn mask_value(&self, value: &Value) -> Value {
        if self.is_empty() { value.clone() } else { self.walk(value, &mut String::new()) }
    }

    fn walk(&self, value: &Value, before: &mut String) -> Value {
        match value {
            Value::String(text) => {
                let masked = self.mask_after(before, text).into_owned();
                before.clear();
                before.push_str(tail(text));
                masked.into()
            }
            Value::Number(number) => {
                let text = number.to_string();
                if matches!(self.mask(&text), Cow::Owned(_)) { MASK.into() } else { value.clone() }
            }
            Value::Array(items) => items.iter().map(|item| self.walk(item, before)).collect(),
            Value::Object(fields) => {
                let field =
                    |(key, value): (&String, &Value)| (self.mask(key).into_owned(), self.walk(value, before));
                Value::Object(fields.iter().map(field).collect())
            }
            other => other.clone(),
        }
    }

    fn mask_after<'t>(&self, before: &str, text: &'t str) -> Cow<'t, str> {
        let found = self.find(before.as_bytes(), text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        // Ranges are whole characters, so this is text again.
        Cow::Owned(String::from_utf8_lossy(&without(text.as_bytes(), &found)).into_owned())
    }

    /// The beginning of a line, of about this length; a secret that the cut would leave half of is left out.
    pub fn head<'t>(&self, line: &'t [u8], most: usize) -> &'t [u8] {
        if line.len() <= most {
            return line;
        }
        // What begins before the cut shows itself within one part behind it, line ends not counted.
        let window = &line[..line.len().min(most + BEFORE)];
        let across = self.find(b"", window).into_iter().find(|found| found.start < most && most < found.end);
        &line[..across.map_or(most, |found| found.start)]
    }

    /// A line fit to be shown: without these values, without anything that looks like a secret, without control
    /// characters.
    pub fn line(&self, line: &[u8]) -> String {
        self.line_after(b"", line)
    }

    /// The same for a line that follows another, of which a secret may go on in it.
    pub fn line_after(&self, before: &[u8], line: &[u8]) -> String {
        let before = &before[before.len().saturating_sub(BEFORE)..];
        let found = self.find(before, line);
        let masked = if found.is_empty() { Cow::Borrowed(line) } else { Cow::Owned(without(line, &found)) };
        one_line(&redact_log(&String::from_utf8_lossy(&masked)))
    }

    /// What has to be hidden, in order and apart.
    fn find(&self, before: &[u8], text: &[u8]) -> Vec<Range<usize>> {
        let Some(known) = &self.0 else { return Vec::new() };
        let mut found = known.parts.find(before, text);
        if let Some(short) = &known.short {
            let parts = found.len();
            found.extend(short.find_iter(text).map(|found| found.range()));
            if 0 < parts && parts < found.len() {
                found.sort_unstable_by_key(|range| range.start);
            }
        }
        for range in &mut found {
            range.start = (0..=range.start).rev().find(|at| begins(text, *at)).unwrap_or(0);
            range.end = (range.end..text.len()).find(|at| begins(text, *at)).unwrap_or(text.len());
        }
        found.dedup_by(|next, last| {
            let meets = next.start <= last.end;
            last.end = if meets { last.end.max(next.end) } else { last.end };
            meets
        });
        found
    }
}

/// Whether a value tells something where it is found.
fn is_telling(value: &str) -> bool {
    SHORTEST <= value.chars().count() && !COMMON.contains(&value.to_ascii_lowercase().as_str())
}

/// Whether a character begins here; also in what is no text.
fn begins(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

/// The end of a text, as far as it may matter for the next.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(BEFORE);
    (from..text.len()).find_map(|at| text.get(at..)).unwrap_or_default()
}

/// The text with a mask in place of each range: one on every line, and lines indented as they were.
fn without(text: &[u8], found: &[Range<usize>]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len());
    let mut end = 0;
    for range in found {
        shown.extend_from_slice(&text[end..range.start]);
        end = range.end;
        for line in text[range.clone()].split_inclusive(|byte| *byte == b'\n') {
            let inner = line.trim_ascii();
            if inner.is_empty() {
                shown.extend_from_slice(line);
                continue;
            }
            let before = line.len() - line.trim_ascii_start().len();
            shown.extend_from_slice(&line[..before]);
            shown.extend_from_slice(MASK.as_bytes());
            shown.extend_from_slice(&line[before + inner.len()..]);
        }
    }
    shown.extend_from_slice(&text[end..]);
    shown
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Redactor(nothing)" } else { "Redactor(…)" })
    }
}
