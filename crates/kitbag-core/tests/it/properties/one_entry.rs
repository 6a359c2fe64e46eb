//! Whatever the shape, dialect and format of a file: a change reaches its entry and no other byte, or is refused.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use kitbag_core::Limits;
use kitbag_core::config::dialect::ContainerShape;
use kitbag_core::config::document::{Container, ContainerKind, Layout, Spot};
use kitbag_core::config::edit::{EditError, Edited, Editing, EntryChange, Home};
use kitbag_core::config::export::ExportTarget;
use kitbag_core::config::{Dialect, Document, Reading, locate};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::edits::{bare, comments, only_inserts};
use super::generate::{self, Rng};
use super::{EDITED, config, golden_files};

mod files;

/// How often each change was made and refused.
type Tally = Mutex<BTreeMap<&'static str, (usize, usize)>>;

/// Where a program's first entry goes.
fn home(rng: &mut Rng, dialect: Option<&'static Dialect>) -> Home<'static> {
    match dialect.map(|dialect| dialect.shapes) {
        Some([ContainerShape::Map(way), ..]) => Home::Map(way),
        Some([ContainerShape::List(way), ..]) => Home::List(way),
        Some([ContainerShape::Bare, ..]) => Home::Map(&[]),
        Some([ContainerShape::Single, ..]) => Home::Whole,
        _ => rng.pick(&[Home::Map(&["mcpServers"]), Home::Whole]),
    }
}

/// The bytes of an entry, its key included, found without the help of the code under test.
fn spans(text: &str, layout: &Layout) -> Vec<Range<usize>> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let Ok(parsed) = parse_to_ast(&text[mark..], &CollectOptions::default(), &ParseOptions::default()) else {
        return Vec::new();
    };
    let Some(root) = parsed.value else { return Vec::new() };
    let span = |spot: &Spot| {
        let Container { way, kind, .. } = &layout.containers[spot.container];
        let inner = |here: &'_ Ast<'_>, key: &String| -> Option<usize> {
            here.as_object()?.properties.iter().rposition(|pair| pair.name.as_str() == key)
        };
        let mut here = &root;
        for key in way {
            let index = inner(here, key).unwrap();
            here = &here.as_object().unwrap().properties[index].value;
        }
        let (start, end) = match (here, kind) {
            (_, ContainerKind::Single) => (root.start(), root.end()),
            (Ast::Object(map), _) => {
                let pair = &map.properties[spot.index];
                assert_eq!(pair.name.as_str(), spot.name);
                (pair.start(), pair.end())
            }
            (Ast::Array(list), _) => (list.elements[spot.index].start(), list.elements[spot.index].end()),
            _ => panic!("{way:?} leads to no container in {text}"),
        };
        start + mark..end + mark
    };
    layout.spots.iter().map(span).collect()
}

/// A text as it is read, and the bytes of each entry.
struct Seen {
    document: Document,
    layout: Layout,
    spans: Vec<Range<usize>>,
}

impl Seen {
    fn of(editing: &Editing<'_>, text: &str) -> Self {
        let (document, layout) = editing.locate(text);
        let spans = spans(text, &layout);
        Self { document, layout, spans }
    }

    fn named<'a>(&'a self, name: &str) -> impl DoubleEndedIterator<Item = &'a Range<usize>> {
        let all = self.layout.spots.iter().zip(&self.spans);
        all.filter(move |(spot, _)| spot.name == name).map(|(_, span)| span)
    }
}

/// Names, bytes and meaning of every entry but some.
fn others(text: &str, seen: &Seen, but: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let Seen { document, layout, spans } = seen;
    for (spot, span) in layout.spots.iter().zip(spans).filter(|(spot, _)| !but.contains(&spot.name.as_str()))
    {
        all.push(format!("{} {:?}", spot.name, &text[span.clone()]));
    }
    for loaded in document.servers.iter().filter(|loaded| !but.contains(&loaded.name.as_str())) {
        let spec = loaded.spec.as_ref();
        all.push(format!("{} {:?}", loaded.name, spec.map(|spec| (spec.enabled, spec.shown()))));
    }
    for toggle in document.toggles.iter().filter(|toggle| !but.contains(&toggle.name.as_str())) {
        all.push(format!("{} {}", toggle.name, toggle.enabled));
    }
    all
}

