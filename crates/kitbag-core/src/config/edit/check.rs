//! Reading a change back before anybody writes it: its entry is what it was to be, and every other one is,
//! by meaning and by bytes, what it was.

use serde_json::json;

use super::*;

/// A container that no file has.
pub(super) static NOWHERE: Container =
    Container { way: Vec::new(), kind: ContainerKind::Single, is_expected: false };

/// What is compared of the entries that were not to change.
#[derive(PartialEq)]
struct Others {
    /// Their names and bytes, in order; also of those that another of their name overrules.
    bytes: Vec<(String, String)>,
    /// What they mean.
    servers: Vec<(String, Option<ServerSpec>)>,
    /// Switches.
    toggles: Vec<(String, bool)>,
}

/// What an entry is to a reader.
#[derive(PartialEq)]
enum Meaning {
    Absent,
    Unusable,
    Server(Box<ServerSpec>),
    Toggle(bool),
}

impl Editing<'_> {
    /// Refuses a text in which anything but these entries is another than before.
    pub fn check_others(&self, before: &str, after: &str, names: &[&str]) -> Result<(), EditError> {
        self.compare((before, &self.locate(before)), (after, &self.locate(after)), names)
    }

    pub(super) fn check(
        &self,
        before: Read<'_>,
        edited: &Edited,
        name: &str,
        change: EntryChange<'_>,
    ) -> Result<(), EditError> {
        let after = match edited {
            Edited::Text(text) => text,
            // A file may only go when nothing else stands in it.
            Edited::Gone => return self.compare(before, ("", &self.locate("")), &[name]),
        };
        let names: &[&str] = if let EntryChange::Rename(new) = change { &[name, new] } else { &[name] };
        let read_back = self.locate(after);
        self.compare(before, (after, &read_back), names)?;
        let no_effect = |wanted: &'static str| Err(EditError::NoEffect { name: name.to_owned(), wanted });
        let document = &read_back.0;
        let is = meaning(document, name);
        match change {
            EntryChange::Remove if is != Meaning::Absent => no_effect("gone"),
            EntryChange::Switch(on) => match is {
                Meaning::Server(spec) if spec.enabled == on => Ok(()),
                Meaning::Toggle(enabled) if enabled == on => Ok(()),
                Meaning::Unusable => Err(EditError::Unusable(name.to_owned())),
                _ => no_effect(if on { "switched on" } else { "switched off" }),
            },
            EntryChange::Rename(new) => {
                let was = meaning(&before.1.0, name);
                if is == Meaning::Absent && same_but_name(&was, &meaning(document, new)) {
                    return Ok(());
                }
                no_effect("the same server under its new name")
            }
            EntryChange::Set { entry, words } => {
                let wanted = words.map(|words| {
                    let alone = json!({ "mcpServers": { name: entry } }).to_string();
                    let reading = Reading { dialect: Some(words), ..self.reading };
                    meaning(&read(Path::new("alone.json"), &alone, reading), name)
                });
                let meant = wanted.is_none_or(|wanted| wanted == is);
                if meant && !matches!(is, Meaning::Absent | Meaning::Unusable) {
                    return Ok(());
                }
                no_effect("read as it was written")
            }
            EntryChange::Remove => Ok(()),
        }
    }

    /// Refuses when any entry but these is not the same in both.
    fn compare(&self, before: Read<'_>, after: Read<'_>, names: &[&str]) -> Result<(), EditError> {
        let format = Format::of(self.file);
        let (was, is) = (Others::of(format, before, names)?, Others::of(format, after, names)?);
        if was == is { Ok(()) } else { Err(EditError::Neighbour(was.first_difference(&is))) }
    }
}

/// A text and what was read in it.
type Read<'a> = (&'a str, &'a (Document, Layout));

impl Others {
    fn of(format: Format, (text, (document, layout)): Read<'_>, names: &[&str]) -> Result<Self, EditError> {
        if let Some(why) = &layout.unread {
            return Err(EditError::Broken(why.clone()));
        }
        let containers: Vec<usize> = counted(document, layout).collect();
        let spots: Vec<&Spot> = layout
            .spots
            .iter()
            .filter(|spot| containers.contains(&spot.container) && !names.contains(&spot.name.as_str()))
            .collect();
        let places = spots.iter().map(|spot| {
            let place = Place::of(layout, spot);
            (place.way, place.index)
        });
        // A whole file that is one entry has no members to compare; it has no neighbours either.
        let places: Vec<_> = places.collect();
        let slices = match format {
            Format::Toml => toml::slices(text, &places)?,
            _ => json::slices(text, &places)?.into_iter().map(str::to_owned).collect(),
        };
        let known: BTreeSet<&str> = spots.iter().map(|spot| spot.name.as_str()).collect();
        let servers = document.servers.iter().filter(|loaded| known.contains(loaded.name.as_str()));
        let toggles = document.toggles.iter().filter(|toggle| known.contains(toggle.name.as_str()));
        let bytes = spots.iter().zip(slices).map(|(spot, bytes)| (spot.name.clone(), bytes));
        Ok(Self {
            bytes: bytes.collect(),
            servers: servers.map(|loaded| (loaded.name.clone(), loaded.spec.as_ref().map(bare))).collect(),
            toggles: toggles.map(|toggle| (toggle.name.to_string(), toggle.enabled)).collect(),
        })
    }

    /// The name of the first entry that is not the same in both.
    fn first_difference(&self, other: &Self) -> String {
        fn first<T: PartialEq>(a: &[(String, T)], b: &[(String, T)]) -> Option<String> {
            let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
            a.get(common).or(b.get(common)).map(|(name, _)| name.clone())
        }
        first(&self.servers, &other.servers)
            .or_else(|| first(&self.toggles, &other.toggles))
            .or_else(|| first(&self.bytes, &other.bytes))
            .unwrap_or_default()
    }
}

/// What the reader makes of a name; of several entries the last, and a switch before what it switches.
fn meaning(document: &Document, name: &str) -> Meaning {
    let server = document.servers.iter().rev().find(|loaded| loaded.name == name);
    let toggle = document.toggles.iter().rev().find(|toggle| toggle.name.as_str() == name);
    match (server.map(|loaded| &loaded.spec), toggle) {
        (Some(Some(spec)), _) => {
            // What the file asks for on behalf of all its servers is not part of the entry.
            let enabled = toggle.map_or(spec.enabled, |toggle| toggle.enabled);
            Meaning::Server(Box::new(ServerSpec { inputs: Vec::new(), enabled, ..bare(spec) }))
        }
        (_, Some(toggle)) => Meaning::Toggle(toggle.enabled),
        (Some(None), None) => Meaning::Unusable,
        (None, None) => Meaning::Absent,
    }
}

fn same_but_name(was: &Meaning, is: &Meaning) -> bool {
    match (was, is) {
        (Meaning::Server(was), Meaning::Server(is)) => {
            **was == ServerSpec { name: was.name.clone(), ..(**is).clone() }
        }
        (was, is) => was == is,
    }
}

/// A server without the places its values stand in, which move with every line.
fn bare(spec: &ServerSpec) -> ServerSpec {
    let mut spec = spec.clone();
    spec.places.clear();
    spec.origin.place = crate::fault::SourceLocation::file(Path::new(""));
    spec.origin.dialect = "";
    spec
}
