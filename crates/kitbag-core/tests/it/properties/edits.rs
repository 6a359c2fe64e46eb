//! A rewrite touches the entry it was asked for and no other byte.

use std::path::Path;

use kitbag_core::Limits;
use kitbag_core::config::Source;
use kitbag_core::config::edit::{remove_key as remove, set};
use kitbag_core::config::tree::{Format, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::generate::Rng;
use super::{REWRITES, config};

/// A file of a person's hand: what stands before, in and behind the map of servers.
struct Handmade {
    text: String,
    names: Vec<String>,
}

fn handmade(rng: &mut Rng) -> Handmade {
    let names: Vec<String> =
        ["a", "b", "c d", "é漢", "x\"y"].into_iter().take(rng.below(6)).map(str::to_owned).collect();
    let one_line = rng.one_in(4);
    let indent = rng.pick(&["  ", "    ", "\t", ""]);
    let end = if one_line { "" } else { "\n" };
    let comment = |rng: &mut Rng| -> &str {
        let all = ["", "", "", " /* in, {between} */", " // to \"the\" end,", " /*a\n b*/"];
        if one_line { rng.pick(&all[..4]) } else { rng.pick(&all) }
    };
    let mut text = rng.pick(&["", "\u{feff}", "// top, {\n", "/* top */ "]).to_owned();
    text += &format!(
        "{{{}{end}{indent}\"other\": [1, {{\"x\": null}}],{}{end}{indent}\"mcpServers\": {{{}",
        comment(rng),
        comment(rng),
        comment(rng)
    );
    for (index, name) in names.iter().enumerate() {
        let value = rng.pick(&["{\"command\": \"x\"}", "{ }", "{\n \"url\" : \"y\", // z\n}", "1"]);
        let value = if one_line { value.replace("// z", "").replace('\n', "") } else { value.to_owned() };
        let last = index + 1 == names.len();
        let comma = if !last || rng.one_in(3) { "," } else { "" };
        let before_comma = if rng.one_in(6) { " /* , */" } else { "" };
        let line = if rng.one_in(6) { "" } else { end };
        let after = if line.is_empty() && !one_line { "" } else { comment(rng) };
        // A line comment must be followed by a line end.
        let gap = if one_line { " " } else { "" };
        text += &format!(
            "{line}{indent}{}: {value}{before_comma}{comma}{after}{gap}",
            Value::from(name.as_str())
        );
        if after.contains("//") {
            text += "\n";
        }
    }
    text += &format!(
        "{end}{indent}}},{end}{indent}\"unknown\" : true{}{end}}}{}",
        if rng.one_in(3) { "," } else { "" },
        rng.pick(&["", "\n", " // bye"])
    );
    if rng.one_in(3) {
        text = text.replace('\n', "\r\n");
    }
    Handmade { text, names }
}

/// What our own reader makes of a text; none when it cannot.
fn value_of(text: &str) -> Option<Value> {
    parse(&Source::new(Path::new("x.json"), text), Format::Json, &Limits::default())
        .ok()
        .map(|node| node.to_json())
}

fn at<'a>(root: &'a Value, name: &str) -> Option<&'a Value> {
    root.get("mcpServers")?.get(name)
}

fn common(a: &str, b: &str) -> usize {
    a.char_indices().zip(b.chars()).find(|((_, x), y)| x != y).map_or(a.len().min(b.len()), |((at, _), _)| at)
}

/// Whether `new` is `old` with at most one comma and one block put in.
pub(super) fn only_inserts(old: &str, new: &str) -> bool {
    let fits = |old: &str, new: &str| {
        let head = common(old, new);
        let tail = &old[head..];
        (0..=head).rev().any(|cut| old.is_char_boundary(cut) && new[cut..].ends_with(&old[cut..]))
            || new.ends_with(tail)
    };
    let head = common(old, new);
    fits(old, new)
        || (0..=head).rev().any(|cut| {
            old.is_char_boundary(cut) && new[cut..].starts_with(',') && fits(&old[cut..], &new[cut + 1..])
        })
}

/// Comments of a text, in order.
pub(super) fn comments(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => {
                let mut escaped = false;
                let end = rest[1..].find(|c| {
                    let ends = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    ends
                });
                end.map_or(rest.len(), |end| end + 2)
            }
            '/' => {
                let length = if rest.starts_with("//") {
                    rest.find(['\r', '\n']).unwrap_or(rest.len())
                } else {
                    rest.find("*/").map_or(rest.len(), |end| end + 2)
                };
                found.push(&rest[..length]);
                length
            }
            c => c.len_utf8(),
        };
        rest = &rest[length..];
    }
    found
}

/// The text without blanks and commas.
pub(super) fn bare(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect()
}

