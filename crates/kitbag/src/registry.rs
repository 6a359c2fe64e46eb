//! Kitbag's own files: servers that were added, switches, approvals, answers. Writes are locked, atomic, and
//! change nothing but the entry they are about; other programs' files are never touched here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kitbag_core::config::layers::{Layer, Merged, Server};
use kitbag_core::config::tree::{self, Format, Node};
use kitbag_core::config::{Dialect, Document, Reading, Source, edit, own, read};
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, Limits, Place, ServerName, ServerSpec, Severity, UserId};
use serde_json::{Value, json};

use crate::discover::{Folder, Folders, read_folder, user_folders};

mod file;
mod secrets;
mod trust;

pub use file::{FileError, backup, write};
pub(crate) use file::{lock, write_cache};
pub use secrets::Secrets;
pub use trust::{Approval, Trust};

/// Why a change was refused. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The name is taken.
    #[error("{name} is already there ({place})")]
    Duplicate {
        /// The name.
        name: ServerName,
        /// Where it stands.
        place: Place,
    },
    /// Nobody has this name.
    #[error("no server is called {name}{}", near.as_ref().map(|near| format!("; did you mean {near}?")).unwrap_or_default())]
    NotFound {
        /// The name.
        name: ServerName,
        /// A name that differs by a slip.
        near: Option<String>,
    },
    /// The entry cannot be used.
    #[error("{name} cannot be added: {}", .faults.first().map(|fault| fault.message.as_str()).unwrap_or_default())]
    Invalid {
        /// The name.
        name: ServerName,
        /// Why.
        faults: Vec<Fault>,
    },
    /// The server stands in a file that is not Kitbag's.
    #[error("{name} stands in {place} and is not removed from there")]
    NotOurs {
        /// The name.
        name: ServerName,
        /// Where it stands.
        place: Place,
    },
    /// The server comes from a variable or flag, where no file can switch it.
    #[error("{name} comes from {place} and cannot be switched in a file")]
    NotSwitchable {
        /// The name.
        name: ServerName,
        /// Where it comes from.
        place: Place,
    },
    /// A link stands where a user's file or folder should be; what it leads to may be somebody else's.
    #[error("{0} is a link, and nothing is written through it")]
    Link(PathBuf),
    /// The file cannot be changed as it is.
    #[error("{file} was left as it is: {error}")]
    Edit {
        /// The file.
        file: PathBuf,
        /// Why.
        error: edit::EditError,
    },
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Kitbag's own files for everybody, or for one user.
#[derive(Clone, Debug)]
pub struct Registry {
    folders: Folders,
    user: Option<UserId>,
}

impl Registry {
    /// The files everybody shares.
    pub fn shared(folders: &Folders) -> Self {
        Self { folders: folders.clone(), user: None }
    }

    /// The files of one user.
    pub fn of_user(folders: &Folders, user: &UserId) -> Self {
        Self { folders: folders.clone(), user: Some(user.clone()) }
    }

    /// Adds a server in Kitbag's own words; where it was written.
    pub fn add(&self, spec: &ServerSpec) -> Result<PathBuf, RegistryError> {
        self.add_entry(&spec.name, &own::entry(spec))
    }

    /// Adds several servers, or none when one of them cannot be added.
    pub fn add_all(&self, specs: &[ServerSpec]) -> Result<Vec<PathBuf>, RegistryError> {
        self.add_entries(&specs.iter().map(|spec| (spec.name.clone(), own::entry(spec))).collect::<Vec<_>>())
    }

    /// Adds an entry as it is, after making sure that it can be used.
    pub fn add_entry(&self, name: &ServerName, entry: &Value) -> Result<PathBuf, RegistryError> {
        let files = self.add_entries(&[(name.clone(), entry.clone())])?;
        Ok(files.into_iter().next().unwrap_or_else(|| self.file_of(name)))
    }

