//! Files that change while servers run: read again, and only what changed is touched.
//!
//! Looked at by the clock, not by the system's own messages: those do not come over network folders, and a few
//! dozen looks every other second cost nothing that could be measured.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use kitbag_core::Fault;

use crate::{Kitbag, Setup};

/// What a file looked like: when it was written, and how long it was. None when it is not there.
type Look = Option<(SystemTime, u64)>;

impl Kitbag {
    /// Reads the files again whenever one of them changes, for as long as it is awaited. What was wrong the
    /// last time is handed to `told`.
    pub async fn follow_files(&self, mut told: impl FnMut(Vec<Fault>)) {
        let mut before = look(&self.setup());
        loop {
            tokio::time::sleep(self.limits().watch).await;
            let now = look(&self.setup());
            if now == before {
                continue;
            }
            // Whoever writes a file may not be done yet.
            tokio::time::sleep(self.limits().watch / 4).await;
            before = look(&self.setup());
            // A folder or program that is gone for a moment is no reason to lose what runs.
            if let Ok(faults) = self.reload().await {
                told(faults);
                before = look(&self.setup());
            }
        }
    }
}

/// Every file that was looked for, and those in folders, as they are now.
fn look(setup: &Setup) -> BTreeMap<PathBuf, Look> {
    let most = setup.limits.config_files;
    let mut seen = BTreeMap::new();
    for file in setup.watched() {
        seen.insert(file.clone(), stamp(file));
        let Ok(entries) = std::fs::read_dir(file) else { continue };
        for entry in entries.flatten().take(most) {
            seen.insert(entry.path(), stamp(&entry.path()));
        }
    }
    seen
}

fn stamp(file: &Path) -> Look {
    let meta = std::fs::metadata(file).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}
