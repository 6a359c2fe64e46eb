//! What a definition means, whatever the order of its keys: the part of it that a model or a program reads, in one spelling,
//! and the hash of that.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Tool;

/// What a model reads of a definition, or a program decides by. Icons and `_meta` say nothing to either.
const READ: [&str; 6] = ["annotations", "description", "inputSchema", "name", "outputSchema", "title"];

/// The hash of a definition, made on first need and shared by all copies of its tool.
#[derive(Clone, Debug, Default)]
pub struct DefinitionHash(Arc<OnceLock<[u8; 32]>>);

/// It follows from the definition, which is compared itself.
impl PartialEq for DefinitionHash {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for DefinitionHash {}

impl Tool {
    /// The SHA-256 of what its definition means: the same as long as nothing changed that is read.
    pub fn definition_hash(&self) -> [u8; 32] {
        *self.hash.0.get_or_init(|| Sha256::digest(self.canonical_definition()).into())
    }

    /// What its definition means, in one spelling: keys in order, no blanks.
    pub fn canonical_definition(&self) -> String {
        let read = READ.iter().filter_map(|key| Some(((*key).to_owned(), sorted(self.raw.get(*key)?))));
        Value::Object(read.collect()).to_string()
    }
}

/// The same with all keys in order; definitions are as deep as the limits allow.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            let field = |key: &String| Some((key.clone(), sorted(fields.get(key)?)));
            Value::Object(keys.into_iter().filter_map(field).collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        plain => plain.clone(),
    }
}
