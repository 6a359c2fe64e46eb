//! Definitions for Anthropic.

use serde_json::{Map, Value};

use super::definition::Definition;
use super::rewrite::{Dialect, Keys, RootForm, Rules};

pub(super) const RULES: Rules =
    Rules { keys: Keys::Wide, dialect: Dialect::Json, root: RootForm::Plain, items: false };

pub(super) fn definition(one: Definition<'_>) -> Value {
    let mut tool = Map::new();
    let is_strict = one.is_strict;
    one.write(&mut tool, "input_schema");
    if is_strict {
        tool.insert("strict".to_owned(), true.into());
    }
    Value::Object(tool)
}
