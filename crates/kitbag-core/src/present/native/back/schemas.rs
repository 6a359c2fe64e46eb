//! What several schemas that hold for one value say about its parts.

use serde_json::{Map, Value};

/// Schemas that speak of one value.
#[derive(Default)]
pub(super) struct Holding<'a>(Vec<&'a Map<String, Value>>);

impl<'a> Holding<'a> {
    pub(super) fn push(&mut self, schema: &'a Map<String, Value>) {
        self.0.push(schema);
    }

    fn named(&self) -> impl Iterator<Item = (&'a Map<String, Value>, &'a Map<String, Value>)> + '_ {
        self.0.iter().filter_map(|schema| Some((*schema, schema.get("properties")?.as_object()?)))
    }

    /// Whether a property is spoken of by name.
    pub(super) fn names(&self, name: &str) -> bool {
        self.0.iter().any(|schema| {
            let in_table = |keyword: &str| schema.get(keyword).is_some_and(|table| table.get(name).is_some());
            let required = schema.get("required").and_then(Value::as_array);
            in_table("properties")
                || required.is_some_and(|names| names.iter().any(|one| one == name))
                || ["dependentRequired", "dependentSchemas", "dependencies"].into_iter().any(in_table)
        })
    }

    /// Whether a property need not be given, and null would be no value of it that must be.
    pub(super) fn may_miss(&self, name: &str) -> bool {
        let mut optional = false;
        for (schema, named) in self.named() {
            let Some(property) = named.get(name) else { continue };
            let required = schema.get("required").and_then(Value::as_array);
            match required.is_some_and(|required| required.iter().any(|one| one == name)) {
                true if takes_null(property) => return false,
                true => {}
                false => optional = true,
            }
        }
        optional
    }

    /// All properties that are named.
    pub(super) fn all_names(&self) -> Vec<&'a str> {
        self.named().flat_map(|(_, named)| named.keys().map(String::as_str)).collect()
    }

    /// What is said of a property.
    pub(super) fn property(&self, name: &str) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for schema in &self.0 {
            let named = schema.get("properties").and_then(|named| named.get(name));
            match named {
                Some(property) => found.push(property),
                None => {
                    found.extend(schema.get("additionalProperties"));
                    let patterns = schema.get("patternProperties").and_then(Value::as_object);
                    found.extend(patterns.into_iter().flat_map(Map::values));
                }
            }
        }
        found
    }

    /// What is said of an item.
    pub(super) fn item(&self, at: usize) -> Vec<&'a Value> {
        let mut found = Vec::new();
        for schema in &self.0 {
            let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
            let own = list("prefixItems").or_else(|| list("items")).and_then(|list| list.get(at));
            let rest =
                || schema.get("items").filter(|items| items.is_object()).or(schema.get("additionalItems"));
            found.extend(own.or_else(rest));
        }
        found
    }
}

/// Whether a schema takes a value, by its type and the values it names.
pub(super) fn takes(schema: &Map<String, Value>, value: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    let typed = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(kind) => is(kind),
        None => true,
    };
    typed
        && schema.get("const").is_none_or(|only| only == value)
        && schema.get("enum").and_then(Value::as_array).is_none_or(|list| list.contains(value))
}

/// Whether a schema takes null, as far as it says so itself.
pub(super) fn takes_null(schema: &Value) -> bool {
    let Value::Object(object) = schema else { return *schema == Value::Bool(true) };
    if object.contains_key("$ref") || object.contains_key("allOf") {
        return false;
    }
    let any = |keyword: &str| match object.get(keyword).and_then(Value::as_array) {
        Some(branches) => branches.iter().any(|branch| {
            branch
                .as_object()
                .is_some_and(|branch| takes(branch, &Value::Null) && branch.contains_key("type"))
        }),
        None => true,
    };
    takes(object, &Value::Null) && any("anyOf") && any("oneOf")
}
