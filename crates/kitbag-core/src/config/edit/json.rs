//! JSON text, cut and put together at the bytes where the parser says things stand: nothing else can move.

use jsonc_parser::ast::{Object, ObjectProp, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, parse_to_ast};
use serde_json::{Map, Value};

use super::super::tree::JSONC;
use super::EditError;
use page::{Members, Page, cuts, first_value, line_indent, range};

mod page;

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

/// `value` under the keys that lead to it.
fn nested(path: &[&str], value: &Value) -> Value {
    let wrap = |inner: Value, key: &&str| Value::Object(Map::from_iter([((*key).to_owned(), inner)]));
    path.iter().rev().fold(value.clone(), wrap)
}
