//! Rewriting a file that a person also edits: one entry changes, every other byte stays.
//!
//! The parser only says where things stand; the change itself is a cut or an insertion at those bytes.
//! That way nothing else can move.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use serde_json::{Map, Value};

use super::tree::JSONC;

/// Why a file was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file cannot be parsed, so nobody knows what a change would break.
    #[error("the file is not valid JSON: {0}")]
    Broken(String),
    /// The container is something else than a map.
    #[error("{0:?} is not a map in this file")]
    NotAMap(String),
}

/// Sets `path[last]` in a JSON file to `value`, making the maps on the way as needed. An empty text counts
/// as an empty map.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    let (mark, body) = split_mark(text);
    let root = match parse(body)? {
        Some(Ast::Object(root)) => root,
        Some(_) => return Err(EditError::NotAMap("the file".into())),
        None => return Ok(format!("{mark}{}", first_map(body, path, value))),
    };
    let page = Page { text: body, unit: unit(body, &root), end: line_end(body) };
    let mut map = &root;
    for (index, key) in way.iter().enumerate() {
        match property(map, key).map(|property| &property.value) {
            Some(Ast::Object(inner)) => map = inner,
            Some(_) => return Err(EditError::NotAMap((*key).to_owned())),
            None => {
                let (_, rest) = path.split_at(index + 1);
                return Ok(format!("{mark}{}", page.insert(map, key, &nested(rest, value))));
            }
        }
    }
    let edited = match property(map, last) {
        Some(property) => page.replace(map, property, value),
        None => page.insert(map, last, value),
    };
    Ok(format!("{mark}{edited}"))
}

/// Removes `path[last]` from a JSON file; whether it was there. Of several entries with that name none stays.
pub fn remove(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(None) };
    let (mark, body) = split_mark(text);
    let mut body = body.to_owned();
    let mut found = false;
    loop {
        let cuts = match parse(&body)? {
            Some(Ast::Object(root)) => container(&root, way).and_then(|map| cuts(&body, map, last)),
            _ => None,
        };
        let Some(cuts) = cuts else { break };
        for cut in cuts.into_iter().rev() {
            body.replace_range(cut, "");
        }
        found = true;
    }
    Ok(found.then(|| format!("{mark}{body}")))
}

/// A byte order mark, and what follows it.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn parse(text: &str) -> Result<Option<Ast<'_>>, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &collect, &JSONC);
    parsed.map(|parsed| parsed.value).map_err(|error| EditError::Broken(error.to_string()))
}

/// Of two entries with one name the later counts.
fn property<'a, 'b>(map: &'b Object<'a>, key: &str) -> Option<&'b ObjectProp<'a>> {
    map.properties.iter().rev().find(|property| property.name.as_str() == key)
}

fn container<'a, 'b>(root: &'b Object<'a>, way: &[&str]) -> Option<&'b Object<'a>> {
    way.iter().try_fold(root, |map, key| property(map, key)?.value.as_object())
}

/// `value` under the keys that lead to it.
fn nested(path: &[&str], value: &Value) -> Value {
    let wrap = |inner: Value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
    path.iter().rev().fold(value.clone(), wrap)
}

/// A file without a value, empty or all comments, gets its first map behind them.
fn first_map(body: &str, path: &[&str], value: &Value) -> String {
    let end = line_end(body);
    let before = if body.trim().is_empty() { "" } else { body };
    let gap = if before.is_empty() || before.ends_with('\n') { "" } else { end };
    let page = Page { text: "", unit: "  ".to_owned(), end };
    format!("{before}{gap}{}{end}", page.print(&nested(path, value), ""))
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// One level of the file's own indentation.
fn unit(text: &str, root: &Object<'_>) -> String {
    let first = root.properties.first().and_then(|property| indent(text, property.start()));
    first.filter(|indent| !indent.is_empty()).unwrap_or("  ").to_owned()
}

/// The blanks before a byte, if nothing else stands before it on its line.
fn indent(text: &str, at: usize) -> Option<&str> {
    let line = &text[text[..at].rfind('\n')? + 1..at];
    line.trim().is_empty().then_some(line)
}

/// The blanks that begin a byte's line.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start().len()]
}

