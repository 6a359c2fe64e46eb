//! Servers that were added and switched, in Kitbag's own files.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kitbag_core::config::edit::{EditError, Edited, Editing, EntryChange, Home};
use kitbag_core::config::layers::{Layer, Merged, MergedServer};
use kitbag_core::config::tree::{self, Format, Tree};
use kitbag_core::config::{Dialect, Document, Reading, Source, own, read};
use kitbag_core::text::nearest;
use kitbag_core::{Fault, FaultKind, Limits, ServerName, ServerSpec, Severity, SourceLocation, UserId};
use serde_json::{Value, json};

use super::error::RegistryError;
use super::file::{self, Lock, Opened};
use crate::discover::{FolderOwner, Folders, folder_files, read_folder, user_folders};

/// Our own files are edited within the bounds that hold without settings.
static LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);

/// Kitbag's own files for everybody, or for one user.
#[derive(Clone, Debug)]
pub struct Registry {
    folders: Folders,
    user: Option<UserId>,
}

/// What becomes of an entry that stands there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    Refuse,
    Replace,
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
        Ok(files.into_iter().next().unwrap_or_else(|| self.file_of(name, &[])))
    }

    /// Adds several entries as they are, or none when one of them cannot be used or has a name that is taken.
    pub fn add_entries(&self, entries: &[(ServerName, Value)]) -> Result<Vec<PathBuf>, RegistryError> {
        self.put(entries, Existing::Refuse)
    }

    /// The same, in the place of entries of these names where there are any.
    pub fn replace_entries(&self, entries: &[(ServerName, Value)]) -> Result<Vec<PathBuf>, RegistryError> {
        self.put(entries, Existing::Replace)
    }

    fn put(
        &self,
        entries: &[(ServerName, Value)],
        existing: Existing,
    ) -> Result<Vec<PathBuf>, RegistryError> {
        entries.iter().try_for_each(|(name, entry)| self.check(name, entry))?;
        let lock = file::lock(&self.folders)?;
        let standing = self.standing();
        let mut files = Vec::new();
        let mut changed: Vec<(Opened<'_>, String)> = Vec::new();
        for (name, entry) in entries {
            let place = standing.iter().rfind(|(known, _)| known == name.as_str()).map(|(_, place)| place);
            let file = match (place, existing) {
                (None, _) => self.file_of(name, &files),
                (Some(place), Existing::Replace) => place.file.to_path_buf(),
                (Some(place), Existing::Refuse) => {
                    return Err(RegistryError::Duplicate { name: name.clone(), place: place.clone() });
                }
            };
            self.no_link(&file)?;
            let mut text = match changed.iter().position(|(opened, _)| opened.file() == file) {
                Some(index) => changed.swap_remove(index),
                None => {
                    let opened = lock.open(&file)?;
                    let text = opened.text()?.to_owned();
                    (opened, text)
                }
            };
            let mut full = entry.clone();
            // A switch that stood here goes on: what was switched off stays off.
            if let (Some(enabled), Some(map)) = (self.toggle_in(&file, &text.1, name), full.as_object_mut()) {
                map.insert("enabled".to_owned(), enabled.into());
            }
            text.1 = self.set(&file, &text.1, name, &full)?;
            changed.push(text);
            files.push(file);
        }
        changed.iter().try_for_each(|(opened, text)| opened.write(text))?;
        Ok(files)
    }

    /// The text of a server's entry in one of our files, comments included, and the file.
    pub fn entry_text(&self, name: &ServerName, merged: &Merged) -> Result<(PathBuf, String), RegistryError> {
        let place =
            self.standing().into_iter().rfind(|(known, _)| known == name.as_str()).map(|(_, place)| place);
        let Some(place) = place else {
            let row = merged.servers.iter().find(|row| row.name == name.as_str());
            return Err(row.map_or_else(
                || not_found(name, merged),
                |row| RegistryError::NotOurs { name: name.clone(), place: row.origin.place.clone() },
            ));
        };
        let file = place.file.to_path_buf();
        let text = file::read(&file)?;
        match self.editing(&file).entry_text(&text, name.as_str()) {
            Ok(entry) => Ok((file.clone(), entry.to_owned())),
            Err(error) => Err(RegistryError::Edit { file: file.clone(), error }),
        }
    }

    /// Removes a server, or a switch for one, from the file it stands in, which must be one of ours.
    pub fn remove(&self, name: &ServerName, merged: &Merged) -> Result<PathBuf, RegistryError> {
        self.change_where_it_stands(&file::lock(&self.folders)?, name, merged, EntryChange::Remove)
    }

    /// Gives a server of ours another name.
    pub fn rename(
        &self,
        name: &ServerName,
        new: &ServerName,
        merged: &Merged,
    ) -> Result<PathBuf, RegistryError> {
        let lock = file::lock(&self.folders)?;
        if let Some((_, place)) = self.standing().into_iter().find(|(known, _)| known == new.as_str()) {
            return Err(RegistryError::Duplicate { name: new.clone(), place });
        }
        let row = merged.get(name).ok_or_else(|| not_found(name, merged))?;
        if !self.owns(row) {
            return Err(RegistryError::NotOurs { name: name.clone(), place: row.origin.place.clone() });
        }
        // A switch in another file would go on meaning the old name.
        if let Some(place) = switched_at(row).filter(|place| place.file != row.origin.place.file) {
            return Err(RegistryError::SwitchedElsewhere { name: name.clone(), place: place.clone() });
        }
        self.change_where_it_stands(&lock, name, merged, EntryChange::Rename(new.as_str()))
    }

    /// Changes the entry of a name in the first file of ours that holds one.
    fn change_where_it_stands(
        &self,
        lock: &Lock,
        name: &ServerName,
        merged: &Merged,
        change: EntryChange<'_>,
    ) -> Result<PathBuf, RegistryError> {
        let rows = merged.servers.iter().filter(|row| row.name == name.as_str());
        let files = std::iter::once(self.file_of(name, &[]))
            .chain(rows.clone().filter(|row| self.owns(row)).map(|row| row.origin.place.file.to_path_buf()));
        let mut refused = None;
        // What a link leads to is not ours to change.
        for file in files.filter(|file| self.no_link(file).is_ok()) {
            let opened = lock.open(&file)?;
            match self.edit(&file, opened.text()?, name, change) {
                Ok(Edited::Gone) => opened.delete()?,
                Ok(Edited::Text(text)) => opened.write(&text)?,
                Err(EditError::Absent(_)) => continue,
                Err(error) => {
                    refused = refused.or(Some(RegistryError::Edit { file, error }));
                    continue;
                }
            }
            return Ok(file);
        }
        let place = rows.map(|row| row.origin.place.clone()).next();
        let otherwise = || {
            place.map_or_else(
                || not_found(name, merged),
                |place| RegistryError::NotOurs { name: name.clone(), place },
            )
        };
        Err(refused.unwrap_or_else(otherwise))
    }

    /// Switches a server on or off. In our own file the entry itself is switched, or the switch that overrules
    /// it; for a server of another file a switch is written into ours.
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
        let lock = file::lock(&self.folders)?;
        let overruled = switched_at(row).map(|place| &place.file).filter(|file| self.writes(file));
        let own = overruled.or(Some(&row.origin.place.file).filter(|_| self.owns(row)));
        if let Some(file) = own {
            self.no_link(file)?;
            let opened = lock.open(file)?;
            match self.edit(file, opened.text()?, name, EntryChange::Switch(enabled)) {
                Ok(Edited::Gone) => {}
                Ok(Edited::Text(text)) => {
                    if text != opened.text()? {
                        opened.write(&text)?;
                    }
                    return Ok(file.to_path_buf());
                }
                // A file in a format that is not edited is switched like another program's.
                Err(EditError::Format(_)) => {}
                Err(error) => return Err(RegistryError::Edit { file: file.to_path_buf(), error }),
            }
        }
        let file = self.file_of(name, &[]);
        self.no_link(&file)?;
        let opened = lock.open(&file)?;
        let text = self.set(&file, opened.text()?, name, &json!({ "enabled": enabled }))?;
        if text != opened.text()? {
            opened.write(&text)?;
        }
        Ok(file)
    }

    /// Whether a row stands in a file that this registry, shared or a user's, writes.
    fn owns(&self, row: &MergedServer) -> bool {
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

    /// Whether a file is one that just this registry, shared or a user's, writes.
    fn writes(&self, file: &Path) -> bool {
        match &self.user {
            None => file == self.folders.registry() || file.parent() == Some(&self.folders.servers()),
            Some(user) => file.parent() == Some(&self.folder_of(user)),
        }
    }

    /// A user's folder, taken from the listing when it is there.
    fn folder_of(&self, user: &UserId) -> PathBuf {
        let servers = self.folders.servers();
        let known = user_folders(&servers).into_iter().find(|(known, _)| known == user);
        known.map_or_else(|| servers.join(user.folder()), |(_, folder)| folder)
    }

    /// Where an entry of this name stands or is written: everybody's in one file, a user's in a file each.
    /// `taken` are files that others are about to get.
    fn file_of(&self, name: &ServerName, taken: &[PathBuf]) -> PathBuf {
        let Some(user) = &self.user else { return self.folders.registry() };
        let folder = self.folder_of(user);
        let (files, _) = folder_files(&folder, FolderOwner::User, &Limits::default());
        let holds = |file: &PathBuf| {
            // What is not edited gets a switch in a file beside it.
            if Format::of(file) != Format::Json {
                return false;
            }
            let text = file::read(file).unwrap_or_default();
            self.editing(file).locate(&text).1.spots.iter().any(|spot| spot.name == name.as_str())
        };
        if let Some(file) = files.into_iter().find(holds) {
            return file;
        }
        let slug = name.slug();
        let first = folder.join(format!("{slug}.json"));
        let others = (2..1000).map(|n| folder.join(format!("{slug}-{n}.json")));
        // A file of that name may hold another server; people name their files as they like.
        let is_free = |file: &PathBuf| !taken.contains(file) && !is_anothers(file);
        std::iter::once(first.clone()).chain(others).find(is_free).unwrap_or(first)
    }

    /// A file of ours, read as it always is.
    fn editing<'a>(&self, file: &'a Path) -> Editing<'a> {
        let is_registry = file == self.folders.registry();
        let dialect = Dialect::by_id("kitbag").filter(|_| is_registry);
        let home = if is_registry { Home::Map(&["mcpServers"]) } else { Home::Whole };
        Editing::ours(file, Reading { dialect, workspace: file.parent(), limits: &LIMITS }, home)
    }

    fn edit(
        &self,
        file: &Path,
        text: &str,
        name: &ServerName,
        change: EntryChange<'_>,
    ) -> Result<Edited, EditError> {
        self.editing(file).change(text, name.as_str(), change)
    }

    fn set(
        &self,
        file: &Path,
        text: &str,
        name: &ServerName,
        entry: &Value,
    ) -> Result<String, RegistryError> {
        let change = EntryChange::Set { entry, words: Dialect::by_id("kitbag") };
        match self.edit(file, text, name, change) {
            Ok(Edited::Text(text)) => Ok(text),
            Ok(Edited::Gone) => Ok(String::new()),
            Err(error) => Err(RegistryError::Edit { file: file.to_owned(), error }),
        }
    }

    /// Every server that this registry's files define, and where.
    fn standing(&self) -> Vec<(String, SourceLocation)> {
        let limits = Limits::default();
        let servers = self.folders.servers();
        let (folder, kind) = match &self.user {
            None => (Some(servers), FolderOwner::Shared),
            Some(user) => (
                user_folders(&servers).into_iter().find(|(known, _)| known == user).map(|(_, folder)| folder),
                FolderOwner::User,
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
        let (document, _) = self.editing(file).locate(text);
        document.toggles.iter().rev().find(|toggle| toggle.name == *name).map(|toggle| toggle.enabled)
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
}

/// A text read by our own rules.
fn own_document(file: &Path, text: &str) -> Document {
    let limits = Limits::default();
    read(file, text, Reading { dialect: Dialect::by_id("kitbag"), workspace: None, limits: &limits })
}

/// Where it is said whether a server is on.
fn switched_at(row: &MergedServer) -> Option<&SourceLocation> {
    row.spec.as_ref()?.places.get("enabled")
}

/// Whether a file holds other things, so that this server needs another file. One that cannot be read may hold
/// the server itself; it and a link are left to whoever writes, to be refused.
fn is_anothers(file: &Path) -> bool {
    let text = file::read(file).unwrap_or_default();
    let root = tree::parse(&Source::new(file, &text), Format::of(file), &LIMITS);
    !file.is_symlink() && root.is_ok_and(|root| !matches!(root.tree, Tree::Null))
}

fn not_found(name: &ServerName, merged: &Merged) -> RegistryError {
    let near = nearest(name.as_str(), merged.servers.iter().map(|row| row.name.as_str()));
    RegistryError::NotFound { name: name.clone(), near: near.map(str::to_owned) }
}
