//! JSON text, cut and put together at the bytes where the parser says things stand: nothing else can move.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use serde_json::{Map, Value};

use super::super::tree::JSONC;
use super::EditError;

/// One value of a file: the root, or a member of what stands at the end of a way.
#[derive(Clone, Copy, Debug)]
pub(super) enum At<'a> {
    /// The root.
    Root,
    /// The member with this index of the map or list that these keys lead to.
    Member(&'a [&'a str], usize),
}

/// Sets `path[last]` to `value`, making the maps on the way as needed. An empty text counts as an empty map.
pub(super) fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(text.to_owned()) };
    put(text, way, Some(last), value)
}

/// Puts `value` at the end of the list that `way` leads to, making it and the maps on the way as needed.
pub(super) fn append(text: &str, way: &[&str], value: &Value) -> Result<String, EditError> {
    put(text, way, None, value)
}

fn put(text: &str, way: &[&str], key: Option<&str>, value: &Value) -> Result<String, EditError> {
    let (mark, body) = split_mark(text);
    // What stands at the end of the way when nothing does yet.
    let fresh = match key {
        Some(key) => nested(&[key], value),
        None => Value::Array(vec![value.clone()]),
    };
    let Some(root) = parse(body)? else {
        return Ok(format!("{mark}{}", first_value(body, &nested(way, &fresh))));
    };
    let page = Page::new(body, &root);
    let mut here = &root;
    for (index, step) in way.iter().enumerate() {
        let name = || index.checked_sub(1).and_then(|before| way.get(before)).copied();
        let Some(map) = here.as_object() else { return Err(not_a_map(name())) };
        match property(map, step) {
            Some(property) => here = &property.value,
            None => {
                let rest = way.get(index + 1..).unwrap_or_default();
                let edited = page.insert(&Members::of_map(map), Some(step), &nested(rest, &fresh));
                return Ok(format!("{mark}{edited}"));
            }
        }
    }
    let edited = match (here, key) {
        (Ast::Object(map), Some(key)) => match property(map, key) {
            Some(property) => {
                page.replace(&Members::of_map(map), property.start(), range(&property.value), value)
            }
            None => page.insert(&Members::of_map(map), Some(key), value),
        },
        (Ast::Array(_), None) => page.insert(&Members::of(here).unwrap_or_default(), None, value),
        (_, Some(_)) => return Err(not_a_map(way.last().copied())),
        (_, None) => return Err(EditError::NotAList(way.join("."))),
    };
    Ok(format!("{mark}{edited}"))
}

/// Puts another value in the place of one.
pub(super) fn replace(text: &str, at: At<'_>, value: &Value) -> Result<Option<String>, EditError> {
    let (mark, body) = split_mark(text);
    let Some(root) = parse(body)? else { return Ok(None) };
    let page = Page::new(body, &root);
    let edited = match at {
        At::Root => page.splice(range(&root), &page.print(value, line_indent(body, root.start()))),
        At::Member(way, index) => {
            let Some(holder) = value_at(&root, way) else { return Ok(None) };
            let Some((members, member)) = Members::of(holder).zip(member(holder, index)) else {
                return Ok(None);
            };
            let start = members.spans.get(index).map_or(member.start(), |span| span.start);
            page.replace(&members, start, range(member), value)
        }
    };
    Ok(Some(format!("{mark}{edited}")))
}

/// Sets a key of the map that stands somewhere.
pub(super) fn set_in(text: &str, at: At<'_>, key: &str, value: &Value) -> Result<Option<String>, EditError> {
    let (mark, body) = split_mark(text);
    let Some(root) = parse(body)? else { return Ok(None) };
    let Some(Ast::Object(map)) = find(&root, at) else { return Ok(None) };
    let page = Page::new(body, &root);
    let edited = match property(map, key) {
        Some(property) => {
            page.replace(&Members::of_map(map), property.start(), range(&property.value), value)
        }
        None => page.insert(&Members::of_map(map), Some(key), value),
    };
    Ok(Some(format!("{mark}{edited}")))
}

/// Gives a member of a map another key.
pub(super) fn rename(text: &str, way: &[&str], index: usize, key: &str) -> Result<Option<String>, EditError> {
    let (mark, body) = split_mark(text);
    let Some(root) = parse(body)? else { return Ok(None) };
    let map = value_at(&root, way).and_then(Ast::as_object);
    let Some(property) = map.and_then(|map| map.properties.get(index)) else { return Ok(None) };
    let name = property.name.start()..property.name.end();
    let edited = Page::new(body, &root).splice(name, &Value::from(key).to_string());
    Ok(Some(format!("{mark}{edited}")))
}

/// Cuts a member out, with one comma and the blanks that joined it.
pub(super) fn remove_at(text: &str, way: &[&str], index: usize) -> Result<Option<String>, EditError> {
    let (mark, body) = split_mark(text);
    let cuts = match parse(body)?.as_ref().and_then(|root| Members::of(value_at(root, way)?)) {
        Some(members) => cuts(body, &members, index),
        None => None,
    };
    let Some(cuts) = cuts else { return Ok(None) };
    let mut body = body.to_owned();
    cuts.into_iter().rev().for_each(|cut| body.replace_range(cut, ""));
    Ok(Some(format!("{mark}{body}")))
}

