//! The parameters of a tool, also where its schema spreads them over several parts.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::inline::word;
use super::kind::{Detail, is_required, kind, target};

/// References and parts in a row that are followed.
const DEEPEST: usize = 8;
/// Parameters of one tool.
const MOST: usize = 500;

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
}

impl<'a> Param<'a> {
    /// What its definition says, also behind a reference.
    pub(crate) fn description(&self, root: &'a Value) -> Option<&'a str> {
        let own = |schema: &'a Value| schema.get("description").and_then(Value::as_str);
        own(self.schema).or_else(|| own(target(root, self.schema)?)).filter(|text| !text.trim().is_empty())
    }

    /// What it is when it is not given.
    pub(crate) fn default(&self) -> Option<&'a Value> {
        self.schema.get("default")
    }
}

/// The properties of an object, in the order written, the required ones of a choice as optional.
pub(crate) fn params<'a>(root: &'a Value, schema: &'a Value) -> Vec<Param<'a>> {
    let mut search = Search { root, found: Vec::new(), seen: HashSet::new() };
    search.collect(schema, Sure::Yes, DEEPEST);
    search.found
}

/// Whether a part certainly holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sure {
    Yes,
    No,
}

struct Search<'a> {
    root: &'a Value,
    found: Vec<Param<'a>>,
    /// Parts by their place in memory. Looked at again they tell nothing new, and parts that refer to each
    /// other many times over would never come to an end.
    seen: HashSet<(*const Value, Sure)>,
}

impl<'a> Search<'a> {
    fn collect(&mut self, schema: &'a Value, sure: Sure, room: usize) {
        let Value::Object(object) = schema else { return };
        if !self.seen.insert((std::ptr::from_ref(schema), sure)) {
            return;
        }
        if let Some(Value::Object(properties)) = object.get("properties") {
            for (name, schema) in properties {
                let required = || sure == Sure::Yes && is_required(object, name);
                match self.found.iter().position(|param| param.name == name) {
                    Some(place) => self.found[place].required |= required(),
                    None if self.found.len() < MOST => {
                        self.found.push(Param { name, schema, required: required() });
                    }
                    None => {}
                }
            }
        }
        let Some(room) = room.checked_sub(1) else { return };
        if let Some(target) = target(self.root, schema) {
            self.collect(target, sure, room);
        }
        for (keyword, sure) in [("allOf", sure), ("anyOf", Sure::No), ("oneOf", Sure::No)] {
            let parts = object.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            parts.iter().for_each(|part| self.collect(part, sure, room));
        }
        // A part may require what another part defines.
        if sure == Sure::Yes {
            self.found.iter_mut().for_each(|param| param.required |= is_required(object, param.name));
        }
    }
}

/// The object inside a value that is one, a list of such, or perhaps nothing.
pub(crate) fn inside<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut at = schema;
    for _ in 0..DEEPEST {
        if let Some(next) = target(root, at) {
            at = next;
        } else if has_properties(at) {
            return Some(at);
        } else if let Some(only) = only_form(at) {
            at = only;
        } else {
            at = at.get("items").filter(|items| items.is_object())?;
        }
    }
    None
}

fn has_properties(schema: &Value) -> bool {
    schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty())
}

/// The one form of a choice that is not null.
fn only_form(schema: &Value) -> Option<&Value> {
    let parts = ["anyOf", "oneOf", "allOf"].iter().find_map(|choice| schema.get(choice)?.as_array())?;
    let mut forms = parts.iter().filter(|part| part.get("type").is_none_or(|kind| kind != "null"));
    forms.next().filter(|_| forms.next().is_none())
}

/// All parameters as one object type, for errors and listings: `{path: string, limit?: integer}`.
pub(crate) fn summary(root: &Value, detail: Detail) -> String {
    let part = |param: &Param<'_>| {
        let mark = if param.required { "" } else { "?" };
        format!("{}{mark}: {}", word(param.name), kind(root, param.schema, detail))
    };
    let parts: Vec<String> = params(root, root).iter().map(part).collect();
    format!("{{{}}}", parts.join(", "))
}

/// The one required parameter, if it takes text.
pub(crate) fn only_text(root: &Value) -> Option<&str> {
    let params = params(root, root);
    let mut required = params.iter().filter(|param| param.required);
    let only = required.next().filter(|_| required.next().is_none())?;
    takes_text(root, only.schema, DEEPEST).then_some(only.name)
}

fn takes_text(root: &Value, schema: &Value, room: usize) -> bool {
    let Value::Object(object) = schema else { return false };
    let Some(room) = room.checked_sub(1) else { return false };
    if let Some(target) = target(root, schema) {
        return takes_text(root, target, room);
    }
    let listed = |keyword: &str| object.get(keyword).and_then(Value::as_array);
    if let Some(parts) = listed("anyOf").or_else(|| listed("oneOf")).or_else(|| listed("allOf")) {
        return parts.iter().any(|part| takes_text(root, part, room));
    }
    match object.get("type") {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
        _ => texts(object),
    }
}

fn texts(object: &Map<String, Value>) -> bool {
    let values = object.get("enum").and_then(Value::as_array);
    values.is_some_and(|values| values.iter().any(Value::is_string))
}
