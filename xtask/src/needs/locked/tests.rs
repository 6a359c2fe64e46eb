use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A folder of its own for a test; xtask has no crate for that, and needs none.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn pins(&self, text: &str) -> Vec<PathBuf> {
        let file = self.0.join("pins.txt");
        fs::write(&file, text).unwrap();
        vec![file]
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Fills by copying, and fails where the pins say so.
fn copy(folder: &Path, sources: &[PathBuf]) -> anyhow::Result<()> {
    let text = fs::read_to_string(&sources[0])?;
    fs::write(folder.join(&text), &text)?;
    if text == "bad" {
        bail!("no such package");
    }
    Ok(())
}

#[test]
fn a_folder_is_made_anew_when_its_pins_change() {
    let scratch = Scratch::new("anew");
    let tools = scratch.0.join("tools");
    let locked = Locked { name: "things", files: &[], fill: copy };
    for pins in ["one", "two"] {
        let sources = scratch.pins(pins);
        assert!(!locked.is_in(&tools, &sources), "{pins}");
        locked.install_in(&tools, &sources).unwrap();
        assert!(locked.is_in(&tools, &sources), "{pins}");
    }
    assert!(!tools.join("things/one").exists(), "what was there before must be gone");
}

#[test]
fn a_folder_that_could_not_be_filled_is_not_there() {
    let scratch = Scratch::new("unfilled");
    let tools = scratch.0.join("tools");
    let locked = Locked { name: "things", files: &[], fill: copy };
    locked.install_in(&tools, &scratch.pins("good")).unwrap();
    let bad = scratch.pins("bad");
    let error = locked.install_in(&tools, &bad).unwrap_err();
    assert_eq!(format!("{error:#}"), "no such package");
    assert!(!locked.is_in(&tools, &bad));
    assert!(!locked.is_in(&tools, &scratch.pins("good")), "it is gone too");
}

#[test]
fn two_installations_at_once_do_the_work_once() {
    static FILLED: AtomicUsize = AtomicUsize::new(0);
    let count = |_: &Path, _: &[PathBuf]| {
        FILLED.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let scratch = Scratch::new("once");
    let (tools, sources) = (scratch.0.join("tools"), scratch.pins("one"));
    let locked = Locked { name: "things", files: &[], fill: count };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| locked.install_in(&tools, &sources).unwrap());
        }
    });
    assert_eq!(FILLED.load(Ordering::SeqCst), 1);
}

#[test]
fn lock_files_pin_everything_and_name_no_host() {
    let python = [PY_NEW, PY_OLD, PY_SDK, PY_CLIENTS_1, PY_CLIENTS_2];
    for locked in [NPM, HOSTS, CLIENTS, CONFORMANCE].iter().chain(&python) {
        for source in locked.sources() {
            let text = fs::read_to_string(&source).unwrap();
            assert!(!text.contains("://"), "{} names a host", source.display());
        }
    }
    for locked in &python {
        let text = fs::read_to_string(&locked.sources()[0]).unwrap();
        let names = text.lines().filter(|line| !line.starts_with(' '));
        for line in names {
            assert!(line.contains("==") && line.ends_with('\\'), "{line}: no exact version with hashes");
        }
    }
}