/// Removes `path[last]`; whether it was there. Of several entries with that name none stays.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    let Some((last, way)) = path.split_last() else { return Ok(None) };
    let (mut text, mut found) = (text.to_owned(), false);
    loop {
        let root = parse(split_mark(&text).1)?;
        let map = root.as_ref().and_then(|root| value_at(root, way)).and_then(Ast::as_object);
        let index =
            map.and_then(|map| map.properties.iter().rposition(|property| property.name.as_str() == *last));
        match index.map(|index| remove_at(&text, way, index)).transpose()?.flatten() {
            Some(edited) => (text, found) = (edited, true),
            None => return Ok(found.then_some(text)),
        }
    }
}

/// The bytes of several members, keys included; nothing for one that is not there.
pub(super) fn slices<'a>(text: &'a str, spots: &[(Vec<&str>, usize)]) -> Result<Vec<&'a str>, EditError> {
    let (_, body) = split_mark(text);
    let root = parse(body)?;
    let slice = |(way, index): &(Vec<&str>, usize)| {
        let members = Members::of(value_at(root.as_ref()?, way)?)?;
        body.get(members.spans.get(*index)?.clone())
    };
    Ok(spots.iter().map(|spot| slice(spot).unwrap_or_default()).collect())
}

/// Whether the map that stands somewhere has a key.
pub(super) fn has_key(text: &str, at: At<'_>, key: &str) -> Result<bool, EditError> {
    let root = parse(split_mark(text).1)?;
    let map = root.as_ref().and_then(|root| find(root, at)).and_then(Ast::as_object);
    Ok(map.is_some_and(|map| property(map, key).is_some()))
}

/// A byte order mark, and what follows it.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn parse(text: &str) -> Result<Option<Ast<'_>>, EditError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(text, &collect, &JSONC);
    parsed.map(|parsed| parsed.value).map_err(|error| EditError::Broken(format!("not valid JSON: {error}")))
}

fn not_a_map(key: Option<&str>) -> EditError {
    EditError::NotAMap(key.unwrap_or("the file").to_owned())
}

/// Of two entries with one name the later counts.
fn property<'a, 'b>(map: &'b Object<'a>, key: &str) -> Option<&'b ObjectProp<'a>> {
    map.properties.iter().rev().find(|property| property.name.as_str() == key)
}

fn value_at<'a, 'b>(root: &'b Ast<'a>, way: &[&str]) -> Option<&'b Ast<'a>> {
    way.iter().try_fold(root, |here, key| Some(&property(here.as_object()?, key)?.value))
}

fn member<'a, 'b>(holder: &'b Ast<'a>, index: usize) -> Option<&'b Ast<'a>> {
    match holder {
        Ast::Object(map) => map.properties.get(index).map(|property| &property.value),
        Ast::Array(list) => list.elements.get(index),
        _ => None,
    }
}

fn find<'a, 'b>(root: &'b Ast<'a>, at: At<'_>) -> Option<&'b Ast<'a>> {
    match at {
        At::Root => Some(root),
        At::Member(way, index) => member(value_at(root, way)?, index),
    }
}

fn range(value: &Ast<'_>) -> Range<usize> {
    value.start()..value.end()
}

/// `value` under the keys that lead to it.
fn nested(path: &[&str], value: &Value) -> Value {
    let wrap = |inner: Value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
    path.iter().rev().fold(value.clone(), wrap)
}

/// A file without a value, empty or all comments, gets its first one behind them.
fn first_value(body: &str, value: &Value) -> String {
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
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    &line[..line.len() - line.trim_start().len()]
}

/// What a map or list holds, by the bytes.
#[derive(Default)]
struct Members {
    open: usize,
    close: usize,
    spans: Vec<Range<usize>>,
}

impl Members {
    fn of(value: &Ast<'_>) -> Option<Self> {
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

    fn of_map(map: &Object<'_>) -> Self {
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
struct Page<'a> {
    text: &'a str,
    /// One level of the file's own indentation.
    unit: String,
    end: &'static str,
}

impl<'a> Page<'a> {
    fn new(text: &'a str, root: &Ast<'_>) -> Self {
        let first = Members::of(root).and_then(|members| members.spans.first().map(|span| span.start));
        let unit = first.and_then(|at| indent(text, at)).filter(|indent| !indent.is_empty());
        Self { text, unit: unit.unwrap_or("  ").to_owned(), end: line_end(text) }
    }

    /// A value in the place of a member's, which begins at `start`, its key included.
    fn replace(&self, members: &Members, start: usize, old: Range<usize>, value: &Value) -> String {
        let new = if members.is_one_line(self.text) {
            value.to_string()
        } else {
            self.print(value, line_indent(self.text, start))
        };
        self.splice(old, &new)
    }

    /// A new member behind the last one.
    fn insert(&self, members: &Members, key: Option<&str>, value: &Value) -> String {
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

    fn splice(&self, old: Range<usize>, new: &str) -> String {
        format!("{}{new}{}", &self.text[..old.start], &self.text[old.end..])
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

/// The bytes to cut so that a member is gone: the member, one comma, and the blanks that joined it.
fn cuts(text: &str, members: &Members, index: usize) -> Option<Vec<Range<usize>>> {
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
