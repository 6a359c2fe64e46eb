//! A file's text and the way back from a byte to line, column and a snippet that may be shown.

use std::cell::Cell;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::tree::Position;
use crate::fault::{Fault, FaultKind, Snippet, SourceLocation};
use crate::text::{Grammar, redact_line_in, visible};

/// How much of a long line a snippet shows around the trouble.
const WINDOW: usize = 48;
/// A line beyond this is only looked at around the trouble.
const LONG: usize = 2000;
/// How much before a line is read to know what it is about.
const BEFORE: usize = 16 << 10;
/// How much is read so for one file; a fault beyond that says where, and shows nothing.
const ALL_BEFORE: usize = 2 << 20;
/// Bytes between two remembered character counts; without them a file of one long line costs its square.
const STRIDE: usize = 256;

/// The text of one configuration file; it may hold secrets and does not print.
#[derive(Clone)]
pub struct Source<'a> {
    file: Arc<Path>,
    text: &'a str,
    starts: Vec<usize>,
    /// Characters before every `STRIDE`th byte; empty when all are ASCII.
    counts: Vec<usize>,
    /// What may still be read before lines.
    left: Cell<usize>,
}

impl<'a> Source<'a> {
    /// A file's text; a byte order mark is not part of it.
    pub fn new(file: impl Into<Arc<Path>>, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // A line ends with \n, \r\n or, as YAML and editors have it, \r alone.
        let bytes = text.as_bytes();
        let ends =
            |at: &usize| bytes[*at] == b'\n' || bytes[*at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        let starts = std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|at| at + 1)).collect();
        Self { file: file.into(), text, starts, counts: counts(text), left: Cell::new(ALL_BEFORE) }
    }

    /// The file's name.
    pub fn file(&self) -> &Arc<Path> {
        &self.file
    }

    /// Its text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = self.chars_before(byte).saturating_sub(self.chars_before(start));
        Position { line: line as u32 + 1, column: column as u32 + 1 }
    }

    fn chars_before(&self, byte: usize) -> usize {
        match self.counts.get(byte / STRIDE) {
            None => byte,
            Some(known) => {
                known
                    + self.text.as_bytes()[byte - byte % STRIDE..byte]
                        .iter()
                        .filter(|b| begins_char(**b))
                        .count()
            }
        }
    }

    /// A position with the file it belongs to.
    pub fn place(&self, at: Position) -> SourceLocation {
        SourceLocation { file: self.file.clone(), line: at.line, column: at.column }
    }

    /// Puts place and snippet on a fault.
    pub fn mark(&self, fault: Fault, at: Position) -> Fault {
        let grammar = if fault.kind == FaultKind::Syntax { Grammar::Broken } else { Grammar::Kept };
        Fault { snippet: self.snippet(at, grammar), ..fault.at(self.place(at)) }
    }

    fn snippet(&self, at: Position, grammar: Grammar) -> Option<Snippet> {
        let line = (at.line as usize).checked_sub(1)?;
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        let text = self.text.get(start..end)?.trim_end_matches('\r');
        let split = (self.byte_of(start, at.column as usize) - start).min(text.len());
        // A line of megabytes is looked at only around the trouble.
        let near = if split <= LONG { 0 } else { window_start(text, split) };
        let far =
            (split + 2 * WINDOW..text.len()).find(|byte| text.is_char_boundary(*byte)).unwrap_or(text.len());
        let context = if near == 0 { self.before(line, start) } else { "" };
        self.left.set(self.left.get().checked_sub(context.len())?);
        let (redacted, before) = redact_line_in(context, &text[near..far], split - near, grammar);
        let (head, tail) = redacted.split_at(before);
        let head = legible(head);
        let skip = head.chars().count().saturating_sub(WINDOW);
        let mut shown: String = if 0 < skip { "…".to_owned() } else { String::new() };
        shown.extend(head.chars().skip(skip));
        let start = shown.chars().count();
        shown.extend(legible(tail).chars().take(WINDOW));
        Some(Snippet { text: shown, start })
    }

    /// Whole lines before the one that begins at `start`.
    fn before(&self, line: usize, start: usize) -> &'a str {
        let from = start.saturating_sub(BEFORE);
        let first = self.starts[..line].partition_point(|begin| *begin < from);
        self.starts.get(first).and_then(|from| self.text.get(*from..start)).unwrap_or_default()
    }

    /// The byte at a column of the line that begins at `start`, found without walking a long line.
    fn byte_of(&self, start: usize, column: usize) -> usize {
        let wanted = self.chars_before(start) + column.saturating_sub(1);
        if self.counts.is_empty() {
            return wanted.min(self.text.len());
        }
        let stride = self.counts.partition_point(|known| *known <= wanted).saturating_sub(1);
        let known = self.counts.get(stride).copied().unwrap_or(0);
        let from = stride * STRIDE;
        let mut starts = (from..self.text.len()).filter(|byte| self.text.is_char_boundary(*byte));
        starts.nth(wanted - known).unwrap_or(self.text.len())
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("file", &self.file).field("bytes", &self.text.len()).finish()
    }
}

/// Tabs as arrows, other control characters as escapes.
fn legible(text: &str) -> String {
    visible(&text.replace('\t', "→"))
}

fn counts(text: &str) -> Vec<usize> {
    if text.is_ascii() {
        return Vec::new();
    }
    let strides =
        text.as_bytes().chunks(STRIDE).map(|chunk| chunk.iter().filter(|b| begins_char(**b)).count());
    let sums = strides.scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

fn begins_char(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// Where to begin looking at a long line: at a token's start shortly before the trouble.
fn window_start(text: &str, split: usize) -> usize {
    let mut from = split - WINDOW;
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    // Cutting inside a quoted value would make the rest of it look like keys: begin at a quote or brace after
    // a comma, or not before the trouble.
    let comma = text[from..split].rfind([',', '{', '[']).map(|comma| from + comma + 1);
    comma.filter(|at| text[*at..split].trim_start().starts_with(['"', '{', '['])).unwrap_or(split)
}
