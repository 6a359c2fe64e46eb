//! The parameters of a tool, also where its schema spreads them over several parts.

use serde_json::{Map, Value};

use super::inline::word;
use super::kind::{Detail, is_null, kind, next_target, target};
use super::set::{DEEPEST, ParameterSet};

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
        let mut at = self.schema;
        for _ in 0..DEEPEST {
            let own = at.get("description").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            if own.is_some() {
                return own;
            }
            at = next_target(root, at)?;
        }
        None
    }

    /// What it is when it is not given.
    pub(crate) fn default(&self) -> Option<&'a Value> {
        self.schema.get("default")
    }

    /// Whether another says the same of the same name.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_same = || std::ptr::eq(self.schema, other.schema) || self.schema == other.schema;
        self.name == other.name && self.required == other.required && is_same()
    }
}

/// The properties of an object, in the order written, those of all branches of a choice among them.
pub(crate) fn params<'a>(root: &'a Value, schema: &'a Value) -> Vec<Param<'a>> {
    ParameterSet::of(root, schema).flat()
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
            // The items of a tuple differ from each other: its type tells them.
            let is_list = at.get("prefixItems").is_none();
            at = at.get("items").filter(|items| is_list && items.is_object())?;
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
    let mut forms = parts.iter().filter(|part| !is_null(part));
    forms.next().filter(|_| forms.next().is_none())
}

/// All parameters as one object type, for errors and listings: `{path: string, limit?: integer}`, or several where the
/// schema is a choice of objects.
pub(crate) fn summary(root: &Value, detail: Detail) -> String {
    let set = ParameterSet::of(root, root);
    match set.choices.as_slice() {
        [branches] if set.common.is_empty() && !set.cut => alternatives(root, branches, detail),
        _ => object(root, &set, detail),
    }
}

fn object(root: &Value, set: &ParameterSet<'_>, detail: Detail) -> String {
    let part = |param: &Param<'_>| {
        let mark = if param.required { "" } else { "?" };
        format!("{}{mark}: {}", word(param.name), kind(root, param.schema, detail))
    };
    let parts: Vec<String> = set.common.iter().map(part).chain(spread(root, set, detail)).collect();
    format!("{{{}}}", parts.join(", "))
}

/// What stands behind the parameters that always hold: `...({a: string}|{b: integer})` for each choice.
pub(super) fn spread(root: &Value, set: &ParameterSet<'_>, detail: Detail) -> Vec<String> {
    let choices = set.choices.iter().map(|branches| format!("...({})", alternatives(root, branches, detail)));
    choices.chain(set.cut.then(|| "…".to_owned())).collect()
}

fn alternatives(root: &Value, branches: &[ParameterSet<'_>], detail: Detail) -> String {
    let mut texts: Vec<String> = Vec::new();
    for branch in branches {
        let text = object(root, branch, detail);
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.join("|")
}

/// The one required parameter, or the only one there is, if it takes text.
pub(crate) fn only_text(root: &Value) -> Option<&str> {
    let params = params(root, root);
    let mut required = params.iter().filter(|param| param.required);
    let only = match (required.next(), required.next(), params.as_slice()) {
        (Some(only), None, _) | (None, _, [only]) => only,
        _ => return None,
    };
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
