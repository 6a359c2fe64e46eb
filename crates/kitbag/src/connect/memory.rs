//! Which era each server speaks, remembered between runs: a probe costs some servers a page of errors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::era::Era;
use crate::discover::text_within;

#[cfg(test)]
mod tests;

/// A file that somebody else made large is not read.
const LARGEST: usize = 4 << 20;

/// What is remembered, by fingerprint. The file may be deleted at any time.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    file: Option<PathBuf>,
    eras: Mutex<Eras>,
}

#[derive(Debug, Default)]
struct Eras {
    known: BTreeMap<String, String>,
    /// Those that this process has to do with.
    used: BTreeSet<String>,
}

impl Memory {
    /// Reads what is remembered in a cache folder.
    pub(crate) fn load(cache: PathBuf) -> Self {
        let file = cache.join("eras.json");
        let text = text_within(&file, LARGEST).ok().flatten().unwrap_or_default();
        let known = serde_json::from_str(&text).unwrap_or_default();
        Self { eras: Mutex::new(Eras { known, ..Eras::default() }), file: Some(file) }
    }

    pub(crate) fn get(&self, fingerprint: &str) -> Option<Era> {
        let mut eras = self.eras.lock().unwrap_or_else(PoisonError::into_inner);
        let era = Era::parse(eras.known.get(fingerprint)?);
        if !eras.used.contains(fingerprint) {
            eras.used.insert(fingerprint.to_owned());
        }
        era
    }

    /// Remembers, or forgets, with a bound on how many are remembered. A file that cannot be written is no more than a
    /// slower start next time.
    pub(crate) fn set(&self, fingerprint: &str, era: Option<Era>, most: usize) {
        let mut eras = self.eras.lock().unwrap_or_else(PoisonError::into_inner);
        let before = eras.known.get(fingerprint).cloned();
        let after = era.map(|era| era.as_str().to_owned());
        if before == after {
            return;
        }
        match after {
            Some(word) => {
                eras.used.insert(fingerprint.to_owned());
                eras.known.insert(fingerprint.to_owned(), word);
                eras.shrink(most);
            }
            None => {
                eras.known.remove(fingerprint);
            }
        }
        let text = serde_json::to_string_pretty(&eras.known).unwrap_or_default();
        drop(eras);
        if let Some(file) = &self.file {
            let _ = crate::registry::write_cache(file, &(text + "\n"));
        }
    }
}

impl Eras {
    /// A server has another fingerprint with every new value, such as a token that is renewed: first those go that this
    /// process has nothing to do with.
    fn shrink(&mut self, most: usize) {
        if self.known.len() <= most {
            return;
        }
        let Self { known, used } = self;
        known.retain(|fingerprint, _| used.contains(fingerprint));
        if most < known.len() {
            known.clear();
            used.clear();
        }
    }
}
