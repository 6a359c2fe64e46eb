//! A list that changes, and one that was good and is not any more.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::json;

use super::catalog::tool;
use super::{Entry, Fault, Take};
use crate::server::Server;
use crate::wire::{self, Request, code};
use crate::{list, tools};

pub(super) const FAULTS: &[Entry] = &[Entry {
    label: "c15",
    modes: &["quiet", "broken"],
    about: "a good list until `break_list`, again after `mend_list`; `add_tool`, `remove_tool`, `change_tool`; \
            quiet: changes without a notification; broken: no list from the start",
    make: |modes| {
        let says = if modes.has("quiet") { Says::Nothing } else { Says::Changes };
        let broken = modes.has("broken").then_some(Broken::Error);
        Arc::new(Refresh { says, shelf: Mutex::new(Shelf { broken, ..Shelf::default() }) })
    },
}];

struct Refresh {
    says: Says,
    shelf: Mutex<Shelf>,
}

#[derive(PartialEq, Eq)]
enum Says {
    Changes,
    Nothing,
}

/// What the list holds besides the tools that change it.
struct Shelf {
    tools: Vec<(String, usize)>,
    added: usize,
    broken: Option<Broken>,
}

/// How `tools/list` fails.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Broken {
    Empty,
    Error,
    /// `tools` is no list.
    Garbage,
    /// No answer, ever.
    Timeout,
    /// One page, then an error.
    Half,
}

const CONTROLS: [(&str, &str); 5] = [
    ("break_list", "Lists fail from now on"),
    ("mend_list", "Lists are good again"),
    ("add_tool", "Adds a tool, of that name if one is given"),
    ("remove_tool", "Removes a tool, the last one if none is named"),
    (
        "change_tool",
        "Gives a tool, the first one if none is named, another description and one more argument",
    ),
];

#[derive(Deserialize)]
struct Arguments {
    how: Option<Broken>,
    name: Option<String>,
}

impl Default for Shelf {
    fn default() -> Self {
        let tools = ["one", "two", "three"].map(|name| (name.to_owned(), 1));
        Self { tools: tools.into(), added: 0, broken: None }
    }
}

impl Fault for Refresh {
    fn request(&self, server: &Arc<Server>, request: &Request<'_>) -> Take {
        let name = &*request.params.name;
        match request.method {
            "tools/list" => self.list(server, request),
            "tools/call" if CONTROLS.iter().any(|(control, _)| *control == name) => {
                self.control(server, request);
            }
            "tools/call" if self.shelf().tools.iter().any(|(tool, _)| tool == name) => {
                self.call(server, request);
            }
            _ => return Take::Leave,
        }
        Take::Mine
    }
}

impl Refresh {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(&self, server: &Server, request: &Request<'_>) {
        let (definitions, broken) = {
            let shelf = self.shelf();
            (shelf.definitions(), shelf.broken)
        };
        let all = || list::paged(server, request, definitions.len(), |index| (&*definitions[index]).into());
        let error = || wire::error(request.id, code::INTERNAL, "the list is broken", "");
        let first = definitions.iter().take(1).map(|definition| Cow::Borrowed(&**definition));
        server.answer(&match broken {
            None => all(),
            Some(Broken::Empty) => list::page(request.id, request.speech, [].into_iter(), None),
            Some(Broken::Error) => error(),
            Some(Broken::Garbage) => wire::members(request, &json!({ "tools": { "one": "garbage" } })),
            Some(Broken::Half) if request.params.cursor.is_some() => error(),
            Some(Broken::Half) => list::page(request.id, request.speech, first, Some("at-1")),
            Some(Broken::Timeout) => return,
        });
    }

    fn control(&self, server: &Server, request: &Request<'_>) {
        let name = &*request.params.name;
        let changed = tools::arguments(request).and_then(|arguments| self.shelf().change(name, arguments));
        let Some(changed) = changed else {
            return server.answer_call(&wire::error(request.id, code::BAD_PARAMS, "invalid arguments", ""));
        };
        server.events.note(&["exec", name]);
        if self.says == Says::Changes {
            server.tools_changed();
        }
        server.answer_call(&wire::text_result(request.id, request.speech, &wire::quoted(&changed)));
    }

    fn call(&self, server: &Server, request: &Request<'_>) {
        server.events.note(&["exec", &request.params.name]);
        server.answer_call(&tools::echoed(server, request));
    }
}

impl Shelf {
    fn definitions(&self) -> Vec<String> {
        let controls = CONTROLS.iter().map(|(name, about)| {
            let how = json!({ "enum": ["empty", "error", "garbage", "timeout", "half"] });
            let properties = match *name {
                "break_list" => json!({ "how": how }),
                "mend_list" => json!({}),
                _ => json!({ "name": { "type": "string" } }),
            };
            tool(name, about, &json!({ "type": "object", "properties": properties })).to_string()
        });
        let own = self.tools.iter().map(|(name, version)| {
            let property = |number| (format!("argument_{number}"), json!({ "type": "string" }));
            let properties: serde_json::Map<_, _> = (1..=*version).map(property).collect();
            let schema = json!({ "type": "object", "properties": properties });
            tool(name, &format!("Version {version} of {name}"), &schema).to_string()
        });
        own.chain(controls).collect()
    }

    /// What a control does; the name of the tool it was done to, or how the list is now.
    fn change(&mut self, control: &str, Arguments { how, name }: Arguments) -> Option<String> {
        let at = |name: &str| self.tools.iter().position(|(tool, _)| tool == name);
        match control {
            "break_list" => {
                self.broken = Some(how?);
                Some("broken".to_owned())
            }
            "mend_list" => {
                self.broken = None;
                Some("good".to_owned())
            }
            "add_tool" => {
                let name = name.unwrap_or_else(|| {
                    self.added += 1;
                    format!("added_{}", self.added)
                });
                self.tools.push((name.clone(), 1));
                Some(name)
            }
            "remove_tool" => {
                let index = name.map_or(self.tools.len().checked_sub(1), |name| at(&name))?;
                Some(self.tools.remove(index).0)
            }
            _ => {
                let index = name.map_or(Some(0), |name| at(&name))?;
                let (name, version) = self.tools.get_mut(index)?;
                *version += 1;
                Some(name.clone())
            }
        }
    }
}