    fn add_entries(&self, entries: &[(ServerName, Value)]) -> Result<Vec<PathBuf>, RegistryError> {
        entries.iter().try_for_each(|(name, entry)| self.check(name, entry))?;
        let lock = file::lock(&self.folders)?;
        let standing = self.standing();
        let mut files = Vec::new();
        let mut changed: BTreeMap<PathBuf, String> = BTreeMap::new();
        for (name, entry) in entries {
            if let Some((_, place)) = standing.iter().find(|(known, _)| known == name.as_str()) {
                return Err(RegistryError::Duplicate { name: name.clone(), place: place.clone() });
            }
            let file = self.file_of(name);
            self.no_link(&file)?;
            let text = match changed.get(&file) {
                Some(text) => text.clone(),
                None => file::read(&file)?,
            };
            let mut full = entry.clone();
            // A switch that stood here goes on: what was switched off stays off.
            if let (Some(enabled), Some(map)) = (self.toggle_in(&file, &text, name), full.as_object_mut()) {
                map.insert("enabled".to_owned(), enabled.into());
            }
            changed.insert(file.clone(), self.set(&file, &text, name, &full)?);
            files.push(file);
        }
        changed.iter().try_for_each(|(file, text)| write(file, text))?;
        drop(lock);
        Ok(files)
    }

    /// Removes a server, or a switch for one, from the file it stands in, which must be one of ours.
    pub fn remove(&self, name: &ServerName, merged: &Merged) -> Result<PathBuf, RegistryError> {
        let lock = file::lock(&self.folders)?;
        let rows = merged.servers.iter().filter(|row| row.name == name.as_str());
        let files = std::iter::once(self.file_of(name))
            .chain(rows.clone().filter(|row| self.owns(row)).map(|row| row.origin.place.file.to_path_buf()));
        // What a link leads to is not ours to empty.
        for file in files.filter(|file| self.no_link(file).is_ok()) {
            let text = file::read(&file)?;
            match Spot::of(&file, &text, name) {
                None => continue,
                Some(Spot::WholeFile) => file::delete(&file)?,
                Some(Spot::InMap) => {
                    let edited = edit::remove(&text, &["mcpServers", name.as_str()]);
                    let edited = edited.map_err(|error| RegistryError::Edit { file: file.clone(), error })?;
                    write(&file, &edited.unwrap_or(text))?;
                }
            }
            drop(lock);
            return Ok(file);
        }
        let place = rows.map(|row| row.origin.place.clone()).next();
        Err(place.map_or_else(
            || not_found(name, merged),
            |place| RegistryError::NotOurs { name: name.clone(), place },
        ))
    }

    /// Switches a server on or off. In our own file the entry itself is switched; for a server of another
    /// file a switch is written into ours.
    pub fn switch(
        &self,
        name: &ServerName,
        enabled: bool,
        merged: &Merged,
    ) -> Result<PathBuf, RegistryError> {
        let row = merged.get(name).ok_or_else(|| not_found(name, merged))?;
        if matches!(row.layer, Layer::Env | Layer::Flags) {
            return Err(RegistryError::NotSwitchable { name: name.clone(), place: row.origin.place.clone() });
        }
        if self.owns(row) {
            let file = row.origin.place.file.to_path_buf();
            let entry: Option<&[&str]> = match Spot::of(&file, &file::read(&file)?, name) {
                Some(Spot::WholeFile) => Some(&[]),
                Some(Spot::InMap) => Some(&["mcpServers", name.as_str()]),
                None => None,
            };
            if let Some(entry) = entry {
                self.change(&file, |text| {
                    // The key the entry already uses; off wins where both stand, so a second one would not do.
                    let (key, value) = if has_key(&file, text, entry, "disabled") {
                        ("disabled", !enabled)
                    } else {
                        ("enabled", enabled)
                    };
                    let path: Vec<&str> = entry.iter().copied().chain([key]).collect();
                    let edited = edit::set(text, &path, &value.into()).map(Some);
                    edited.map_err(|error| RegistryError::Edit { file: file.clone(), error })
                })?;
                return Ok(file);
            }
        }
        let file = self.file_of(name);
        self.change(&file, |text| self.set(&file, text, name, &json!({ "enabled": enabled })).map(Some))?;
        Ok(file)
    }

