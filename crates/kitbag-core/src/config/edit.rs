//! Rewriting a file that a person also edits: one entry changes, every other byte stays.
//!
//! The reader says where each entry stands; a change is made just there and read back before anybody writes
//! it. What would change another server, or not do what it was asked for, is refused with the reason.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::document::{Container, ContainerKind, Document, Layout, Reading, Spot, locate, read};
use super::tree::Format;
use crate::model::ServerSpec;
use json::At;

mod check;
mod json;
mod toml;

/// Why a file was not rewritten.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file cannot be parsed, so nobody knows what a change would break.
    #[error("{0}")]
    Broken(String),
    /// The file is written in a format that is only read.
    #[error("{0} files are read, not edited")]
    Format(&'static str),
    /// The container is something else than a map.
    #[error("{0:?} is not a map in this file")]
    NotAMap(String),
    /// The container is something else than a list.
    #[error("{0:?} is not a list in this file")]
    NotAList(String),
    /// The file is one server, or something else altogether.
    #[error("the whole file is one server, and there is no room for {0}")]
    NoRoom(String),
    /// The servers stand where the program whose file it is does not look.
    #[error("{program} does not read servers under {found}, where this file has them")]
    Elsewhere {
        /// The program.
        program: &'static str,
        /// Where they stand.
        found: String,
    },
    /// There is no such entry.
    #[error("{0} is not in this file")]
    Absent(String),
    /// There is such an entry already.
    #[error("{0} is already in this file")]
    Taken(String),
    /// There are several entries of the name.
    #[error("{0} is in this file more than once")]
    Twice(String),
    /// The entry is no server that could be switched.
    #[error("the entry of {0} cannot be used, and switching it would not change that")]
    Unusable(String),
    /// The change would reach further than its entry.
    #[error("the change would not leave {0} as it is")]
    Neighbour(String),
    /// The change would not do what it is for.
    #[error("{name} would not be {wanted}: something else in this file decides")]
    NoEffect {
        /// The entry.
        name: String,
        /// What it was to be.
        wanted: &'static str,
    },
}

/// What is to happen to an entry.
#[derive(Clone, Copy, Debug)]
pub enum EntryChange<'a> {
    /// The entry is put there, or in the place of the one that stands there.
    Set {
        /// What it says, without its name.
        entry: &'a Value,
        /// Whose words these are, when the file must mean the same by them.
        words: Option<&'static Dialect>,
    },
    /// It is switched on or off.
    Switch(bool),
    /// It gets another name.
    Rename(&'a str),
    /// It goes.
    Remove,
}

/// What becomes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// Its new text.
    Text(String),
    /// It was the entry, and goes with it.
    Gone,
}

/// Where the first entry of a file goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home<'a> {
    /// Under its name in the map that these keys lead to.
    Map(&'a [&'a str]),
    /// Into the list that these keys lead to.
    List(&'a [&'a str]),
    /// The file becomes the entry.
    Whole,
}

/// A file that is to be changed, and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Editing<'a> {
    file: &'a Path,
    reading: Reading<'a>,
    home: Home<'a>,
    program: Option<&'static str>,
}

impl<'a> Editing<'a> {
    /// One of our own files: an entry may stand wherever we read it.
    pub fn ours(file: &'a Path, reading: Reading<'a>, home: Home<'a>) -> Self {
        Self { file, reading, home, program: None }
    }

    /// Another program's file: an entry must stand where that program reads it.
    pub fn theirs(file: &'a Path, dialect: &'static Dialect, reading: Reading<'a>, home: Home<'a>) -> Self {
        let reading = Reading { dialect: Some(dialect), ..reading };
        Self { file, reading, home, program: Some(dialect.title) }
    }

    /// What the file's text says, and where.
    pub fn locate(&self, text: &str) -> (Document, Layout) {
        locate(self.file, text, self.reading)
    }

