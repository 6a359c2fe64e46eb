//! Definitions that a provider holds the model to: closed objects, everything said about everything, and only
//! words it can enforce. What it cannot enforce moves into the description.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::describe::hint;
use super::provider::ProviderRow;
use super::{Made, NativeRequest, Unfit};
use crate::catalog::Tool;
use crate::schema::may_be_null;
use crate::schema::merge::merge;
use crate::schema::tree::schemas;

mod limits;
mod words;

pub(super) use limits::{StrictRules, Weight};
use words::{nullable, takes_null};

/// A tool's schema made strict, or as it is and why it is not.
pub(super) fn schema(
    tool: &Tool,
    row: &ProviderRow,
    request: &NativeRequest,
) -> Result<(Made, Result<Option<Weight>, String>), Unfit> {
    let mut made = row.schema(tool, request)?;
    let Some(rules) = &row.strict else { return Ok((made, Ok(None))) };
    let mut pass = Pass {
        rules,
        loose: Value::Object(made.schema.clone()),
        judged: usize::from(!made.said.is_empty()),
        weight: Weight { tools: 1, ..Weight::default() },
        optional: BTreeSet::new(),
        null: BTreeSet::new(),
        closed: false,
        moved: BTreeSet::new(),
        left_out: BTreeSet::new(),
    };
    if made.opened {
        return Ok((made, Err(OPEN.to_owned())));
    }
    let mut strict = made.schema.clone();
    Ok(match pass.document(&mut strict).and_then(|()| rules.check(&strict)) {
        Ok(()) => {
            made.schema = strict;
            if rules.all_required {
                made.back = made.back.with_nulls(pass.optional);
            }
            let list = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(", ");
            if pass.closed {
                made.notes.push("is strict: only arguments that its schema names can be given".to_owned());
            }
            if !pass.moved.is_empty() {
                let moved = list(pass.moved);
                made.notes.push(format!("strict definitions do not take, so its descriptions say: {moved}"));
            }
            if !pass.left_out.is_empty() {
                let left_out = list(pass.left_out);
                made.notes.push(format!("strict definitions do not take, so it is left out: {left_out}"));
            }
            (made, Ok(Some(pass.weight)))
        }
        Err(why) => (made, Err(why)),
    })
}

const OPEN: &str = "an object in it takes properties that are not named";

struct Pass<'r> {
    rules: &'r StrictRules,
    /// The schema before it was made strict.
    loose: Value,
    /// How many schemas around this one judge whether a property is there.
    judged: usize,
    weight: Weight,
    /// Names of optional properties.
    optional: BTreeSet<String>,
    /// Names of properties that must be given and may be null.
    null: BTreeSet<String>,
    /// Whether an object was closed that says nothing about other properties.
    closed: bool,
    /// Words that became text.
    moved: BTreeSet<String>,
    /// Words that are too long to become text.
    left_out: BTreeSet<String>,
}

