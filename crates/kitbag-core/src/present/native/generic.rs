//! Definitions for nobody in particular: name, description and schema, close to what the server said.

use serde_json::{Map, Value};

use super::definition::Definition;
use super::rewrite::{Dialect, Keys, RootForm, Rules};

pub(super) const RULES: Rules =
    Rules { keys: Keys::Any, dialect: Dialect::Json, root: RootForm::Free, items: false };

pub(super) fn definition(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    one.write(&mut tool, "parameters");
    Value::Object(tool)
}
