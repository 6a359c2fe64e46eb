//! A public type name stands for one thing in the whole workspace: whoever searches for it finds that one thing, and
//! two crates can be imported side by side.

use std::collections::BTreeMap;

use super::{Finding, House};

/// The crates whose names are looked at.
const CRATES: &[&str] =
    &["crates/kitbag-core/src/", "crates/kitbag/src/", "crates/kitbag-store/src/", "crates/kitbag-cli/src/"];

/// The words that begin the definition of a type.
const KINDS: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// One definition of a type, outside functions.
#[derive(Debug, PartialEq, Eq)]
struct Defined<'a> {
    name: &'a str,
    line: usize,
    is_public: bool,
}

pub(super) fn check(house: &House) -> Vec<Finding> {
    let mut places: BTreeMap<&str, Vec<(&str, Defined<'_>)>> = BTreeMap::new();
    for file in house.rust.iter().filter(|file| CRATES.iter().any(|name| file.path.starts_with(name))) {
        for defined in definitions(&file.shipped) {
            places.entry(defined.name).or_default().push((&file.path, defined));
        }
    }
    let mut findings = Vec::new();
    for (name, mut all) in places {
        // The public one first; it is the others that have to give way.
        all.sort_by_key(|(_, defined)| !defined.is_public);
        let Some(((file, first), others)) = all.split_first().filter(|((_, first), _)| first.is_public)
        else {
            continue;
        };
        for (path, other) in others {
            let text = format!("type `{name}` is defined twice: the public one is {file}:{}", first.line);
            findings.push(Finding::fail(path, other.line, text));
        }
    }
    findings
}

/// What a pair of braces holds, as far as it matters for the types in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// Modules, types and the like.
    Items,
    /// What `impl` and `trait` hold: a `type` here belongs to the trait.
    Members,
    /// A function's own types are nobody else's.
    Function,
}

/// The types that masked code defines outside functions.
fn definitions(code: &str) -> Vec<Defined<'_>> {
    let mut found = Vec::new();
    let mut inside = vec![Inside::Items];
    // The words since the last statement began, with the line of each.
    let mut words: Vec<(usize, &str)> = Vec::new();
    for (line, word) in tokens(code) {
        let here = inside.last().copied().unwrap_or(Inside::Items);
        match word {
            "{" => {
                let has = |wanted: &str| words.iter().any(|(_, word)| *word == wanted);
                let next = match here {
                    Inside::Function => Inside::Function,
                    _ if has("fn") => Inside::Function,
                    _ if has("impl") || has("trait") => Inside::Members,
                    _ => Inside::Items,
                };
                inside.push(next);
                words.clear();
            }
            "}" => {
                inside.pop();
                words.clear();
            }
            ";" => words.clear(),
            _ => {
                if let Some((at, kind)) = words.last().copied().filter(|(_, kind)| KINDS.contains(kind)) {
                    let is_type = here == Inside::Items || here == Inside::Members && kind != "type";
                    let before = &words[..words.len() - 1];
                    if is_type && is_name(word) && begins_item(before) {
                        let mut marks = before.iter().rev().map(|(_, word)| *word);
                        let mark = marks.find(|word| !matches!(*word, "unsafe" | "auto"));
                        let is_public = mark == Some("pub");
                        found.push(Defined { name: word, line: at, is_public });
                    }
                }
                words.push((line, word));
            }
        }
    }
    found
}

/// Whether nothing but attributes, visibility and `unsafe` or `auto` stands before the word for a type.
fn begins_item(before: &[(usize, &str)]) -> bool {
    before.last().is_none_or(|(_, word)| matches!(*word, "pub" | ")" | "]" | "unsafe" | "auto"))
}

/// Whether a word is the name of a type: not `$name`, which a macro fills in.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic())
}

/// Words and single signs of masked code, each with its line.
fn tokens(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    code.lines().enumerate().flat_map(move |(index, line)| {
        let mut rest = line.trim_start();
        std::iter::from_fn(move || {
            let first = rest.chars().next()?;
            let len = if goes_on(first) {
                rest.find(|c| !goes_on(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (word, after) = rest.split_at(len);
            rest = after.trim_start();
            Some((index + 1, word))
        })
    })
}

#[cfg(test)]
mod tests;
