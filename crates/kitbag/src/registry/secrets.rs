//! Answers to inputs: kept in one file that only its owner may read, or by a store.

use std::collections::BTreeMap;
use std::time::SystemTime;

use kitbag_core::{Secret, ServerSpec, UserId};
use serde::{Deserialize, Serialize};

use super::file::{self, FileError};
use crate::discover::Folders;
use crate::store::{InputKey, Store, StoreError};

#[derive(Clone, Default, Serialize, Deserialize)]
struct Stored {
    version: u32,
    /// Those of the local user, by scope, then by id: two files may both ask for `api-key` and mean different
    /// keys.
    #[serde(default)]
    inputs: Answers,
    /// Those of every other user.
    #[serde(default)]
    users: BTreeMap<String, Answers>,
}

type Answers = BTreeMap<String, BTreeMap<String, String>>;

/// The answers given so far. Each belongs to the user who gave it.
#[derive(Clone, Default)]
pub struct SecretStore {
    stored: Stored,
    damaged: bool,
}

impl SecretStore {
    /// Reads the answers; a damaged file counts as none.
    pub fn load(folders: &Folders) -> Self {
        let stored = match file::read(&folders.answers()) {
            Ok(text) if text.trim().is_empty() => Some(Stored::default()),
            Ok(text) => serde_json::from_str(&text).ok(),
            Err(_) => None,
        };
        Self { damaged: stored.is_none(), stored: stored.unwrap_or_default() }
    }

    /// What the file holds, if it holds anything that can be read: its text, and every answer in it with whose it is.
    pub(crate) fn in_file(folders: &Folders) -> Option<(String, Vec<(InputKey, Secret)>)> {
        let text = file::read(&folders.answers()).ok()?;
        if text.trim().is_empty() {
            return folders.answers().exists().then(|| (text, Vec::new()));
        }
        let Stored { inputs, users, .. } = serde_json::from_str(&text).ok()?;
        let others = users.into_iter().filter_map(|(user, own)| Some((UserId::parse(&user).ok()?, own)));
        let all = std::iter::once((UserId::local(), inputs)).chain(others);
        let answers = all.flat_map(|(user, scopes)| {
            scopes.into_iter().flat_map(move |(scope, answers)| {
                let user = user.clone();
                let key = move |id| InputKey { user: user.clone(), scope: scope.clone(), id };
                answers.into_iter().map(move |(id, value)| (key(id), Secret::new(value)))
            })
        });
        let answers = answers.collect();
        Some((text, answers))
    }

    /// Removes the file, if it still holds just this.
    pub(crate) fn remove_file(folders: &Folders, text: &str) -> Result<(), FileError> {
        let lock = file::lock(folders)?;
        let done = file::remove(&folders.answers(), text);
        drop(lock);
        done
    }

    /// The answers of one user, as a store keeps them.
    pub(crate) fn kept_for(user: &UserId, answers: Vec<(InputKey, Secret)>) -> Self {
        let mut own = Answers::new();
        for (key, value) in answers.into_iter().filter(|(key, _)| key.user == *user) {
            own.entry(key.scope).or_default().insert(key.id, value.expose().to_owned());
        }
        let mut stored = Stored { version: 2, ..Stored::default() };
        if *user == UserId::local() {
            stored.inputs = own;
        } else {
            stored.users.insert(user.to_string(), own);
        }
        Self { stored, damaged: false }
    }

    /// Gives a store a user's answer to an input, and lets programs that follow files know.
    pub async fn keep_in(
        store: &dyn Store,
        folders: &Folders,
        key: &InputKey,
        answer: &Secret,
    ) -> Result<(), StoreError> {
        store.put_input(key, answer).await?;
        // Whoever is not told asks at the next reload.
        let _ = file::write_cache(&folders.answered(), &format!("{:?}\n", SystemTime::now()));
        Ok(())
    }

    /// Which input of a server a user's answer belongs to.
    pub fn key(user: &UserId, spec: &ServerSpec, id: &str) -> InputKey {
        InputKey { user: user.clone(), scope: scope(spec), id: id.to_owned() }
    }

    /// Whether the file of answers cannot be read.
    pub(crate) fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// A user's answer to an input of this server.
    pub fn get(&self, user: &UserId, spec: &ServerSpec, id: &str) -> Option<Secret> {
        self.of(user)?.get(&scope(spec))?.get(id).map(Secret::new)
    }

    /// Whether a user gave the same answers in both.
    pub(crate) fn same_for(&self, user: &UserId, other: &Self) -> bool {
        self.of(user).filter(|answers| !answers.is_empty())
            == other.of(user).filter(|answers| !answers.is_empty())
    }

    fn of(&self, user: &UserId) -> Option<&Answers> {
        if *user == UserId::local() {
            Some(&self.stored.inputs)
        } else {
            self.stored.users.get(user.as_str())
        }
    }

    /// Keeps a user's answer. A damaged file is left as it is: it holds the answers of others.
    pub fn keep(
        folders: &Folders,
        user: &UserId,
        spec: &ServerSpec,
        id: &str,
        answer: &Secret,
    ) -> Result<Self, FileError> {
        let lock = file::lock(folders)?;
        let mut secrets = Self::load(folders);
        let file = folders.answers();
        if secrets.damaged {
            return Err(file::damaged(&file));
        }
        secrets.stored.version = 2;
        let answers = if *user == UserId::local() {
            &mut secrets.stored.inputs
        } else {
            secrets.stored.users.entry(user.to_string()).or_default()
        };
        answers.entry(scope(spec)).or_default().insert(id.to_owned(), answer.expose().to_owned());
        let text = serde_json::to_string_pretty(&secrets.stored).unwrap_or_default() + "\n";
        file::write_private(&file, &text)?;
        drop(lock);
        Ok(secrets)
    }
}

impl std::fmt::Debug for SecretStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").field("users", &self.stored.users.len()).finish_non_exhaustive()
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
