//! Every golden file of every dialect loads to a snapshot; every broken twin's diagnostics are one.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kitbag_core::config::{Dialect, Document, Reading, read};
use kitbag_core::{Fault, Limits};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/config")
}

/// The files of one dialect, in order.
fn files(dialect: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dialect).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn dialects() -> Vec<PathBuf> {
    files(&folder()).into_iter().filter(|path| path.is_dir()).collect()
}

fn load(path: &Path) -> Document {
    let text = fs::read_to_string(path).unwrap();
    let dialect = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let shown = Path::new(dialect).join(path.file_name().unwrap());
    // Those that are nobody's file in particular are found out by what they hold.
    let unnamed = matches!(dialect, "tgnote" | "bare" | "aidk" | "elysia" | "openai");
    let dialect =
        Some(Dialect::by_id(dialect).unwrap_or_else(|| panic!("no dialect {dialect}"))).filter(|_| !unnamed);
    let limits = Limits::default();
    read(&shown, &text, Reading { dialect, workspace: Some(Path::new("/home/ada/work")), limits: &limits })
}

fn show_fault(out: &mut String, fault: &Fault) {
    writeln!(out, "{} {}: {fault}", fault.severity.as_str(), fault.kind.as_str()).unwrap();
    if let Some(snippet) = &fault.snippet {
        writeln!(out, "    | {}\n    | {:>width$}", snippet.text, "^", width = snippet.start + 1).unwrap();
    }
}

fn show(document: &Document) -> String {
    let mut out = String::new();
    document.faults.iter().for_each(|fault| show_fault(&mut out, fault));
    for toggle in &document.toggles {
        writeln!(
            out,
            "\n[{}] line {}: only a switch, enabled = {}",
            toggle.name, toggle.place.line, toggle.enabled
        )
        .unwrap();
    }
    for loaded in &document.servers {
        writeln!(out, "\n[{}] line {}", loaded.name, loaded.place.line).unwrap();
        for (key, value) in loaded.spec.iter().flat_map(|spec| spec.shown()) {
            let line = loaded
                .spec
                .as_ref()
                .and_then(|spec| spec.places.get(key.as_str()))
                .map(|place| format!("  # line {}", place.line));
            writeln!(out, "{key} = {value}{}", line.unwrap_or_default()).unwrap();
        }
        if loaded.spec.is_none() {
            writeln!(out, "not usable").unwrap();
        }
        loaded.faults.iter().for_each(|fault| show_fault(&mut out, fault));
    }
    out
}

fn snapshots(broken: bool) -> usize {
    let mut count = 0;
    for dialect in dialects() {
        for path in files(&dialect) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if name.starts_with("broken") != broken {
                continue;
            }
            count += 1;
            let name =
                format!("{}__{}", dialect.file_name().unwrap().to_str().unwrap(), name.replace(' ', "_"));
            insta::with_settings!({snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true}, {
                insta::assert_snapshot!(name, show(&load(&path)));
            });
        }
    }
    count
}

#[test]
fn golden_files_load() {
    assert!(30 <= snapshots(false));
    assert!(14 <= dialects().len());
}

#[test]
fn broken_twins_say_what_is_wrong() {
    assert!(dialects().len() <= snapshots(true));
}

#[test]
fn every_golden_file_gives_a_server() {
    for path in dialects().iter().flat_map(|dialect| files(dialect)) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let document = load(&path);
        let errors =
            document.faults.iter().filter(|fault| fault.severity == kitbag_core::Severity::Error).count();
        if name.starts_with("broken") {
            let all = document.servers.iter().map(|loaded| loaded.faults.len()).sum::<usize>()
                + document.faults.len();
            assert!(0 < all, "{name} has no fault");
        } else {
            assert!(document.servers.iter().any(|loaded| loaded.spec.is_some()), "{path:?}");
            assert_eq!(errors, 0, "{path:?}");
        }
    }
}

#[test]
fn a_broken_entry_costs_only_itself() {
    let mut neighbours = 0;
    for path in dialects().iter().flat_map(|dialect| files(dialect)) {
        let document = load(&path);
        for loaded in document.servers.iter().filter(|loaded| loaded.name == "good-neighbour") {
            assert!(loaded.spec.is_some(), "{path:?}: {:?}", loaded.faults);
            neighbours += 1;
        }
    }
    assert!(20 <= neighbours, "{neighbours}");
}

#[test]
fn no_planted_secret_is_shown() {
    let mut planted = 0;
    for path in dialects().iter().flat_map(|dialect| files(dialect)) {
        planted += fs::read_to_string(&path).unwrap().matches("PLANTED-SECRET").count();
        let document = load(&path);
        for text in [show(&document), format!("{document:?}")] {
            assert!(!text.contains("PLANTED"), "{path:?}: {text}");
        }
    }
    assert!(40 <= planted, "{planted}");
}
