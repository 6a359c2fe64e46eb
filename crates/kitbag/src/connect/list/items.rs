//! Lists of what servers offer beside tools: resources, templates of resources, prompts. Each item is kept as received,
//! with the one text it is known by.

use std::collections::HashMap;

use kitbag_core::catalog::{ListCut, Rejected};
use kitbag_core::text::is_hidden;
use kitbag_core::{Limits, ToolName};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::era::Era;
use super::super::peer::{Peer, RequestError};
use super::{ListEnd, MOST_REJECTED, Pages, TakesItems, pages};

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Resources,
    Templates,
    Prompts,
}

impl ListKind {
    pub(crate) const ALL: [Self; 3] = [Self::Resources, Self::Templates, Self::Prompts];

    fn pages(self, limits: &Limits) -> Pages {
        match self {
            Self::Resources => Pages {
                method: "resources/list",
                member: "resources",
                row: "resources",
                most: limits.resources,
            },
            Self::Templates => Pages {
                method: "resources/templates/list",
                member: "resourceTemplates",
                row: "resources",
                most: limits.resources,
            },
            Self::Prompts => {
                Pages { method: "prompts/list", member: "prompts", row: "prompts", most: limits.prompts }
            }
        }
    }

    /// The method by which servers are asked for it.
    pub(crate) fn method(self) -> &'static str {
        self.pages(&Limits::default()).method
    }
}

/// One item as its server lists it.
#[derive(Clone, Debug)]
pub struct RawItem {
    /// By what it is known: its URI, its template, its name.
    pub key: String,
    /// All of it, as received.
    pub raw: Box<RawValue>,
}

/// What a server lists of one kind.
#[derive(Clone, Debug, Default)]
pub struct ItemList {
    /// In its own order, each key once.
    pub items: Vec<RawItem>,
    /// What was left out, and why.
    pub rejected: Vec<Rejected>,
    /// How many more were left out.
    pub rejected_more: usize,
    /// Why there may be more, if the list was not read to its end.
    pub truncated: Option<ListCut>,
    /// How long it holds, if its server says so.
    pub ttl: Option<std::time::Duration>,
    /// Whether it broke off by an error in the middle.
    pub(crate) broke_off: bool,
}

/// Pages through a list.
pub(crate) async fn items(
    peer: &Peer,
    era: Era,
    limits: &Limits,
    kind: ListKind,
) -> Result<ItemList, RequestError> {
    let mut taken = TakenItems { kind, longest: limits.uri, list: ItemList::default(), keys: HashMap::new() };
    let ListEnd { truncated, ttl, broke_off, .. } =
        pages(peer, era, limits, kind.pages(limits), &mut taken).await?;
    Ok(ItemList { truncated, ttl, broke_off, ..taken.list })
}

/// The items taken so far, and where each key stands.
struct TakenItems {
    kind: ListKind,
    longest: usize,
    list: ItemList,
    keys: HashMap<String, usize>,
}

impl TakesItems for TakenItems {
    fn count(&self) -> usize {
        self.list.items.len()
    }

    fn take(&mut self, raw: &RawValue) {
        let rejected = match self.key(raw) {
            Ok(key) => match self.keys.get(&key) {
                None => {
                    self.keys.insert(key.clone(), self.list.items.len());
                    self.list.items.push(RawItem { key, raw: raw.to_owned() });
                    return;
                }
                // The same once more, as on pages that go in circles, takes nothing away.
                Some(known)
                    if self.list.items.get(*known).is_some_and(|item| item.raw.get() == raw.get()) =>
                {
                    return;
                }
                Some(_) => Rejected::new(&key, "another of this name is listed before it"),
            },
            Err(rejected) => rejected,
        };
        if self.list.rejected.len() < MOST_REJECTED {
            self.list.rejected.push(rejected);
        } else {
            self.list.rejected_more += 1;
        }
    }
}

impl TakenItems {
    fn key(&self, raw: &RawValue) -> Result<String, Rejected> {
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Keys {
            uri: Option<String>,
            uri_template: Option<String>,
            name: Option<String>,
        }
        let keys: Keys = serde_json::from_str(raw.get())
            .map_err(|_| Rejected::new("", "it is not an object with a name"))?;
        let (key, what) = match self.kind {
            ListKind::Resources => (keys.uri, "uri"),
            ListKind::Templates => (keys.uri_template, "uriTemplate"),
            ListKind::Prompts => (keys.name, "name"),
        };
        let key = key.ok_or_else(|| Rejected::new("", &format!("it has no {what}")))?;
        let invalid = match self.kind {
            ListKind::Prompts => ToolName::of_prompt(&key).err().map(|invalid| invalid.why().to_owned()),
            ListKind::Resources | ListKind::Templates => bad_uri(&key, self.longest),
        };
        match invalid {
            None => Ok(key),
            Some(why) => Err(Rejected::new(&key, &format!("its {what} {why}"))),
        }
    }
}

/// Why a URI cannot be passed on, if it cannot: nobody could tell what stands there, or it has no end.
pub(crate) fn bad_uri(uri: &str, longest: usize) -> Option<String> {
    if uri.is_empty() {
        return Some("is empty".to_owned());
    }
    if longest < uri.len() {
        return Some(format!("is longer than {longest} bytes (`uri` in `kitbag limits`)"));
    }
    let is_hidden = uri.chars().any(|c| c.is_control() || is_hidden(c));
    is_hidden.then(|| "holds a control or invisible character".to_owned())
}
