//! Definitions for OpenAI. Its chat API takes a tool for loose unless told otherwise, its responses API for
//! strict, so the latter is always told.

use serde_json::{Map, Value};

use super::rewrite::{Dialect, Keys, RootForm, Rules};
use crate::names::ShownName;

pub(super) const RULES: Rules = Rules {
    keys: Keys::Any,
    dialect: Dialect::Json,
    // `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top
    // level`, strict or not (nspady/google-calendar-mcp#39, goruck/home-generative-agent#545).
    root: RootForm::Plain,
    // `array schema missing items`.
    items: true,
};

pub(super) fn chat(
    name: &ShownName,
    description: Option<String>,
    schema: Map<String, Value>,
    strict: bool,
) -> Value {
    let mut function = Map::new();
    define(&mut function, name, description, schema);
    if strict {
        function.insert("strict".to_owned(), true.into());
    }
    // Moved, where `json!` would copy it.
    let mut tool = Map::new();
    tool.insert("type".to_owned(), "function".into());
    tool.insert("function".to_owned(), Value::Object(function));
    Value::Object(tool)
}

pub(super) fn responses(
    name: &ShownName,
    description: Option<String>,
    schema: Map<String, Value>,
    strict: bool,
) -> Value {
    let mut tool = Map::new();
    tool.insert("type".to_owned(), "function".into());
    define(&mut tool, name, description, schema);
    tool.insert("strict".to_owned(), strict.into());
    Value::Object(tool)
}

fn define(
    into: &mut Map<String, Value>,
    name: &ShownName,
    description: Option<String>,
    schema: Map<String, Value>,
) {
    into.insert("name".to_owned(), name.as_str().into());
    if let Some(text) = description {
        into.insert("description".to_owned(), text.into());
    }
    into.insert("parameters".to_owned(), Value::Object(schema));
}
