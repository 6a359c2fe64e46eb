//! Options an operator wrote down for one tool and one provider, merged into that provider's definition only.

use serde_json::{Map, Value};

use super::Provider;
use crate::catalog::Tool;

/// Levels of nesting that are merged.
const DEEPEST: usize = 32;

/// Whether a tool is to be strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Unsaid,
    Strict,
    Loose,
}

impl Asked {
    /// By the options of the tool. A definition that only says `strict` and is not would cost the request.
    pub(super) fn of(tool: &Tool, provider: Provider) -> Self {
        let strict = for_provider(tool, provider).rev().find_map(|options| {
            options
                .get("function")
                .and_then(|function| function.get("strict"))
                .or(options.get("strict"))?
                .as_bool()
        });
        match strict {
            Some(true) => Self::Strict,
            Some(false) => Self::Loose,
            None => Self::Unsaid,
        }
    }
}

fn for_provider(tool: &Tool, provider: Provider) -> impl DoubleEndedIterator<Item = &Map<String, Value>> {
    provider.row().options.iter().filter_map(|key| tool.options.get(*key)?.as_object())
}

/// The definition with the tool's options for its provider.
pub(super) fn merge(
    mut definition: Value,
    tool: &Tool,
    provider: Provider,
    notes: &mut Vec<String>,
) -> Value {
    if tool.options.is_empty() {
        return definition;
    }
    for key in provider.row().options {
        let options = match tool.options.get(*key) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(options)) => options,
            Some(_) => {
                notes.push(format!("its options for {key} are not a table and are ignored"));
                continue;
            }
        };
        if let Value::Object(definition) = &mut definition {
            let mut placed = options.clone();
            (provider.row().place)(&mut placed);
            for (name, value) in placed {
                add(definition, &name, value, provider, notes);
            }
        }
    }
    definition
}

fn add(
    definition: &mut Map<String, Value>,
    name: &str,
    value: Value,
    provider: Provider,
    notes: &mut Vec<String>,
) {
    match (name, value) {
        ("function", Value::Object(inner)) if definition.get(name).is_some_and(Value::is_object) => {
            let Some(Value::Object(function)) = definition.get_mut(name) else { return };
            inner.into_iter().for_each(|(name, value)| add(function, &name, value, provider, notes));
        }
        (
            "name"
            | "description"
            | "type"
            | "function"
            | "parameters"
            | "input_schema"
            | "inputSchema"
            | "parametersJsonSchema",
            _,
        ) => notes.push(format!(
            "its option `{name}` is ignored: rules change what a tool is called, says and takes"
        )),
        // Decided when the schema was made; see `Asked`.
        ("strict", Value::Bool(_)) if provider.has_strict() => {
            definition.entry("strict").or_insert(Value::Bool(false));
        }
        (name, value) => deep(definition, name, value, DEEPEST),
    }
}

fn deep(into: &mut Map<String, Value>, name: &str, value: Value, room: usize) {
    match (into.get_mut(name), value) {
        (Some(Value::Object(old)), Value::Object(new)) if 0 < room => {
            new.into_iter().for_each(|(name, value)| deep(old, &name, value, room - 1));
        }
        (_, value) => drop(into.insert(name.to_owned(), value)),
    }
}