    /// One entry of a text as it is written, comments included.
    pub fn entry_text<'t>(&self, text: &'t str, name: &str) -> Result<&'t str, EditError> {
        let format = Format::of(self.file);
        if format != Format::Json {
            return Err(EditError::Format(format.as_str()));
        }
        let (_, layout) = self.locate(text);
        if let Some(why) = layout.unread {
            return Err(EditError::Broken(why));
        }
        let absent = || EditError::Absent(name.to_owned());
        let spot = layout.spots.iter().rfind(|spot| spot.name == name).ok_or_else(absent)?;
        let place = Place::of(&layout, spot);
        if place.container.kind == ContainerKind::Single {
            return Ok(text);
        }
        json::slices(text, &[(place.way, place.index)])?.first().copied().ok_or_else(absent)
    }

    /// Changes one entry of a text. Nothing but that entry is another afterwards.
    pub fn change(&self, text: &str, name: &str, change: EntryChange<'_>) -> Result<Edited, EditError> {
        let format = self.format(change)?;
        let before = self.locate(text);
        let (document, layout) = &before;
        if let Some(why) = &layout.unread {
            return Err(EditError::Broken(why.clone()));
        }
        let spots: Vec<&Spot> = layout.spots.iter().filter(|spot| spot.name == name).collect();
        let edited = match (change, spots.last()) {
            (EntryChange::Set { entry, .. }, None) => {
                Edited::Text(self.insert(text, name, entry, document, layout)?)
            }
            (_, None) => return Err(EditError::Absent(name.to_owned())),
            (EntryChange::Set { entry, .. }, Some(spot)) => {
                let place = Place::of(layout, spot);
                self.expect(place.container)?;
                let entry = if place.container.kind == ContainerKind::Map {
                    entry.clone()
                } else {
                    named(name, entry)
                };
                Edited::Text(match format {
                    Format::Toml => set_in_map(format, text, &with(&place.way, name), &entry)?,
                    _ => found(json::replace(text, place.at(), &entry)?, name)?,
                })
            }
            (EntryChange::Switch(on), Some(spot)) => {
                Edited::Text(switch(text, &Place::of(layout, spot), name, on)?)
            }
            (EntryChange::Rename(new), Some(spot)) => {
                if layout.spots.iter().any(|spot| spot.name == new) {
                    return Err(EditError::Taken(new.to_owned()));
                }
                if 1 < spots.len() {
                    return Err(EditError::Twice(name.to_owned()));
                }
                Edited::Text(rename(text, &Place::of(layout, spot), name, new)?)
            }
            (EntryChange::Remove, Some(_)) => remove(text, layout, &spots)?,
        };
        self.check((text, &before), &edited, name, change)?;
        Ok(edited)
    }

    /// How the file is written, if such files can be changed in this way.
    fn format(&self, change: EntryChange<'_>) -> Result<Format, EditError> {
        let format = Format::of(self.file);
        let is_set = matches!(change, EntryChange::Set { .. });
        let is_map = matches!(self.home, Home::Map(_));
        match format {
            Format::Json => Ok(format),
            Format::Toml if is_set && is_map && self.program.is_some() => Ok(format),
            Format::Toml | Format::Yaml => Err(EditError::Format(format.as_str())),
        }
    }

    /// A new entry goes beside the others; the first one goes where files like this have theirs.
    fn insert(
        &self,
        text: &str,
        name: &str,
        entry: &Value,
        document: &Document,
        layout: &Layout,
    ) -> Result<String, EditError> {
        let format = Format::of(self.file);
        let beside = counted(document, layout).next().and_then(|index| layout.containers.get(index));
        let Some(container) = beside else {
            return match self.home {
                Home::Map(way) => set_in_map(format, text, &with(way, name), entry),
                Home::List(way) => json::append(text, way, &named(name, entry)),
                Home::Whole if layout.containers.is_empty() && is_blank(text) => {
                    Ok(format!("{:#}\n", named(name, entry)))
                }
                Home::Whole => Err(EditError::NoRoom(name.to_owned())),
            };
        };
        self.expect(container)?;
        let way = keys(container);
        match container.kind {
            ContainerKind::Map => set_in_map(format, text, &with(&way, name), entry),
            ContainerKind::List => json::append(text, &way, &named(name, entry)),
            ContainerKind::Single => Err(EditError::NoRoom(name.to_owned())),
        }
    }

    /// In another program's file only what that program looks at is changed.
    fn expect(&self, container: &Container) -> Result<(), EditError> {
        match self.program.filter(|_| !container.is_expected) {
            Some(program) => {
                let found = match container.way.as_slice() {
                    [] => "the top of the file".to_owned(),
                    way => format!("{:?}", way.join(".")),
                };
                Err(EditError::Elsewhere { program, found })
            }
            None => Ok(()),
        }
    }
}

/// Sets `path[last]` in a JSON text to `value`, making the maps on the way as needed. An empty text counts as
/// an empty map.
pub fn set(text: &str, path: &[&str], value: &Value) -> Result<String, EditError> {
    json::set(text, path, value)
}

/// Removes `path[last]` from a JSON text; whether it was there. Of several entries with that name none stays.
pub fn remove_key(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    json::remove(text, path)
}