/// What stands between two entries or before a closing brace.
struct Gap {
    /// The comma, if there is one.
    comma: Option<usize>,
    /// Where the comments on the line of the comma, or else of the entry before, end.
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
struct Page<'a> {
    text: &'a str,
    unit: String,
    end: &'static str,
}

impl Page<'_> {
    fn replace(&self, map: &Object<'_>, property: &ObjectProp<'_>, value: &Value) -> String {
        let Range { start, end } = property.value.start()..property.value.end();
        let one_line = !self.text[map.start()..map.end()].contains('\n');
        let new = if one_line {
            value.to_string()
        } else {
            self.print(value, line_indent(self.text, property.start()))
        };
        format!("{}{new}{}", &self.text[..start], &self.text[end..])
    }

    fn insert(&self, map: &Object<'_>, key: &str, value: &Value) -> String {
        let (open, close) = (map.start(), map.end() - 1);
        let key = Value::from(key);
        let Some(last) = map.properties.last() else {
            let base = line_indent(self.text, open);
            let indent = format!("{base}{}", self.unit);
            let at = gap(self.text, open + 1).line;
            let closing = if self.text[at..close].contains('\n') {
                String::new()
            } else {
                format!("{}{base}", self.end)
            };
            let entry = format!("{}{indent}{key}: {}{closing}", self.end, self.print(value, &indent));
            return self.at(at, &entry);
        };
        let gap = gap(self.text, last.end());
        let entry = if self.text[open..close].contains('\n') {
            let indent = match indent(self.text, last.start()) {
                Some(indent) => indent.to_owned(),
                None => format!("{}{}", line_indent(self.text, open), self.unit),
            };
            format!("{}{indent}{key}: {}", self.end, self.print(value, &indent))
        } else {
            format!(" {key}: {value}")
        };
        match gap.comma {
            // Whoever ends the last entry with a comma wants the new one to end so too.
            Some(_) => self.at(gap.line, &(entry + ",")),
            None => {
                let (before, after) = self.text.split_at(last.end());
                let (comments, after) = after.split_at(gap.line - last.end());
                format!("{before},{comments}{entry}{after}")
            }
        }
    }

    fn at(&self, at: usize, new: &str) -> String {
        format!("{}{new}{}", &self.text[..at], &self.text[at..])
    }

    /// A value over several lines, as it stands in a line that begins with `indent`.
    fn print(&self, value: &Value, indent: &str) -> String {
        let lines = format!("{value:#}");
        let own = |line: &str| {
            let words = line.trim_start_matches(' ');
            self.unit.repeat((line.len() - words.len()) / 2) + words
        };
        lines.lines().map(own).collect::<Vec<_>>().join(&format!("{}{indent}", self.end))
    }
}

/// The bytes to cut so that an entry is gone: the entry, one comma, and the blanks that joined it.
fn cuts(text: &str, map: &Object<'_>, key: &str) -> Option<Vec<Range<usize>>> {
    let index = map.properties.iter().rposition(|property| property.name.as_str() == key)?;
    let property = map.properties.get(index)?;
    let own = gap(text, property.end()).comma;
    let before = index.checked_sub(1).and_then(|before| map.properties.get(before));
    // The last entry takes the comma before it along; any other, and one with a comma of its own, that one.
    let comma = own.or_else(|| gap(text, before?.end()).comma);
    let behind = own.map_or(property.end(), |comma| comma + 1);
    let rest = &text[behind..];
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    let between = own.map_or("", |comma| &text[property.end()..comma]);
    let alone = line.trim().is_empty() && between.trim().is_empty();
    let mut cut = property.start()..property.end();
    match indent(text, property.start()) {
        // Alone on its line: the line goes.
        Some(indent) if alone && line.len() < rest.len() => {
            cut.start -= indent.len() + 1;
            cut.start -= usize::from(text[..cut.start].ends_with('\r'));
        }
        Some(_) => {}
        None if own.is_none() => cut.start -= blanks_before(&text[..cut.start]),
        None => {}
    }
    let mut cuts = vec![cut];
    if let Some(at) = comma {
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