/// Whether some entry is on, if it can be used.
fn state(document: &Document, name: &str) -> Option<bool> {
    let toggle = document.toggles.iter().rev().find(|toggle| toggle.name.as_str() == name);
    let spec =
        document.servers.iter().find(|loaded| loaded.name == name).and_then(|loaded| loaded.spec.as_ref());
    toggle.map(|toggle| toggle.enabled).or(spec.map(|spec| spec.enabled))
}

struct Case<'a> {
    path: &'a Path,
    text: &'a str,
    dialect: Option<&'static Dialect>,
    limits: &'a Limits,
    tally: &'a Tally,
}

impl Case<'_> {
    fn reading(&self) -> Reading<'_> {
        Reading { dialect: self.dialect, workspace: Some(Path::new("/home/ada/work")), limits: self.limits }
    }

    /// Makes a change and looks at every byte of what came of it.
    fn check(
        &self,
        word: &'static str,
        (editing, before): (&Editing<'_>, &Seen),
        name: &str,
        change: EntryChange<'_>,
    ) -> Result<(), EditError> {
        let edited = editing.change(self.text, name, change);
        let mut tally = self.tally.lock().unwrap();
        let row = tally.entry(word).or_default();
        match &edited {
            Ok(_) => row.0 += 1,
            Err(_) => row.1 += 1,
        }
        drop(tally);
        let after = match edited? {
            Edited::Text(after) => after,
            Edited::Gone => {
                assert!(matches!(change, EntryChange::Remove), "{}", self.text);
                assert!(
                    matches!(before.layout.containers[..], [Container { kind: ContainerKind::Single, .. }])
                        && before.layout.spots.len() == 1,
                    "{}",
                    self.text
                );
                return Ok(());
            }
        };
        let shown = format!("{word} {name:?} as {:?}\n{}\n→\n{after}", self.dialect.map(|d| d.id), self.text);
        let now = Seen::of(editing, &after);
        let but = if let EntryChange::Rename(new) = change { vec![name, new] } else { vec![name] };
        // A map that looks like one of servers, and of which none can be used, may go unread.
        let mut servers = before.document.servers.iter();
        if servers.any(|loaded| loaded.spec.is_some()) || !before.document.toggles.is_empty() {
            assert_eq!(others(self.text, before, &but), others(&after, &now, &but), "{shown}");
        }
        match (change, before.named(name).next_back()) {
            (EntryChange::Set { .. }, None) => assert!(only_inserts(self.text, &after), "{shown}"),
            (EntryChange::Set { .. } | EntryChange::Switch(_) | EntryChange::Rename(_), Some(span)) => {
                assert!(after.starts_with(&self.text[..span.start]), "{shown}");
                assert!(after[span.start..].ends_with(&self.text[span.end..]), "{shown}");
            }
            (EntryChange::Remove, _) => {
                let mut kept = self.text.to_owned();
                before.named(name).rev().for_each(|span| kept.replace_range(span.clone(), ""));
                assert_eq!(bare(&kept), bare(&after), "{shown}");
                assert_eq!(comments(&kept), comments(&after), "{shown}");
            }
            _ => panic!("{shown}"),
        }
        let is_there = |name: &str| now.layout.spots.iter().any(|spot| spot.name == name);
        match change {
            EntryChange::Set { .. } => assert!(state(&now.document, name).is_some(), "{shown}"),
            EntryChange::Switch(on) => assert_eq!(state(&now.document, name), Some(on), "{shown}"),
            EntryChange::Rename(new) => {
                assert!(is_there(new) && !is_there(name), "{shown}");
                assert_eq!(state(&now.document, new), state(&before.document, name), "{shown}");
            }
            EntryChange::Remove => assert!(!is_there(name), "{shown}"),
        }
        Ok(())
    }

    /// Every change of every entry, a new entry, and an export to every program.
    fn every_change(&self, home: Home<'_>, is_tidy: bool) {
        let editing = Editing::ours(self.path, self.reading(), home);
        let seen = Seen::of(&editing, self.text);
        let (document, layout) = (&seen.document, &seen.layout);
        let ours = (&editing, &seen);
        let entry = json!({"command": "new", "args": ["1", "{,}"]});
        let kitbag = Dialect::by_id("kitbag");
        let set = EntryChange::Set { entry: &entry, words: kitbag.filter(|_| self.dialect == kitbag) };
        let is_single = layout.containers.iter().any(|container| container.kind == ContainerKind::Single);
        let expect = |done: Result<(), EditError>, may_refuse: bool, word: &str| {
            if let (Err(error), true) = (&done, is_tidy && !may_refuse) {
                panic!("{word} refused: {error}\n{:?} {}", self.dialect.map(|d| d.id), self.text);
            }
        };
        // A key that only looks like a place for servers may stand where the first one would go.
        let is_strange = layout.spots.is_empty() && !layout.containers.is_empty();
        let may_refuse = is_single || is_strange || home == Home::Whole;
        expect(self.check("add", ours, "brand new", set), may_refuse, "add");
        let mut names: Vec<&str> = layout.spots.iter().map(|spot| spot.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let usable = state(document, name).is_some();
            expect(self.check("set", ours, name, set), false, "set");
            expect(self.check("disable", ours, name, EntryChange::Switch(false)), !usable, "disable");
            expect(self.check("enable", ours, name, EntryChange::Switch(true)), !usable, "enable");
            expect(self.check("rename", ours, name, EntryChange::Rename("new name")), false, "rename");
            expect(self.check("remove", ours, name, EntryChange::Remove), true, "remove");
        }
        // Each program's file is read by its rules, whoever's it was.
        for target in ExportTarget::all().filter(|_| self.dialect.is_some()) {
            let theirs = Editing::theirs(self.path, target.dialect(), self.reading(), target.home());
            let seen = Seen::of(&theirs, self.text);
            let entry = json!({"url": "https://k.example/mcp"});
            let set = EntryChange::Set { entry: &entry, words: None };
            let strange = seen
                .layout
                .containers
                .iter()
                .any(|found| !found.is_expected || found.kind == ContainerKind::Single);
            expect(self.check("export", (&theirs, &seen), "kitbag", set), strange, "export");
            expect(self.check("export", (&theirs, &seen), "a", set), strange, "export");
        }
    }
}