proptest! {
    #![proptest_config(config(REWRITES))]

    #[test]
    fn set_and_remove_touch_one_entry(seed in any::<u64>()) {
        let mut rng = Rng::new(seed);
        let Handmade { text, names } = handmade(&mut rng);
        let before = value_of(&text);
        prop_assume!(before.is_some());
        let before = before.unwrap();
        let value = json!({"command": "new", "args": ["1", "{,}"]});

        // A new entry is only put in.
        let added = set(&text, &["mcpServers", "new"], &value).unwrap();
        let mut wanted = before.clone();
        wanted["mcpServers"]["new"] = value.clone();
        prop_assert_eq!(value_of(&added), Some(wanted), "{}\n→\n{}", text, added);
        prop_assert!(only_inserts(&text, &added), "{}\n→\n{}", text, added);
        prop_assert!(!text.contains("\r\n") || added.matches('\n').count() == added.matches("\r\n").count());
        let gone = remove(&added, &["mcpServers", "new"]).unwrap().unwrap();
        prop_assert_eq!(value_of(&gone), Some(before.clone()), "{}\n→\n{}", added, gone);
        prop_assert_eq!(bare(&gone), bare(&text));

        // A comment may have swallowed one.
        for name in names.iter().filter(|name| at(&before, name).is_some()) {
            // An entry that is there changes between its first and last byte.
            let set_to = set(&text, &["mcpServers", name], &value).unwrap();
            let mut wanted = before.clone();
            wanted["mcpServers"][name] = value.clone();
            prop_assert_eq!(value_of(&set_to), Some(wanted), "{}\n→\n{}", text, set_to);
            let key = format!("{}: ", Value::from(name.as_str()));
            let start = text.find(&key).unwrap() + key.len();
            prop_assert_eq!(&text[..start], &set_to[..start]);
            let written = parse_prefix(&text[start..]);
            prop_assert!(set_to.ends_with(&text[start + written..]), "{}\n→\n{}", text, set_to);

            // A removed entry takes at most one comma and blanks along.
            let removed = remove(&text, &["mcpServers", name]).unwrap().unwrap();
            let after = value_of(&removed);
            prop_assert!(after.is_some(), "{}\n→\n{}", text, removed);
            prop_assert!(at(after.as_ref().unwrap(), name).is_none());
            let mut wanted = before.clone();
            wanted["mcpServers"].as_object_mut().unwrap().shift_remove(name.as_str());
            prop_assert_eq!(after, Some(wanted));
            let entry = &text[start - key.len()..start + written];
            let inner = comments(entry);
            let mut outer = comments(&text);
            let first = outer.iter().position(|comment| inner.first().is_some_and(|i| std::ptr::eq(i.as_ptr(), comment.as_ptr())));
            if let Some(first) = first {
                outer.drain(first..first + inner.len());
            }
            prop_assert_eq!(comments(&removed), outer, "{}\n→\n{}", text, removed);
            let commas = text.matches(',').count() - entry.matches(',').count();
            prop_assert!(commas <= removed.matches(',').count() + 1);
            prop_assert_eq!(bare(&text).replacen(&bare(entry), "", 1), bare(&removed));
            prop_assert!(text.len() - entry.len() <= removed.len() + 8, "{}\n→\n{}", text, removed);

            let again = set(&removed, &["mcpServers", name], &value).unwrap();
            let after = value_of(&again).unwrap();
            prop_assert_eq!(at(&after, name), Some(&value));
        }
    }
}

/// How many bytes the value at the beginning of a text takes, comments in it included.
fn parse_prefix(text: &str) -> usize {
    let mut depth = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '"' => 2 + rest[1..].find('"').unwrap(),
            '/' => comments(rest)[0].len(),
            _ => c.len_utf8(),
        };
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        rest = &rest[length..];
        if depth == 0 {
            break;
        }
    }
    text.len() - rest.len()
}

#[test]
fn odd_files_are_edited_or_refused() {
    let value = json!({"url": "u"});
    let check = |text: &str, want: Result<&str, &str>| {
        let got = set(text, &["mcpServers", "a"], &value).map_err(|error| error.to_string());
        assert_eq!(
            got.as_deref().map_err(|error| error.split(':').next().unwrap().to_owned()),
            want.map_err(str::to_owned),
            "{text:?}"
        );
    };
    let fresh = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"url\": \"u\"\n    }\n  }\n}\n";
    check("", Ok(fresh));
    check(" \n", Ok(fresh));
    check("\u{feff}", Ok(&format!("\u{feff}{fresh}")));
    check("// mine", Ok(&format!("// mine\n{fresh}")));
    check("{}", Ok("{\n  \"mcpServers\": {\n    \"a\": {\n      \"url\": \"u\"\n    }\n  }\n}"));
    check("{\"x\": 1}", Ok("{\"x\": 1, \"mcpServers\": {\"a\":{\"url\":\"u\"}}}"));
    check(
        "{\n\t\"x\": 1, // one\n}",
        Ok("{\n\t\"x\": 1, // one\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"url\": \"u\"\n\t\t}\n\t},\n}"),
    );
    check(
        "{\n\t\"x\": 1 // one\n}",
        Ok("{\n\t\"x\": 1, // one\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"url\": \"u\"\n\t\t}\n\t}\n}"),
    );
    check("[]", Err("\"the file\" is not a map in this file"));
    check("{\"mcpServers\": []}", Err("\"mcpServers\" is not a map in this file"));
    check("{\"mcpServers\": {}", Err("not valid JSON"));
    assert_eq!(remove("{}", &["mcpServers", "a"]), Ok(None));
    assert_eq!(remove("", &["a"]), Ok(None));
    assert!(remove("[", &["a"]).is_err());
    // Of two entries with one name none comes back to life.
    assert_eq!(remove("{\"a\": 1, \"b\": 2, \"a\": 3}", &["a"]), Ok(Some("{\"b\": 2}".to_owned())));
    // The last of two is the one that counts.
    assert_eq!(set("{\"a\": 1, \"a\": 2}", &["a"], &json!(3)).as_deref(), Ok("{\"a\": 1, \"a\": 3}"));
}
