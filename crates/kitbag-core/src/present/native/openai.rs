//! Definitions for OpenAI. Its chat API takes a tool for loose unless told otherwise, its responses API for
//! strict, so the latter is always told.

use serde_json::{Map, Value};

use super::definition::Definition;
use super::rewrite::{Dialect, Keys, RootForm, Rules};

pub(super) const RULES: Rules = Rules {
    keys: Keys::Any,
    dialect: Dialect::Json,
    // `schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'const'/'not' at the top
    // level`, strict or not (nspady/google-calendar-mcp#39, goruck/home-generative-agent#545).
    root: RootForm::Plain,
    // `array schema missing items`.
    items: true,
};

pub(super) fn chat(one: Definition<'_>) -> Value {
    let mut function = Map::new();
    let is_strict = one.is_strict;
    one.write(&mut function, "parameters");
    if is_strict {
        function.insert("strict".to_owned(), true.into());
    }
    let mut tool = Map::new();
    tool.insert("type".to_owned(), "function".into());
    tool.insert("function".to_owned(), Value::Object(function));
    Value::Object(tool)
}

pub(super) fn responses(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    let is_strict = one.is_strict;
    tool.insert("type".to_owned(), "function".into());
    one.write(&mut tool, "parameters");
    tool.insert("strict".to_owned(), is_strict.into());
    Value::Object(tool)
}
