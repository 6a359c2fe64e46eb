//! One text and the ways of its writer: where members and commas stand, and how a new one is put in or an old
//! one cut out.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use serde_json::Value;

/// A file without a value, empty or all comments, gets its first one behind them.
pub(super) fn first_value(body: &str, value: &Value) -> String {
    let end = line_end(body);
    let before = if body.trim().is_empty() { "" } else { body };
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    let page = Page { text: "", unit: "  ".to_owned(), end };
    format!("{before}{gap}{}{end}", page.print(value, ""))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// The blanks before a byte, if nothing else stands before it on its line.
fn indent(text: &str, at: usize) -> Option<&str> {
    let line = &text[text[..at].rfind('\n')? + 1..at];
    line.trim().is_empty().then_some(line)
}

/// The blanks that begin a byte's line.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start().len()]
}

/// What a map or list holds, by the bytes.
#[derive(Default)]
pub(super) struct Members {
    open: usize,
    close: usize,
    pub(super) spans: Vec<Range<usize>>,
}

impl Members {
    pub(super) fn of(value: &Ast<'_>) -> Option<Self> {
        match value {
            Ast::Object(map) => Some(Self::of_map(map)),
            Ast::Array(list) => Some(Self {
                open: list.start(),
                close: list.end() - 1,
                spans: list.elements.iter().map(range).collect(),
            }),
            _ => None,
        }
    }

    pub(super) fn of_map(map: &Object<'_>) -> Self {
        let span = |property: &ObjectProp<'_>| property.start()..property.end();
        Self { open: map.start(), close: map.end() - 1, spans: map.properties.iter().map(span).collect() }
    }

    fn is_one_line(&self, text: &str) -> bool {
        !text[self.open..self.close].contains('\n')
    }
}

/// What stands between two members or before the closing brace.
struct Gap {
    /// The comma, if there is one.
    comma: Option<usize>,
    /// Where the comments on the line of the comma, or else of the member before, end.
    line: usize,
}

/// Reads blanks, comments and at most one comma from `at` on.
fn gap(text: &str, at: usize) -> Gap {
    let mut gap = Gap { comma: None, line: at };
    let mut same_line = true;
    let mut at = at;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        at += match c {
            ',' if gap.comma.is_none() => {
                gap = Gap { comma: Some(at), line: at + 1 };
                same_line = true;
                1
            }
            '\n' => {
                same_line = false;
                1
            }
            c if c.is_whitespace() => c.len_utf8(),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => break,
        };
        if same_line && c == '/' {
            gap.line = text[..at].trim_end_matches('\r').len();
        }
    }
    gap
}

/// A text to write into, and the ways of its writer.
pub(super) struct Page<'a> {
    text: &'a str,
    /// One level of the file's own indentation.
    unit: String,
    end: &'static str,
}

impl<'a> Page<'a> {
    pub(super) fn new(text: &'a str, root: &Ast<'_>) -> Self {
        let first = Members::of(root).and_then(|members| members.spans.first().map(|span| span.start));
        let unit = first.and_then(|at| indent(text, at)).filter(|indent| !indent.is_empty());
        Self { text, unit: unit.unwrap_or("  ").to_owned(), end: line_end(text) }
    }

    /// A value in the place of a member's, which begins at `start`, its key included.
    pub(super) fn replace(
        &self,
        members: &Members,
        start: usize,
        old: Range<usize>,
        value: &Value,
    ) -> String {
        let new = if members.is_one_line(self.text) {
            value.to_string()
        } else {
            self.print(value, line_indent(self.text, start))
        };
        self.splice(old, &new)
    }

    /// A new member behind the last one.
    pub(super) fn insert(&self, members: &Members, key: Option<&str>, value: &Value) -> String {
        let &Members { open, close, .. } = members;
        let key = key.map(|key| format!("{}: ", Value::from(key))).unwrap_or_default();
        let Some(last) = members.spans.last() else {
            let base = line_indent(self.text, open);
            let indent = format!("{base}{}", self.unit);
            let at = gap(self.text, open + 1).line;
            let closing = if self.text[at..close].contains('\n') {
                String::new()
            } else {
                format!("{}{base}", self.end)
            };
            let entry = format!("{}{indent}{key}{}{closing}", self.end, self.print(value, &indent));
            return self.splice(at..at, &entry);
        };
        let gap = gap(self.text, last.end);
        let entry = if members.is_one_line(self.text) {
            format!(" {key}{value}")
        } else {
            let indent = match indent(self.text, last.start) {
                Some(indent) => indent.to_owned(),
                None => format!("{}{}", line_indent(self.text, open), self.unit),
            };
            format!("{}{indent}{key}{}", self.end, self.print(value, &indent))
        };
        match gap.comma {
            // Whoever ends the last member with a comma wants the new one to end so too.
            Some(_) => self.splice(gap.line..gap.line, &(entry + ",")),
            None => {
                let comments = &self.text[last.end..gap.line];
                self.splice(last.end..gap.line, &format!(",{comments}{entry}"))
            }
        }
    }

    pub(super) fn splice(&self, old: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..old.start], &self.text[old.end..])
    }

    /// A value over several lines, as it stands in a line that begins with `indent`.
    pub(super) fn print(&self, value: &Value, indent: &str) -> String {
        let lines = format!("{value:#}");
        let own = |line: &str| {
            let words = line.trim_start_matches(' ');
            self.unit.repeat((line.len() - words.len()) / 2) + words
        };
        lines.lines().map(own).collect::<Vec<_>>().join(&format!("{}{indent}", self.end))
    }
}

/// The bytes to cut so that a member is gone: the member, one comma, and the blanks that joined it.
pub(super) fn cuts(text: &str, members: &Members, index: usize) -> Option<Vec<Range<usize>>> {
    let member = members.spans.get(index)?;
    let own = gap(text, member.end).comma;
    let before = index.checked_sub(1).and_then(|before| members.spans.get(before));
    // The last member takes the comma before it along; any other, and one with a comma of its own, that one.
    let comma = own.or_else(|| gap(text, before?.end).comma);
    let behind = own.map_or(member.end, |comma| comma + 1);
    let rest = &text[behind..];
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    let between = own.map_or("", |comma| &text[member.end..comma]);
    let alone = line.trim().is_empty() && between.trim().is_empty();
    let mut cut = member.clone();
    match indent(text, member.start) {
        // Alone on its line: the line goes.
        Some(indent) if alone && line.len() < rest.len() => {
            cut.start -= indent.len() + 1;
            cut.start -= usize::from(text[..cut.start].ends_with('\r'));
            cut.end = behind + line.trim_end_matches('\r').len();
        }
        Some(_) => {}
        None if own.is_none() => cut.start -= blanks_before(&text[..cut.start]),
        None => {}
    }
    let mut cuts = vec![cut.clone()];
    if let Some(at) = comma.filter(|at| !cut.contains(at)) {
        let after = &text[at + 1..];
        // In the middle of a line the blank behind the comma goes too.
        let blanks = if own.is_some() && !line.trim().is_empty() {
            after.len() - after.trim_start_matches([' ', '\t']).len()
        } else {
            0
        };
        cuts.push(at..at + 1 + blanks);
    }
    cuts.sort_by_key(|cut| cut.start);
    Some(cuts)
}

fn blanks_before(text: &str) -> usize {
    text.len() - text.trim_end_matches([' ', '\t']).len()
}

pub(super) fn range(value: &Ast<'_>) -> Range<usize> {
    value.start()..value.end()
}
