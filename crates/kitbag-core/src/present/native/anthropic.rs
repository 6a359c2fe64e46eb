//! Definitions for Anthropic.

use serde_json::{Map, Value};

use super::rewrite::{Dialect, Keys, RootForm, Rules};
use crate::names::ShownName;

pub(super) const RULES: Rules =
    Rules { keys: Keys::Wide, dialect: Dialect::Json, root: RootForm::Plain, items: false };

pub(super) fn definition(
    name: &ShownName,
    description: Option<String>,
    schema: Map<String, Value>,
    strict: bool,
) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), name.as_str().into());
    if let Some(text) = description {
        tool.insert("description".to_owned(), text.into());
    }
    tool.insert("input_schema".to_owned(), Value::Object(schema));
    if strict {
        tool.insert("strict".to_owned(), true.into());
    }
    Value::Object(tool)
}