#[test]
fn f91_f92_f93_a_change_reaches_one_entry_of_any_file_or_is_refused() {
    let (tally, limits) = (Tally::default(), Limits::default());
    let mut runner = TestRunner::new(config(EDITED));
    let ran = runner.run(&any::<u64>(), |seed| {
        let mut rng = Rng::new(seed);
        let (file, generated);
        let (path, text, dialect, is_tidy) = if rng.one_in(4) {
            // Nobody's hand: real keys, wrong values, three formats, some of them damaged.
            generated = generate::document(seed);
            (generated.file, &generated.text, generated.dialect, false)
        } else {
            file = files::file(&mut rng);
            (file.path, &file.text, file.dialect, file.is_tidy)
        };
        let case = Case { path: Path::new(path), text, dialect, limits: &limits, tally: &tally };
        let home = home(&mut rng, dialect);
        if path.ends_with(".json") || path.ends_with(".jsonc") {
            case.every_change(home, is_tidy);
            return Ok(());
        }
        let editing = Editing::ours(case.path, case.reading(), home);
        let names = editing.locate(text).1.spots.into_iter().map(|spot| spot.name).chain(["new".to_owned()]);
        for name in names {
            let refused = editing.change(text, &name, EntryChange::Remove);
            prop_assert!(matches!(refused, Err(EditError::Format(_))), "{path}: {refused:?}");
        }
        Ok(())
    });
    ran.unwrap();
    let tally = tally.into_inner().unwrap();
    println!("{EDITED} files; done and refused: {tally:?}");
    for (word, (done, refused)) in tally {
        // An export is refused wherever its program does not read the servers that are there.
        assert!(
            refused < done * if word == "export" { 4 } else { 2 },
            "{word}: {done} done, {refused} refused"
        );
    }
}