impl Pass<'_> {
    fn document(&mut self, schema: &mut Map<String, Value>) -> Result<(), String> {
        let mut tables = Vec::new();
        for keyword in ["$defs", "definitions"] {
            if let Some(Value::Object(table)) = schema.shift_remove(keyword) {
                tables.push((keyword, table));
            }
        }
        if !self.rules.recursion && words::recursive(&self.loose) {
            return Err("its schema contains itself".to_owned());
        }
        let empty = schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
        // A tool that names no arguments takes none.
        if empty
            && !is_open(schema)
            && schema.get("additionalProperties").is_none_or(|rest| *rest == Value::Bool(false))
        {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        self.schema(schema, 0)?;
        // Who refers to a definition is not known here.
        self.judged += usize::from(self.loose.as_object().into_iter().flat_map(schemas).any(words::judges));
        for (keyword, mut table) in tables {
            for inner in table.values_mut() {
                self.inner(inner, 0)?;
            }
            schema.insert(keyword.to_owned(), Value::Object(table));
        }
        match self.optional.intersection(&self.null).next() {
            Some(name) if self.rules.all_required => Err(format!(
                "its argument `{name}` may be left out in one place and must be given as null in another"
            )),
            _ => Ok(()),
        }
    }

    fn inner(&mut self, schema: &mut Value, depth: usize) -> Result<(), String> {
        match schema {
            Value::Object(object) => self.schema(object, depth),
            _ => Err("a part of it takes any value".to_owned()),
        }
    }

    fn schema(&mut self, schema: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        let levels = self.rules.levels;
        if levels < depth {
            return Err(format!("its schema is nested deeper than {levels} levels"));
        }
        compose(schema)?;
        if let Some(name) = words::hidden_name(&self.loose, schema) {
            return Err(format!("its argument `{name}` is only named under a condition"));
        }
        let judges = usize::from(words::judges(schema));
        self.judged += judges;
        self.speak(schema);
        self.composed(schema, depth)?;
        self.judged -= judges;
        Ok(())
    }

    /// A schema without `allOf`, `oneOf` and keywords that are not enforced.
    fn composed(&mut self, schema: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        if let Some(reference) = schema.get("$ref").cloned() {
            // Nothing may stand beside a reference.
            if 1 < schema.len() {
                schema.shift_remove("$ref");
                if schema.keys().any(|key| !matches!(key.as_str(), "description" | "title")) {
                    return Err("a reference stands beside something else".to_owned());
                }
                schema.insert("anyOf".to_owned(), json!([{ "$ref": reference }]));
            }
            return Ok(());
        }
        let kind = schema.get("type").cloned();
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
            if 1 < branches.len() {
                self.weight.unions += 1;
            }
            for branch in branches {
                // What is said of all branches holds for one that says nothing of its own.
                if let (Some(kind), Value::Object(branch)) = (&kind, &mut *branch)
                    && !["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"]
                        .iter()
                        .any(|key| branch.contains_key(*key))
                {
                    branch.insert("type".to_owned(), kind.clone());
                }
                self.inner(branch, depth)?;
            }
            if schema.keys().any(|key| !matches!(key.as_str(), "anyOf" | "type" | "description" | "title")) {
                return Err("a choice stands beside something else".to_owned());
            }
            // The branches say it all.
            schema.shift_remove("type");
            return Ok(());
        }
        if schema.get("type").is_some_and(Value::is_array) {
            self.weight.unions += 1;
        }
        let kinds = words::kinds(schema).ok_or("a part of it takes any value")?;
        if !schema.contains_key("type") {
            let kinds: Vec<Value> = kinds.iter().map(|kind| Value::from(kind.as_str())).collect();
            let kind = if let [only] = kinds.as_slice() { only.clone() } else { Value::Array(kinds.clone()) };
            schema.insert("type".to_owned(), kind);
        }
        let takes = |kind: &str| kinds.iter().any(|one| one == kind);
        if takes("array") {
            let items = schema.get_mut("items");
            let items = items.filter(|items| items.as_object().is_some_and(|items| !items.is_empty()));
            self.inner(items.ok_or("one of its arrays takes any items")?, depth + 1)?;
        } else {
            schema.shift_remove("items");
        }
        if takes("object") {
            self.object(schema, depth)?;
        } else {
            // Said about values that it does not take.
            schema
                .retain(|key, _| !matches!(key.as_str(), "properties" | "required" | "additionalProperties"));
        }
        Ok(())
    }

    fn object(&mut self, schema: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => {}
            None if schema
                .get("properties")
                .and_then(Value::as_object)
                .is_some_and(|named| !named.is_empty()) =>
            {
                self.closed = true;
            }
            _ => return Err(OPEN.to_owned()),
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        let required: BTreeSet<String> = match schema.get("required") {
            Some(Value::Array(names)) => {
                names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
            }
            _ => BTreeSet::new(),
        };
        let properties = schema.entry("properties").or_insert_with(|| json!({}));
        let Value::Object(properties) = properties else { return Err("its properties are none".to_owned()) };
        if required.iter().any(|name| !properties.contains_key(name)) {
            return Err("it requires a property that it does not describe".to_owned());
        }
        for (name, property) in properties.iter_mut() {
            self.property(name, property, required.contains(name), depth)?;
        }
        if self.rules.all_required {
            let all = properties.keys().map(|name| Value::from(name.as_str())).collect();
            schema.insert("required".to_owned(), Value::Array(all));
        }
        Ok(())
    }

    fn property(
        &mut self,
        name: &str,
        schema: &mut Value,
        is_required: bool,
        depth: usize,
    ) -> Result<(), String> {
        let is_null = may_be_null(&self.loose, schema);
        if is_required {
            if is_null {
                self.null.insert(name.to_owned());
            }
            return self.inner(schema, depth + 1);
        }
        self.weight.optional += 1;
        self.optional.insert(name.to_owned());
        // Where null is what is taken when nothing is given, both mean the same, unless somebody looks which it is.
        let means_nothing = self.judged == 0 && schema.get("default").is_some_and(Value::is_null);
        self.inner(schema, depth + 1)?;
        if self.rules.all_required && is_null && !means_nothing {
            return Err(format!("its argument `{name}` may be null or left out, which would look the same"));
        }
        if self.rules.all_required && !takes_null(schema) {
            nullable(schema);
        }
        Ok(())
    }

    /// Puts into the description what the provider cannot enforce.
    fn speak(&mut self, schema: &mut Map<String, Value>) {
        let mut hints = Vec::new();
        // Half of a condition says nothing.
        let parts = ["if", "then", "else"];
        let is_long =
            |keyword: &&str| schema.get(*keyword).is_some_and(|value| words::spoken(keyword, value).is_err());
        let mute = parts.iter().any(is_long);
        schema.retain(|keyword, value| {
            if words::is_known(self.rules, keyword, value) {
                return true;
            }
            match words::spoken(keyword, value) {
                Ok(None) => {}
                Ok(Some(words)) if !(mute && parts.contains(&keyword.as_str())) => {
                    hints.push(words);
                    self.moved.insert(keyword.clone());
                }
                _ => {
                    self.left_out.insert(keyword.clone());
                }
            }
            false
        });
        hint(schema, &hints);
    }
}

