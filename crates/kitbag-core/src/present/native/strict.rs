//! Definitions that a provider holds the model to: closed objects, everything said about everything, and only
//! words it can enforce. What it cannot enforce moves into the description.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::gemini::hint;
use super::{Made, NativeRequest, Provider, Unfit, anthropic, merge, openai, rewrite, schema as loose};
use crate::catalog::Tool;

mod words;

use words::{is_known, nullable, takes_null};

/// Levels of nesting.
const DEEPEST: usize = 10;
/// Properties of one schema.
const MOST_PROPERTIES: usize = 5000;

/// What a strict tool takes of a request's budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    tools: usize,
    optional: usize,
    unions: usize,
}

impl Weight {
    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            tools: self.tools + other.tools,
            optional: self.optional + other.optional,
            unions: self.unions + other.unions,
        }
    }

    /// What of a provider's budget is exceeded.
    pub(super) fn over(&self, provider: Provider) -> Option<&'static str> {
        match provider {
            Provider::Anthropic if 20 < self.tools => Some("the request has 20 strict tools already"),
            Provider::Anthropic if 24 < self.optional => {
                Some("the request's strict tools would have more than 24 optional arguments")
            }
            Provider::Anthropic if 16 < self.unions => {
                Some("the request's strict tools would have more than 16 arguments of several types")
            }
            _ => None,
        }
    }
}

/// A tool's schema made strict, or as it is and why it is not.
pub(super) fn schema(
    tool: &Tool,
    request: &NativeRequest,
) -> Result<(Made, Result<Option<Weight>, String>), Unfit> {
    let (rules, flavour) = match request.provider {
        Provider::OpenAiChat | Provider::OpenAiResponses => (&openai::RULES, Flavour::OpenAi),
        Provider::Anthropic => (&anthropic::RULES, Flavour::Anthropic),
        _ => return Ok((loose(tool, request)?, Ok(None))),
    };
    let mut made = rewrite::made(tool, rules, request)?;
    let mut pass = Pass {
        flavour,
        weight: Weight { tools: 1, ..Weight::default() },
        properties: 0,
        moved: BTreeSet::new(),
    };
    let mut strict = made.schema.clone();
    Ok(match pass.document(&mut strict) {
        Ok(()) => {
            made.schema = strict;
            if flavour == Flavour::OpenAi {
                made.back = made.back.with_nulls();
            }
            if !pass.moved.is_empty() {
                let moved = pass.moved.into_iter().collect::<Vec<_>>().join(", ");
                made.notes.push(format!("strict definitions do not take, so its descriptions say: {moved}"));
            }
            (made, Ok(Some(pass.weight)))
        }
        Err(why) => (made, Err(why)),
    })
}

/// Whose idea of strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    /// Everything is required; what was not may be null.
    OpenAi,
    /// Optional stays optional, within a budget.
    Anthropic,
}

struct Pass {
    flavour: Flavour,
    weight: Weight,
    properties: usize,
    /// Words that became text.
    moved: BTreeSet<String>,
}

impl Pass {
    fn document(&mut self, schema: &mut Map<String, Value>) -> Result<(), String> {
        let mut tables = Vec::new();
        for keyword in ["$defs", "definitions"] {
            if let Some(Value::Object(table)) = schema.shift_remove(keyword) {
                tables.push((keyword, table));
            }
        }
        if self.flavour == Flavour::Anthropic && words::recursive(&tables, schema) {
            return Err("its schema contains itself".to_owned());
        }
        let empty = schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty);
        if empty && schema.get("additionalProperties").is_none_or(|rest| *rest == Value::Bool(false)) {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        self.schema(schema, 0)?;
        for (keyword, mut table) in tables {
            for inner in table.values_mut() {
                self.inner(inner, 0)?;
            }
            schema.insert(keyword.to_owned(), Value::Object(table));
        }
        if MOST_PROPERTIES < self.properties {
            return Err(format!("its schema has more than {MOST_PROPERTIES} properties"));
        }
        Ok(())
    }

    fn inner(&mut self, schema: &mut Value, depth: usize) -> Result<(), String> {
        match schema {
            Value::Object(object) => self.schema(object, depth),
            _ => Err("a part of it takes any value".to_owned()),
        }
    }

    fn schema(&mut self, schema: &mut Map<String, Value>, depth: usize) -> Result<(), String> {
        if DEEPEST < depth {
            return Err(format!("its schema is nested deeper than {DEEPEST} levels"));
        }
        compose(schema)?;
        self.speak(schema);
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
        if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
            if 1 < branches.len() {
                self.weight.unions += 1;
            }
            branches.iter_mut().try_for_each(|branch| self.inner(branch, depth))?;
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
        let open = match schema.get("additionalProperties") {
            Some(Value::Bool(false)) => false,
            Some(_) => true,
            None => schema.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty),
        };
        if open {
            return Err("an object in it takes properties that are not named".to_owned());
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
        self.properties += properties.len();
        for (name, property) in properties.iter_mut() {
            self.inner(property, depth + 1)?;
            if required.contains(name) {
                continue;
            }
            self.weight.optional += 1;
            if self.flavour == Flavour::OpenAi && !takes_null(property) {
                nullable(property);
            }
        }
        if self.flavour == Flavour::OpenAi {
            let all = properties.keys().map(|name| Value::from(name.as_str())).collect();
            schema.insert("required".to_owned(), Value::Array(all));
        }
        Ok(())
    }

    /// Puts into the description what the provider cannot enforce.
    fn speak(&mut self, schema: &mut Map<String, Value>) {
        let mut hints = Vec::new();
        let flavour = self.flavour;
        schema.retain(|keyword, value| {
            if is_known(flavour, keyword, value) {
                return true;
            }
            if let Some(words) = words::spoken(keyword, value) {
                hints.push(words);
                self.moved.insert(keyword.clone());
            }
            false
        });
        hint(schema, &hints);
    }
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
            merge::into(schema, &part, &mut lost);
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
    if schema.contains_key("patternProperties") {
        return Err("an object in it takes properties that are not named".to_owned());
    }
    if schema.contains_key("prefixItems") {
        return Err("one of its arrays has items of different kinds".to_owned());
    }
    Ok(())
}
