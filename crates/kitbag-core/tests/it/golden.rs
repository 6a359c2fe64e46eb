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

/// The parts of a source line that stand as a mask in what is shown of it; none when it cannot be told.
fn masked<'a>(line: &'a str, shown: &str) -> Vec<&'a str> {
    let shown = shown.trim_start_matches('…').replace('→', "\t");
    let mut pieces = shown.split("***");
    let Some(first) = pieces.next() else { return Vec::new() };
    let Some(mut at) = line.find(first).map(|at| at + first.len()) else { return Vec::new() };
    let mut masked = Vec::new();
    for piece in pieces {
        // The last piece may be cut.
        let next = if piece.is_empty() {
            line.len()
        } else {
            at + line[at..].find(piece).unwrap_or(line.len() - at)
        };
        masked.push(&line[at..next]);
        at = next + piece.len().min(line.len() - next);
    }
    masked
}

/// Variables and headers are masked by their place; whatever else is masked is a secret.
#[test]
fn f21_no_mask_stands_where_no_secret_stands() {
    let (mut masks, mut wrong) = (0, Vec::new());
    for path in dialects().iter().flat_map(|dialect| files(dialect)) {
        let text = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let document = load(&path);
        let of_servers = document.servers.iter().flat_map(|loaded| &loaded.faults);
        for fault in document.faults.iter().chain(of_servers) {
            let (Some(place), Some(snippet)) = (&fault.place, &fault.snippet) else { continue };
            let line = lines[place.line as usize - 1];
            let hidden = masked(line, &snippet.text);
            assert_eq!(
                hidden.len(),
                snippet.text.matches("***").count(),
                "{path:?}: {line}\n{}",
                snippet.text
            );
            masks += hidden.len();
            let is_value = |part: &str| {
                let before = &line[..line.find(part).unwrap_or_default()];
                ["env", "envs", "header", "headers", "headres"]
                    .iter()
                    .any(|key| before.contains(&format!("\"{key}\":")))
                    || before
                        .trim_end_matches([' ', '"', ':', '='])
                        .ends_with(|c: char| c.is_ascii_uppercase())
            };
            let none = hidden.into_iter().filter(|part| !part.contains("PLANTED-SECRET") && !is_value(part));
            wrong.extend(none.map(|part| format!("{path:?}: {part:?} in {line}\n{}", snippet.text)));
        }
        // In the entries themselves: arguments, addresses, folders, commands.
        for spec in document.servers.iter().filter_map(|loaded| loaded.spec.as_ref()) {
            for (key, value) in spec.shown() {
                if matches!(key.as_str(), "env" | "headers" | "auth") {
                    continue;
                }
                let shown = value.to_string();
                masks += shown.matches("***").count();
                let planted = text.matches("PLANTED-SECRET").count();
                // A default stands in for a variable and is masked as its value would be.
                let defaults = shown.matches(":-***").count();
                if planted == 0 && defaults < shown.matches("***").count() {
                    wrong.push(format!("{path:?}: {key} = {shown}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(20 <= masks, "{masks}");
}
