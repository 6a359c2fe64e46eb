//! Answers to inputs, kept in one file that only its owner may read.

use std::collections::BTreeMap;

use kitbag_core::{Secret, ServerSpec};
use serde::{Deserialize, Serialize};

use super::file::{self, FileError};
use crate::discover::Folders;

#[derive(Clone, Default, Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// By scope, then by id: two files may both ask for `api-key` and mean different keys.
    inputs: BTreeMap<String, BTreeMap<String, String>>,
}

/// The answers given so far.
#[derive(Clone, Default)]
pub struct Secrets(Stored);

impl Secrets {
    /// Reads the answers; a damaged file counts as none.
    pub fn load(folders: &Folders) -> Self {
        let text = file::read(&folders.state.join("secrets.json")).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    /// The answer to an input of this server.
    pub fn get(&self, spec: &ServerSpec, id: &str) -> Option<Secret> {
        self.0.inputs.get(&scope(spec))?.get(id).map(Secret::new)
    }

    /// Keeps an answer.
    pub fn keep(folders: &Folders, spec: &ServerSpec, id: &str, answer: &Secret) -> Result<Self, FileError> {
        let lock = file::lock(folders)?;
        let mut secrets = Self::load(folders);
        secrets.0.version = 1;
        secrets.0.inputs.entry(scope(spec)).or_default().insert(id.to_owned(), answer.expose().to_owned());
        let text = serde_json::to_string_pretty(&secrets.0).unwrap_or_default() + "\n";
        file::write_private(&folders.state.join("secrets.json"), &text)?;
        drop(lock);
        Ok(secrets)
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("scopes", &self.0.inputs.len()).finish()
    }
}

/// Inputs belong to a file, or, where each server brings its own, to a server.
fn scope(spec: &ServerSpec) -> String {
    let file = spec.origin.place.file.display();
    match spec.origin.dialect {
        "kitbag" | "elysia" | "tgnote" => format!("{file}#{}", spec.name),
        _ => file.to_string(),
    }
}
