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

/// The names under which a provider's options stand, the wider first.
fn keys(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::OpenAiChat => &["openai"],
        Provider::OpenAiResponses => &["openai", "openai-responses"],
        Provider::Anthropic => &["anthropic"],
        Provider::Gemini => &["google", "gemini"],
        Provider::GeminiOpenApi => &["google", "gemini", "gemini-openapi"],
        Provider::Generic => &["generic"],
    }
}

fn for_provider(tool: &Tool, provider: Provider) -> impl DoubleEndedIterator<Item = &Map<String, Value>> {
    keys(provider).iter().filter_map(|key| tool.options.get(*key)?.as_object())
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
    for key in keys(provider) {
        let options = match tool.options.get(*key) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(options)) => options,
            Some(_) => {
                notes.push(format!("its options for {key} are no table and are ignored"));
                continue;
            }
        };
        if let Value::Object(definition) = &mut definition {
            for (name, value) in placed(options, provider) {
                add(definition, &name, value, provider, notes);
            }
        }
    }
    definition
}

/// The options where this provider's form has them: one of OpenAI's has a `function`, the other is one.
fn placed(options: &Map<String, Value>, provider: Provider) -> Map<String, Value> {
    let mut placed = options.clone();
    match provider {
        Provider::OpenAiResponses => {
            if let Some(Value::Object(function)) = placed.shift_remove("function") {
                placed.extend(function);
            }
        }
        Provider::OpenAiChat => {
            if let Some(strict) = placed.shift_remove("strict") {
                let function = placed.entry("function").or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(function) = function {
                    function.entry("strict").or_insert(strict);
                }
            }
        }
        _ => {}
    }
    placed
}

fn add(
    definition: &mut Map<String, Value>,
    name: &str,
    value: Value,
    provider: Provider,
    notes: &mut Vec<String>,
) {
    match (name, value) {
        ("function", Value::Object(inner)) if provider == Provider::OpenAiChat => {
            let Some(Value::Object(function)) = definition.get_mut("function") else { return };
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
            if provider != Provider::OpenAiResponses {
                definition.entry("strict").or_insert(Value::Bool(false));
            }
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