    /// Whether a row stands in a file that this registry, shared or a user's, writes.
    fn owns(&self, row: &Server) -> bool {
        let scope = match (&row.layer, &self.user) {
            (Layer::Shared, None) => true,
            (Layer::User(theirs), Some(ours)) => theirs == ours,
            _ => false,
        };
        scope && self.holds(&row.origin.place.file)
    }

    /// Whether a file is one that Kitbag writes.
    fn holds(&self, file: &Path) -> bool {
        file == self.folders.registry() || file.starts_with(self.folders.servers())
    }

    /// Where an entry of this name is written. A user's folder is taken from the listing when it is there.
    fn file_of(&self, name: &ServerName) -> PathBuf {
        match &self.user {
            None => self.folders.registry(),
            Some(user) => {
                let servers = self.folders.servers();
                let known = user_folders(&servers).into_iter().find(|(known, _)| known == user);
                let folder = known.map_or_else(|| servers.join(user.folder()), |(_, folder)| folder);
                let slug = name.slug();
                let others = (2..1000).map(|n| folder.join(format!("{slug}-{n}.json")));
                let first = folder.join(format!("{slug}.json"));
                // A file of that name may hold another server; people name their files as they like.
                std::iter::once(first.clone())
                    .chain(others)
                    .find(|file| !is_anothers(file, name))
                    .unwrap_or(first)
            }
        }
    }

    fn set(
        &self,
        file: &Path,
        text: &str,
        name: &ServerName,
        entry: &Value,
    ) -> Result<String, RegistryError> {
        let whole = text.trim().is_empty() || matches!(Spot::of(file, text, name), Some(Spot::WholeFile));
        let edited = match &self.user {
            Some(_) if whole => Ok(format!("{:#}\n", named(name, entry))),
            _ => edit::set(text, &["mcpServers", name.as_str()], entry),
        };
        edited.map_err(|error| RegistryError::Edit { file: file.to_owned(), error })
    }

    /// Every server that this registry's files define, and where.
    fn standing(&self) -> Vec<(String, Place)> {
        let limits = Limits::default();
        let servers = self.folders.servers();
        let (folder, kind) = match &self.user {
            None => (Some(servers), Folder::Shared),
            Some(user) => (
                user_folders(&servers).into_iter().find(|(known, _)| known == user).map(|(_, folder)| folder),
                Folder::User,
            ),
        };
        let registry = self.folders.registry();
        let shared =
            self.user.is_none().then(|| own_document(&registry, &file::read(&registry).unwrap_or_default()));
        let inside = folder.map(|folder| read_folder(&folder, kind, None, &limits).0).unwrap_or_default();
        let loaded = shared.into_iter().chain(inside).flat_map(|document| document.servers);
        loaded.map(|loaded| (loaded.name, loaded.place)).collect()
    }

    /// A user's folder and files are their own only when no link leads elsewhere.
    fn no_link(&self, file: &Path) -> Result<(), RegistryError> {
        let own = file.parent().into_iter().chain([file]).filter(|_| self.user.is_some());
        match own.into_iter().find(|path| path.is_symlink()) {
            Some(link) => Err(RegistryError::Link(link.to_owned())),
            None => Ok(()),
        }
    }

    /// Which way a switch for a name stands in a file's text.
    fn toggle_in(&self, file: &Path, text: &str, name: &ServerName) -> Option<bool> {
        own_document(file, text)
            .toggles
            .iter()
            .find(|toggle| toggle.name == *name)
            .map(|toggle| toggle.enabled)
    }