#[test]
fn f91_f92_f93_a_change_reaches_one_entry_of_every_golden_file_or_is_refused() {
    let (tally, limits) = (Tally::default(), Limits::default());
    for (path, text, dialect) in golden_files() {
        if !path.extension().is_some_and(|extension| extension == "json" || extension == "jsonc") {
            let (_, layout) =
                locate(&path, &text, Reading { dialect: Some(dialect), workspace: None, limits: &limits });
            let editing = Editing::ours(
                &path,
                Reading { dialect: Some(dialect), workspace: None, limits: &limits },
                Home::Map(&["mcpServers"]),
            );
            for spot in layout.spots {
                let refused = editing.change(&text, &spot.name, EntryChange::Remove);
                assert!(matches!(refused, Err(EditError::Format(_))), "{path:?}: {refused:?}");
            }
            continue;
        }
        for dialect in [Some(dialect), None] {
            let case = Case { path: &path, text: &text, dialect, limits: &limits, tally: &tally };
            case.every_change(Home::Map(&["mcpServers"]), false);
        }
    }
    let tally = tally.into_inner().unwrap();
    println!("done and refused: {tally:?}");
    for (word, (done, refused)) in tally {
        // An export is refused wherever its program does not read the servers that are there.
        assert!(
            refused < done * if word == "export" { 4 } else { 2 },
            "{word}: {done} done, {refused} refused"
        );
    }
}

#[test]
fn f91_of_an_entry_that_stands_twice_none_comes_back() {
    let limits = Limits::default();
    let reading = Reading { dialect: None, workspace: None, limits: &limits };
    let editing = Editing::ours(Path::new("x.json"), reading, Home::Whole);
    let check = |text: &str, name: &str, change: EntryChange<'_>, want: Result<&str, &str>| {
        let got = editing.change(text, name, change).map_err(|error| error.to_string());
        assert_eq!(got, want.map(|text| Edited::Text(text.to_owned())).map_err(str::to_owned), "{text}");
    };
    let map = r#"{"a": {"command": "1"}, "b": {"command": "2"}, "a": {"command": "3"}}"#;
    check(map, "a", EntryChange::Remove, Ok(r#"{"b": {"command": "2"}}"#));
    let off = r#"{"a": {"command": "1"}, "b": {"command": "2"}, "a": {"command": "3", "enabled": false}}"#;
    check(map, "a", EntryChange::Switch(false), Ok(off));
    check(map, "a", EntryChange::Rename("c"), Err("a is in this file more than once"));
    check(map, "b", EntryChange::Rename("a"), Err("a is already in this file"));
    let list =
        r#"[{"name": "a", "command": "1"}, {"name": "b", "command": "2"}, {"name": "a", "command": "3"}]"#;
    check(list, "a", EntryChange::Remove, Ok(r#"[{"name": "b", "command": "2"}]"#));
    check(list, "d", EntryChange::Remove, Err("d is not in this file"));
    check(
        "{\"a\": {\"command\": \"1\"}, \"b\": 1}",
        "b",
        EntryChange::Switch(true),
        Err("\"b\" is not a map in this file"),
    );
    check("{\"a\": {", "a", EntryChange::Remove, Err("not valid JSON: the file ends too early"));
}
