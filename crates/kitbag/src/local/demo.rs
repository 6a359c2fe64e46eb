//! Three small tools that are always at hand, so that a newcomer's first minute shows real calls.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::LocalTool;

/// The most of a file that is shown.
const FILE: u64 = 256 << 10;
/// The most notes that are kept, and how long one may be.
const NOTES: usize = 1_000;
const NOTE: usize = 4_096;

/// A clock, notes kept in the state folder, and a view of one folder that changes nothing.
pub fn demo(state: &Path, folder: &Path) -> Vec<LocalTool> {
    let notes: Arc<Path> = state.join("notes.json").into();
    let folder: Arc<Path> = folder.into();
    vec![
        LocalTool::new("clock", "The time now, in UTC", async |_: Nothing, _| Ok(clock())),
        LocalTool::new("notes", "Keeps short notes: add one, or list them all", move |ask: Notes, _| {
            let file = notes.clone();
            async move { ask.run(&file) }
        }),
        LocalTool::new(
            "folder",
            "Shows a folder or a text file below the working folder; changes nothing",
            move |ask: Look, _| {
                let root = folder.clone();
                async move { ask.run(&root) }
            },
        ),
    ]
}

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn clock() -> Value {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    json!({"utc": kitbag_core::text::rfc3339(seconds), "unix": seconds})
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Notes {
    /// A note to add; without it all notes are listed
    add: Option<String>,
}

impl Notes {
    fn run(self, file: &Path) -> Result<Value, String> {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut notes: Vec<String> = serde_json::from_str(&text).unwrap_or_default();
        if let Some(note) = self.add {
            if NOTE < note.len() {
                return Err(format!("a note may have {NOTE} bytes, this one has {}", note.len()));
            }
            if NOTES <= notes.len() {
                return Err(format!("there are {NOTES} notes already; delete {}", file.display()));
            }
            notes.push(note);
            let text = serde_json::to_string_pretty(&notes).map_err(|error| error.to_string())?;
            crate::registry::write(file, &text).map_err(|error| error.to_string())?;
        }
        Ok(json!({"notes": notes}))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Look {
    /// A path below the working folder; the folder itself without it
    path: Option<String>,
}

impl Look {
    fn run(self, root: &Path) -> Result<Value, String> {
        let asked = self.path.unwrap_or_default();
        let path = inside(root, &asked)?;
        let unreadable = |error: std::io::Error| format!("{asked:?} cannot be read: {error}");
        if path.is_dir() {
            let mut names: Vec<String> = std::fs::read_dir(&path)
                .map_err(unreadable)?
                .filter_map(Result::ok)
                .take(1_000)
                .map(|entry| {
                    let slash = if entry.path().is_dir() { "/" } else { "" };
                    format!("{}{slash}", entry.file_name().to_string_lossy())
                })
                .collect();
            names.sort();
            return Ok(json!({"entries": names}));
        }
        let file = std::fs::File::open(&path).map_err(unreadable)?;
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::Read::take(file, FILE), &mut bytes).map_err(unreadable)?;
        String::from_utf8(bytes).map(Value::String).map_err(|_| format!("{asked:?} is not a text file"))
    }
}

/// A path that stays below a folder, links followed.
fn inside(root: &Path, asked: &str) -> Result<PathBuf, String> {
    let outside = || format!("{asked:?} is not below the working folder");
    let plain =
        Path::new(asked).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain {
        return Err(outside());
    }
    let path =
        root.join(asked).canonicalize().map_err(|error| format!("{asked:?} cannot be read: {error}"))?;
    let root = root.canonicalize().map_err(|error| error.to_string())?;
    if path.starts_with(&root) { Ok(path) } else { Err(outside()) }
}