/// Whether an object is spoken of as one that takes properties which are not named.
fn is_open(schema: &Map<String, Value>) -> bool {
    let says = |keyword: &str| schema.get(keyword).is_some_and(|rest| *rest != Value::Bool(false));
    let named = schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
    let least = schema.get("minProperties").and_then(Value::as_f64).unwrap_or(0.0);
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    schema.contains_key("patternProperties")
        || !is_closed && (says("unevaluatedProperties") || says("propertyNames") || (named as f64) < least)
}

/// One schema instead of `allOf`, and `anyOf` instead of `oneOf`.
fn compose(schema: &mut Map<String, Value>) -> Result<(), String> {
    if let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
        let mut lost = BTreeSet::new();
        for part in parts {
            let Value::Object(mut part) = part else {
                return Err("a part of it cannot be merged".to_owned());
            };
            compose(&mut part)?;
            merge(schema, &part, &mut lost);
        }
        if let Some(keyword) = lost.first() {
            return Err(format!("its allOf cannot be merged ({keyword})"));
        }
    }
    if let Some(branches) = schema.shift_remove("oneOf")
        && schema.insert("anyOf".to_owned(), branches).is_some()
    {
        return Err("it has a choice beside a choice".to_owned());
    }
    if is_open(schema) {
        return Err(OPEN.to_owned());
    }
    if schema.contains_key("prefixItems") {
        return Err("one of its arrays has items of different kinds".to_owned());
    }
    Ok(())
}
