//! What holds for every input: no panic, no end without bounds, no secret shown, no byte touched that was
//! not asked for. `KITBAG_FULL_TESTS=1` at build time takes the full sizes.

mod bombs;
mod corpora;
mod edits;
mod generate;
mod native;
mod one_entry;
mod permissions;
mod schemas;
mod views;

use std::fs;
use std::path::{Path, PathBuf};

use generate::{Generated, Rng};
use kitbag_core::config::{Dialect, Document, Reading, read};
use kitbag_core::{Fault, Limits};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A size for every day and one for a thorough run.
const fn size(ci: u32, full: u32) -> u32 {
    if option_env!("KITBAG_FULL_TESTS").is_some() { full } else { ci }
}

const BYTES: u32 = size(1_500, 50_000);
/// Characters between two truncations of a golden file.
const STEP: u32 = size(17, 1);
/// Damaged copies of each golden file.
const EDITS: u32 = size(25, 2_000);
const DOCUMENTS: u32 = size(20_000, 100_000);
const REWRITES: u32 = size(3_000, 100_000);
/// Files in which every entry is changed in every way.
const EDITED: u32 = size(300, 20_000);

/// No part of what is planted in a file may be shown.
pub(crate) const SECRET: &str = "PLANTED-SECRET";

/// Every day the same cases, so that a red test is the change's doing; new ones in a thorough run.
fn config(cases: u32) -> ProptestConfig {
    let rng_seed =
        if option_env!("KITBAG_FULL_TESTS").is_some() { RngSeed::Random } else { RngSeed::Fixed(20_261_115) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

fn read_as(file: &str, text: &str, dialect: Option<&'static Dialect>) -> Document {
    let limits = Limits::default();
    read(
        Path::new(file),
        text,
        Reading { dialect, workspace: Some(Path::new("/home/ada/work")), limits: &limits },
    )
}

fn faults(document: &Document) -> impl Iterator<Item = &Fault> {
    document.faults.iter().chain(document.servers.iter().flat_map(|loaded| &loaded.faults))
}

/// What holds for every document, whatever the text was.
#[track_caller]
fn check(document: &Document, text: &str) {
    let count = faults(document).count();
    let entries = document.servers.len() + document.toggles.len();
    assert!(count <= Limits::default().config_faults + entries + 1, "{count} faults, {entries} entries");
    let lines = text.matches(['\n', '\r']).count() as u32 + 1;
    for fault in faults(document) {
        let place = fault.place.as_ref().unwrap_or_else(|| panic!("no place: {fault}"));
        assert!(place.file == document.file && place.line <= lines, "{fault}\n{text}");
        if let Some(snippet) = &fault.snippet {
            let shown = snippet.text.chars().count();
            assert!(snippet.start <= shown && shown < 200, "{snippet:?}\n{text}");
        }
    }
}

/// Everything that may be shown of a document.
fn shown(document: &Document) -> String {
    let mut shown = format!("{document:?}");
    for fault in faults(document) {
        shown += &format!("\n{fault}\n{}", fault.snippet.as_ref().map_or("", |snippet| &snippet.text));
    }
    for spec in document.servers.iter().filter_map(|loaded| loaded.spec.as_ref()) {
        shown += &format!("\n{}", serde_json::Value::Object(spec.shown()));
    }
    shown
}

#[track_caller]
fn check_secrets(document: &Document, text: &str) {
    let shown = shown(document);
    if let Some(at) = shown.find("PLANTED") {
        let around: String =
            shown[..at].chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("shown: {around}PLANTED…\n\nin: {text}");
    }
}

fn golden_files() -> Vec<(PathBuf, String, &'static Dialect)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/config");
    let mut files = Vec::new();
    for folder in
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let dialect = Dialect::by_id(folder.file_name().unwrap().to_str().unwrap()).unwrap();
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            files.push((file.clone(), fs::read_to_string(file).unwrap(), dialect));
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

proptest! {
    #![proptest_config(config(BYTES))]

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        for file in ["x.json", "x.yaml", "x.toml"] {
            check(&read_as(file, &text, None), &text);
        }
    }

    #[test]
    fn any_punctuation_is_survived(text in r#"[\[\]{}"':=,.\-#&*<>|!%@?/\\ \t\r\na1é漢😀\u{feff}]{0,80}"#) {
        for file in ["x.json", "x.yaml", "x.toml"] {
            check(&read_as(file, &text, None), &text);
        }
    }
}

#[test]
fn truncated_golden_files_are_survived() {
    for (path, text, dialect) in golden_files() {
        let file = path.to_str().unwrap();
        for (at, _) in text.char_indices().step_by(STEP as usize) {
            let document = read_as(file, &text[..at], Some(dialect));
            check(&document, &text[..at]);
            check_secrets(&document, &text[..at]);
        }
    }
}

#[test]
fn damaged_golden_files_are_survived() {
    for (path, text, dialect) in golden_files() {
        let file = path.to_str().unwrap();
        let mut rng = Rng::new(text.len() as u64);
        for _ in 0..EDITS {
            let mut bytes = text.clone().into_bytes();
            let at = rng.below(bytes.len());
            bytes[at] = rng.next() as u8;
            let damaged = String::from_utf8_lossy(&bytes);
            check(&read_as(file, &damaged, Some(dialect)), &damaged);
        }
    }
}

proptest! {
    #![proptest_config(config(DOCUMENTS))]

    #[test]
    fn generated_documents_show_no_secret(seed in any::<u64>()) {
        let Generated { file, text, entries, dialect } = generate::document(seed);
        let document = read_as(file, &text, dialect);
        check(&document, &text);
        check_secrets(&document, &text);
        prop_assert!(document.servers.len() + document.toggles.len() <= entries, "{text}");
    }
}