/// A whole file in TOML with these entries in a map, as a change of an empty one would make it.
pub(super) fn toml_text(way: &[&str], entries: &[(String, Value)]) -> String {
    let empty = Map::new();
    entries.iter().fold(String::new(), |text, (name, entry)| {
        let entry = entry.as_object().unwrap_or(&empty);
        toml::set(&text, &with(way, name), entry).unwrap_or(text)
    })
}

fn set_in_map(format: Format, text: &str, path: &[&str], entry: &Value) -> Result<String, EditError> {
    match (format, entry.as_object()) {
        (Format::Toml, Some(entry)) => toml::set(text, path, entry),
        _ => json::set(text, path, entry),
    }
}

/// Where an entry stands, with the keys that lead there.
struct Place<'a> {
    container: &'a Container,
    way: Vec<&'a str>,
    index: usize,
}

impl<'a> Place<'a> {
    fn of(layout: &'a Layout, spot: &Spot) -> Self {
        let container = layout.containers.get(spot.container).unwrap_or(&check::NOWHERE);
        Self { container, way: keys(container), index: spot.index }
    }

    fn at(&self) -> At<'_> {
        match self.container.kind {
            ContainerKind::Single => At::Root,
            ContainerKind::Map | ContainerKind::List => At::Member(&self.way, self.index),
        }
    }
}

fn switch(text: &str, place: &Place<'_>, name: &str, on: bool) -> Result<String, EditError> {
    // The keys the entry already uses; off wins where both stand, so one of them would not do.
    let mut edited = None;
    for (key, value) in [("disabled", !on), ("enabled", on)] {
        if json::has_key(text, place.at(), key)? {
            let before = edited.as_deref().unwrap_or(text);
            edited = json::set_in(before, place.at(), key, &value.into())?;
        }
    }
    match edited {
        Some(edited) => Ok(edited),
        None => json::set_in(text, place.at(), "enabled", &on.into())?
            .ok_or_else(|| EditError::NotAMap(name.to_owned())),
    }
}

fn rename(text: &str, place: &Place<'_>, name: &str, new: &str) -> Result<String, EditError> {
    if place.container.kind == ContainerKind::Map {
        return found(json::rename(text, &place.way, place.index, new)?, name);
    }
    // The key that the reader looks at first.
    let own = json::has_key(text, place.at(), "name")? || !json::has_key(text, place.at(), "serverName")?;
    let key = if own { "name" } else { "serverName" };
    found(json::set_in(text, place.at(), key, &new.into())?, name)
}

fn remove(text: &str, layout: &Layout, spots: &[&Spot]) -> Result<Edited, EditError> {
    let mut text = text.to_owned();
    // From the last on, so that the places of those before stay true.
    for spot in spots.iter().rev() {
        let place = Place::of(layout, spot);
        if place.container.kind == ContainerKind::Single {
            return Ok(Edited::Gone);
        }
        text = found(json::remove_at(&text, &place.way, place.index)?, &spot.name)?;
    }
    Ok(Edited::Text(text))
}

/// The containers that hold servers: those where the file's program looks, and others with a server in them.
/// A map that only looks like one, `"extensions": {"theme": {…}}` in somebody's settings, does not count.
fn counted<'a>(document: &Document, layout: &'a Layout) -> impl Iterator<Item = usize> + 'a {
    let servers = document.servers.iter().filter(|loaded| loaded.spec.is_some());
    let usable: BTreeSet<String> = servers
        .map(|loaded| loaded.name.clone())
        .chain(document.toggles.iter().map(|toggle| toggle.name.to_string()))
        .collect();
    layout.containers.iter().enumerate().filter_map(move |(index, container)| {
        let mut inside = layout.spots.iter().filter(|spot| spot.container == index);
        (container.is_expected || inside.any(|spot| usable.contains(&spot.name))).then_some(index)
    })
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

fn keys(container: &Container) -> Vec<&str> {
    container.way.iter().map(String::as_str).collect()
}

fn with<'a>(way: &[&'a str], name: &'a str) -> Vec<&'a str> {
    way.iter().copied().chain([name]).collect()
}

/// An entry with its name inside.
fn named(name: &str, entry: &Value) -> Value {
    let mut all = Map::from_iter([("name".to_owned(), Value::from(name))]);
    all.extend(entry.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}

fn found(edited: Option<String>, name: &str) -> Result<String, EditError> {
    edited.ok_or_else(|| EditError::Absent(name.to_owned()))
}
