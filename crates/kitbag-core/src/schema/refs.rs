//! Where a `$ref` leads, inside its own document only: nothing is ever fetched.

use std::borrow::Cow;
use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use serde_json::Value;
use url::Url;

use super::SchemaError;
use super::tree::inside;

/// A value's place in memory: tells two equal values of one document apart.
pub(crate) fn address(value: &Value) -> usize {
    std::ptr::from_ref(value) as usize
}

/// Why a reference leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It names another document.
    Outside,
    /// It names a place that this document does not have.
    Nowhere,
}

/// The named places of one schema document.
pub(crate) struct Index<'a> {
    root: &'a Value,
    ids: HashMap<String, &'a Value>,
    anchors: HashMap<&'a str, &'a Value>,
    /// The schema whose `$id` counts, for those below one that is not the root.
    homes: HashMap<usize, &'a Value>,
}

impl<'a> Index<'a> {
    /// Of a document that is known to be small and flat.
    pub(crate) fn new(root: &'a Value) -> Self {
        let mut index = Self { root, ids: HashMap::new(), anchors: HashMap::new(), homes: HashMap::new() };
        index.learn(root, root, None);
        index
    }

    fn learn(&mut self, value: &'a Value, home: &'a Value, base: Option<&Url>) {
        let mut home = home;
        let mut own = None;
        if let Value::Object(object) = value {
            let text = |key: &str| object.get(key).and_then(Value::as_str);
            if let Some(id) = text("$id") {
                match id.strip_prefix('#') {
                    Some(anchor) if !anchor.is_empty() => {
                        self.anchors.entry(anchor).or_insert(value);
                    }
                    _ => {
                        home = value;
                        own = join(base, id);
                        self.ids.entry(id.trim_end_matches('#').to_owned()).or_insert(value);
                        if let Some(own) = &own {
                            self.ids.entry(own.as_str().trim_end_matches('#').to_owned()).or_insert(value);
                        }
                    }
                }
            }
            for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                self.anchors.entry(anchor).or_insert(value);
            }
        }
        if !std::ptr::eq(home, self.root) {
            self.homes.insert(address(value), home);
        }
        let base = own.as_ref().or(base);
        match value {
            Value::Object(object) => inside(object, |inner| self.learn(inner, home, base)),
            Value::Array(list) => list.iter().for_each(|inner| self.learn(inner, home, base)),
            _ => {}
        }
    }

    /// What `reference`, found in the schema `from`, must refer to.
    pub(crate) fn target(&self, reference: &str, from: &Value) -> Result<&'a Value, SchemaError> {
        self.find(reference, from).map_err(|lost| match lost {
            Lost::Outside => SchemaError::external(reference),
            Lost::Nowhere => SchemaError::missing(reference),
        })
    }

    /// What `reference`, found in the schema `from`, refers to.
    pub(crate) fn find(&self, reference: &str, from: &Value) -> Result<&'a Value, Lost> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let home = self.homes.get(&address(from)).copied().unwrap_or(self.root);
        let document = match uri {
            "" => home,
            uri => self.document(uri, home).ok_or(Lost::Outside)?,
        };
        if fragment.is_empty() {
            return Ok(document);
        }
        let fragment = percent_decoded(fragment).ok_or(Lost::Nowhere)?;
        if fragment.starts_with('/') {
            return document.pointer(&fragment).ok_or(Lost::Nowhere);
        }
        self.anchors.get(&*fragment).copied().ok_or(Lost::Nowhere)
    }

    fn document(&self, uri: &str, home: &Value) -> Option<&'a Value> {
        if let Some(found) = self.ids.get(uri) {
            return Some(found);
        }
        let base = home.get("$id").and_then(Value::as_str).and_then(|id| Url::parse(id).ok());
        self.ids.get(join(base.as_ref(), uri)?.as_str()).copied()
    }
}

fn join(base: Option<&Url>, text: &str) -> Option<Url> {
    match base {
        Some(base) => base.join(text).ok(),
        None => Url::parse(text).ok(),
    }
}

/// What a reference of the plain forms `#` and `#/a/b` refers to.
pub(crate) fn local<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?)?)
}

/// A fragment of a URI as it is meant; nothing if that is no text.
pub(crate) fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(text).decode_utf8().ok()
}
