//! What every provider wants to know of a tool, whatever it calls it.

use serde_json::{Map, Value};

use crate::names::ShownName;

/// One tool in a provider's words, before it is put into the provider's form.
pub(super) struct Definition<'a> {
    pub(super) name: &'a ShownName,
    pub(super) description: Option<String>,
    pub(super) schema: Map<String, Value>,
    /// Whether the model is to be held to the schema.
    pub(super) is_strict: bool,
}

impl Definition<'_> {
    /// Name, description if there is one, and the schema under the key the provider has for it. Everything is
    /// moved, where `json!` would copy it.
    pub(super) fn write(self, into: &mut Map<String, Value>, key: &str) {
        into.insert("name".to_owned(), self.name.as_str().into());
        if let Some(text) = self.description {
            into.insert("description".to_owned(), text.into());
        }
        into.insert(key.to_owned(), Value::Object(self.schema));
    }
}