    fn check(&self, name: &ServerName, entry: &Value) -> Result<(), RegistryError> {
        let text = json!({ "mcpServers": { name.as_str(): entry } }).to_string();
        let document = own_document(Path::new("<new entry>"), &text);
        let unread = document.servers.is_empty() && document.faults.is_empty();
        let unread = unread.then(|| {
            if !document.toggles.is_empty() {
                return Fault::error(FaultKind::MissingField, "has neither a command nor a url");
            }
            let fault =
                Fault::error(FaultKind::BadName, "has a name that is read as a comment or an extension");
            fault.hint("choose a name that does not begin with _, $, x- or //")
        });
        let all = document
            .faults
            .into_iter()
            .chain(document.servers.into_iter().flat_map(|loaded| loaded.faults))
            .chain(unread);
        // Its place is that of no file anybody can open.
        let errors = all.filter(|fault| fault.severity == Severity::Error).map(|fault| Fault {
            place: None,
            snippet: None,
            ..fault
        });
        let faults: Vec<Fault> = errors.collect();
        if faults.is_empty() { Ok(()) } else { Err(RegistryError::Invalid { name: name.clone(), faults }) }
    }

    fn change(
        &self,
        file: &Path,
        edit: impl FnOnce(&str) -> Result<Option<String>, RegistryError>,
    ) -> Result<(), RegistryError> {
        let lock = file::lock(&self.folders)?;
        self.no_link(file)?;
        let before = file::read(file)?;
        if let Some(after) = edit(&before)?.filter(|after| *after != before) {
            write(file, &after)?;
        }
        drop(lock);
        Ok(())
    }
}

/// A text read by our own rules.
fn own_document(file: &Path, text: &str) -> Document {
    let limits = Limits::default();
    read(file, text, Reading { dialect: Dialect::by_id("kitbag"), workspace: None, limits: &limits })
}

/// Whether an entry of a file holds a key.
fn has_key(file: &Path, text: &str, entry: &[&str], key: &str) -> bool {
    let source = Source::new(file, text);
    let root = tree::parse(&source, Format::of(file), &Limits::default());
    root.is_ok_and(|root| root.at_path(entry).and_then(|entry| entry.get(key)).is_some())
}

/// Where in one of our files an entry stands.
enum Spot {
    /// Under its name in `mcpServers`.
    InMap,
    /// The file is the entry.
    WholeFile,
}

impl Spot {
    fn of(file: &Path, text: &str, name: &ServerName) -> Option<Self> {
        let source = Source::new(file, text);
        let root = tree::parse(&source, Format::of(file), &Limits::default())
            .ok()
            .filter(|_| Format::of(file) == Format::Json)?;
        if root.at_path(&["mcpServers", name.as_str()]).is_some() {
            return Some(Self::InMap);
        }
        let inside = root.get("name").and_then(Node::text);
        let own = inside.map_or_else(
            || file.file_stem().and_then(|stem| stem.to_str()) == Some(name.as_str()),
            |inside| inside == name.as_str(),
        );
        let wrapped = ["mcpServers", "servers"].iter().any(|key| root.get(key).is_some());
        (root.map().is_some() && own && !wrapped).then_some(Self::WholeFile)
    }
}

/// Whether a file is somebody else's one server, so that this one needs another file.
fn is_anothers(file: &Path, name: &ServerName) -> bool {
    let text = file::read(file).unwrap_or_default();
    let root = tree::parse(&Source::new(file, &text), Format::Json, &Limits::default());
    let single = root
        .is_ok_and(|root| root.map().is_some_and(|map| !map.is_empty()) && root.get("mcpServers").is_none());
    single && !file.is_symlink() && Spot::of(file, &text, name).is_none()
}

fn named(name: &ServerName, entry: &Value) -> Value {
    let mut all = serde_json::Map::from_iter([("name".to_owned(), Value::from(name.as_str()))]);
    all.extend(entry.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

fn not_found(name: &ServerName, merged: &Merged) -> RegistryError {
    let near = nearest(name.as_str(), merged.servers.iter().map(|row| row.name.as_str()));
    RegistryError::NotFound { name: name.clone(), near: near.map(str::to_owned) }
}
