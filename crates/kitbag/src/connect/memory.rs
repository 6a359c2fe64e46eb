//! Which era each server speaks, remembered between runs: a probe costs some servers a page of errors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::era::Era;

/// What is remembered, by fingerprint. The file may be deleted at any time.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    file: Option<PathBuf>,
    eras: Mutex<BTreeMap<String, String>>,
}

impl Memory {
    /// Reads what is remembered in a cache folder.
    pub(crate) fn load(cache: PathBuf) -> Self {
        let file = cache.join("eras.json");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        Self { eras: Mutex::new(serde_json::from_str(&text).unwrap_or_default()), file: Some(file) }
    }

    pub(crate) fn get(&self, fingerprint: &str) -> Option<Era> {
        Era::parse(self.eras.lock().unwrap_or_else(PoisonError::into_inner).get(fingerprint)?)
    }

    /// Remembers, or forgets; a file that cannot be written is no more than a slower start next time.
    pub(crate) fn set(&self, fingerprint: &str, era: Option<Era>) {
        let mut eras = self.eras.lock().unwrap_or_else(PoisonError::into_inner);
        let before = eras.get(fingerprint).cloned();
        let after = era.map(|era| era.as_str().to_owned());
        if before == after {
            return;
        }
        match after {
            Some(word) => eras.insert(fingerprint.to_owned(), word),
            None => eras.remove(fingerprint),
        };
        let text = serde_json::to_string_pretty(&*eras).unwrap_or_default();
        drop(eras);
        if let Some(file) = &self.file {
            let _ = crate::registry::write(file, &(text + "\n"));
        }
    }
}
