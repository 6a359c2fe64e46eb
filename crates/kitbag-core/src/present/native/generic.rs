//! Definitions for nobody in particular: name, description and schema, close to what the server said.

use serde_json::{Map, Value};

use super::rewrite::{Dialect, Keys, RootForm, Rules};
use crate::names::ShownName;

pub(super) const RULES: Rules =
    Rules { keys: Keys::Any, dialect: Dialect::Json, root: RootForm::Free, items: false };

pub(super) fn definition(name: &ShownName, description: Option<String>, schema: Map<String, Value>) -> Value {
    let mut tool = Map::new();
    tool.insert("name".to_owned(), name.as_str().into());
    if let Some(text) = description {
        tool.insert("description".to_owned(), text.into());
    }
    tool.insert("parameters".to_owned(), Value::Object(schema));
    Value::Object(tool)
}
