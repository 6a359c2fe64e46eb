//! A schema copied once, keyword by keyword, into what a provider takes: small faults that servers make are
//! repaired, older drafts said in the words of 2020-12, names replaced, definitions that nothing needs left out.
//! Nothing here changes what validates, except what [`SchemaDialect::Gemini`] cannot say, and that is noted.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::facts::Facts;
use super::rename::{LONGEST, Renames};
use super::root::{self, Plan};
use super::{Back, Made, NativeRequest, Slim, Unfit, gemini, goes_by};
use crate::catalog::Tool;
use crate::schema::SchemaError;
use crate::schema::keyword::{is_type, is_unset};

mod definitions;
mod values;

use definitions::Definitions;
pub(super) use values::repeats;
use values::{fits, renamed_lists, unique};

/// What a provider asks of a schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) keys: Keys,
    pub(super) dialect: SchemaDialect,
    pub(super) root: RootForm,
    /// Every array says what its items are.
    pub(super) items: bool,
}

/// How properties may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// As they are.
    Any,
    /// `[A-Za-z0-9_.-]{1,64}`
    Wide,
    /// `[A-Za-z_][A-Za-z0-9_]{0,63}`
    Narrow,
}

/// Which words a provider knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaDialect {
    /// All of them.
    Json,
    /// Not all of them.
    Gemini,
}

/// What may stand at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootForm {
    /// Anything.
    Free,
    /// An object, without choices.
    Plain,
}

impl Keys {
    pub(super) fn take(self, name: &str) -> bool {
        self == Self::Any
            || (name.len() <= LONGEST
                && self.take_first(name.chars().next())
                && name.chars().all(|c| self.take_inside(c)))
    }

    pub(super) fn take_first(self, first: Option<char>) -> bool {
        match (self, first) {
            (Self::Any, _) => true,
            (_, None) => false,
            (Self::Wide, Some(c)) => self.take_inside(c),
            (Self::Narrow, Some(c)) => c.is_ascii_alphabetic() || c == '_',
        }
    }

    pub(super) fn take_inside(self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Wide => c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'),
            Self::Narrow => c.is_ascii_alphanumeric() || c == '_',
        }
    }
}

/// A tool's schema by these rules.
pub(super) fn made(tool: &Tool, rules: &Rules, request: &NativeRequest) -> Result<Made, Unfit> {
    let facts = Facts::of(&tool.input, rules.keys, &request.limits)?;
    let renames = Renames::new(&tool.input, &facts, rules.keys);
    let (mut said, mut notes) = (Vec::new(), Vec::new());
    let plan = root::plan(&tool.input, &facts, rules.root, &renames, &mut said)?;
    let (root, wrapped): (Cow<'_, Value>, _) = match plan {
        Plan::Plain(root) => (root, false),
        Plan::Wrapped => (Cow::Borrowed(&*tool.input), true),
    };
    let mut copier = Copier {
        rules,
        slim: request.slim,
        unevaluated: facts.unevaluated,
        renames: &renames,
        definitions: Definitions::new(&root, wrapped || rules.dialect == SchemaDialect::Gemini),
        dropped: BTreeSet::new(),
        repaired: BTreeSet::new(),
        opened: false,
    };
    let schema = copier.document(&root, tool.name.as_str(), wrapped)?;
    let Copier { dropped, repaired, opened, .. } = copier;
    if !said.is_empty() {
        notes.push("a choice between arguments is said in its description".to_owned());
    }
    if wrapped {
        notes.push(format!("its arguments are wrapped in `{}`", root::WRAPPER));
    }
    notes.extend(renames.note());
    let list = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(", ");
    if !repaired.is_empty() {
        notes.push(format!(
            "its schema says something else than it should, which is left out: {}",
            list(repaired)
        ));
    }
    if !dropped.is_empty() {
        notes.push(format!("{} does not take: {}", request.provider, list(dropped)));
    }
    let back = Back::new(goes_by(tool), renames, wrapped);
    Ok(Made { schema, back, said, notes, opened })
}

/// What a schema is the schema of; a title that says the same again is left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    Tool(&'a str),
    Named(&'a str),
    Unnamed,
}

struct Copier<'a, 'r> {
    rules: &'r Rules,
    slim: Slim,
    unevaluated: bool,
    renames: &'r Renames,
    definitions: Definitions<'a>,
    /// What the provider does not take.
    dropped: BTreeSet<String>,
    /// What is no schema.
    repaired: BTreeSet<String>,
    /// That anything may be given beside what is named was left out.
    opened: bool,
}

impl<'a> Copier<'a, '_> {
    fn document(
        &mut self,
        root: &'a Value,
        name: &'a str,
        wrapped: bool,
    ) -> Result<Map<String, Value>, Unfit> {
        if self.slim == Slim::Off {
            self.definitions.want_all();
        }
        let Value::Object(object) = root else { return Err(not_a_schema("")) };
        let mut schema = self.object(root, object, Place::Tool(name))?;
        schema.entry("type").or_insert_with(|| "object".into());
        if wrapped {
            schema = root::wrap(schema);
        } else if !schema.get("properties").is_some_and(Value::is_object) {
            schema.insert("properties".to_owned(), json!({}));
        }
        while let Some((name, target)) = self.definitions.next() {
            let copy = self.schema(target, Place::Named(name.as_str()))?;
            self.definitions.put(name, copy);
        }
        self.definitions.write(&mut schema);
        Ok(schema)
    }

    fn schema(&mut self, schema: &'a Value, place: Place<'_>) -> Result<Value, Unfit> {
        match schema {
            // Not every provider knows that these are schemas.
            Value::Bool(true) => Ok(json!({})),
            Value::Bool(false) => Ok(json!({"not": {}})),
            Value::Object(object) => self.object(schema, object, place).map(Value::Object),
            _ => Err(not_a_schema("")),
        }
    }

    fn object(
        &mut self,
        schema: &'a Value,
        object: &'a Map<String, Value>,
        place: Place<'_>,
    ) -> Result<Map<String, Value>, Unfit> {
        let mut copy = Map::with_capacity(object.len());
        for (keyword, value) in object {
            if let Some((keyword, value)) = self.keyword(schema, object, keyword, value, place)? {
                copy.insert(keyword.to_owned(), value);
            }
        }
        if self.rules.items && !copy.contains_key("items") && takes_arrays(&copy) {
            copy.insert("items".to_owned(), json!({}));
        }
        if self.rules.dialect == SchemaDialect::Gemini {
            gemini::adapt(&mut copy, &mut self.dropped);
        }
        Ok(copy)
    }

    /// A keyword as it is to be said, if it is.
    fn keyword<'k>(
        &mut self,
        schema: &'a Value,
        object: &'a Map<String, Value>,
        keyword: &'k str,
        value: &'a Value,
        place: Place<'_>,
    ) -> Result<Option<(&'k str, Value)>, Unfit> {
        if is_unset(keyword, value) {
            return Ok(None);
        }
        let copy = match keyword {
            "type" | "enum" | "required" => self.list_or_word(keyword, value),
            "description" => {
                value.as_str().map(str::trim_end).filter(|text| !text.is_empty()).map(Value::from)
            }
            "title" => value.as_str().filter(|title| !self.is_idle(title, place)).map(Value::from),
            "properties" | "patternProperties" | "dependentSchemas" => Some(self.table(keyword, value)?),
            "dependentRequired" | "dependencies" => Some(self.dependencies(value)?),
            "items" if value.is_array() => {
                // What draft 7 called so.
                return Ok(match object.contains_key("prefixItems") {
                    true => None,
                    false => Some(("prefixItems", self.list(value)?)),
                });
            }
            "additionalItems" => {
                let old = object.get("items").is_some_and(Value::is_array);
                return Ok(if old { Some(("items", self.schema(value, Place::Unnamed)?)) } else { None });
            }
            "items" | "not" | "if" | "then" | "else" | "contains" | "propertyNames" | "contentSchema" => {
                Some(self.schema(value, Place::Unnamed)?)
            }
            "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems" => {
                self.rest(keyword, value, object)?
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => Some(self.list(value)?),
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let Some(reference) = value.as_str() else { return Err(not_a_schema(keyword)) };
                return Ok(Some(("$ref", self.definitions.reference(reference, schema)?.into())));
            }
            "$schema" if self.slim == Slim::Off && self.rules.dialect == SchemaDialect::Json => {
                Some(value.clone())
            }
            "$comment" if self.slim == Slim::Off => Some(value.clone()),
            // References are written anew, so nothing goes by these any more.
            "$schema" | "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" | "$vocabulary"
            | "$defs" | "definitions" | "$comment" => None,
            _ => return Ok(self.plain(object, keyword, value)),
        };
        Ok(copy.map(|copy| (keyword, copy)))
    }

    fn list_or_word(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        let kept = match (keyword, value) {
            ("type", Value::String(kind)) if is_type(kind) => return Some(value.clone()),
            ("type", Value::Array(kinds)) if !kinds.is_empty() => {
                kinds.iter().all(|kind| kind.as_str().is_some_and(is_type)).then(|| unique(kinds.clone()))
            }
            ("enum", Value::Array(list)) if !list.is_empty() => Some(unique(list.clone())),
            ("required", Value::Array(names)) if names.is_empty() && self.slim == Slim::On => return None,
            ("required", Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                Some(unique(names.map(|name| self.renames.shown(name).into()).collect()))
            }
            _ => None,
        };
        if kept.is_none() {
            self.repaired.insert(keyword.to_owned());
        }
        kept.map(Value::Array)
    }

    /// Whether a title tells nothing.
    fn is_idle(&self, title: &str, place: Place<'_>) -> bool {
        title.trim().is_empty() || self.slim == Slim::On && repeats(title, place)
    }

    fn table(&mut self, keyword: &str, value: &'a Value) -> Result<Value, Unfit> {
        let Value::Object(table) = value else { return Err(not_a_schema(keyword)) };
        let mut copy = Map::with_capacity(table.len());
        for (name, schema) in table {
            let place = if keyword == "properties" { Place::Named(name) } else { Place::Unnamed };
            let shown = if keyword == "patternProperties" { name } else { self.renames.shown(name) };
            if !(schema.is_object() || schema.is_boolean()) {
                return Err(not_a_schema(name));
            }
            copy.insert(shown.to_owned(), self.schema(schema, place)?);
        }
        Ok(Value::Object(copy))
    }

    fn dependencies(&mut self, value: &'a Value) -> Result<Value, Unfit> {
        let Value::Object(table) = value else { return Err(not_a_schema("dependencies")) };
        let mut copy = Map::with_capacity(table.len());
        for (name, needs) in table {
            let needs = match needs {
                Value::Array(names) => renamed_lists(names, self.renames),
                schema => self.schema(schema, Place::Unnamed)?,
            };
            copy.insert(self.renames.shown(name).to_owned(), needs);
        }
        Ok(Value::Object(copy))
    }

    fn list(&mut self, value: &'a Value) -> Result<Value, Unfit> {
        let Value::Array(list) = value else { return Err(not_a_schema("")) };
        list.iter()
            .map(|inner| self.schema(inner, Place::Unnamed))
            .collect::<Result<_, _>>()
            .map(Value::Array)
    }

    /// What holds for everything not named. That everything goes, goes without saying, but where nothing is
    /// named it is all that a model can go by.
    fn rest(
        &mut self,
        keyword: &str,
        value: &'a Value,
        object: &'a Map<String, Value>,
    ) -> Result<Option<Value>, Unfit> {
        let anything = *value == Value::Bool(true) || value.as_object().is_some_and(Map::is_empty);
        let named =
            || object.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
        if keyword == "additionalProperties"
            && anything
            && self.slim == Slim::On
            && !self.unevaluated
            && named()
        {
            self.opened = true;
            return Ok(None);
        }
        Ok(Some(match value {
            Value::Bool(_) => value.clone(),
            schema => self.schema(schema, Place::Unnamed)?,
        }))
    }

    /// A keyword without schemas inside. Draft 4 said `exclusiveMinimum: true` beside `minimum: 0`.
    fn plain<'k>(
        &mut self,
        object: &Map<String, Value>,
        keyword: &'k str,
        value: &Value,
    ) -> Option<(&'k str, Value)> {
        let flag = |key: &str| object.get(key).and_then(Value::as_bool);
        match (keyword, value) {
            ("minimum", _) if flag("exclusiveMinimum") == Some(true) => None,
            ("maximum", _) if flag("exclusiveMaximum") == Some(true) => None,
            ("exclusiveMinimum", Value::Bool(true)) => Some((keyword, object.get("minimum")?.clone())),
            ("exclusiveMaximum", Value::Bool(true)) => Some((keyword, object.get("maximum")?.clone())),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(false)) => None,
            _ if fits(keyword, value) => Some((keyword, value.clone())),
            _ => {
                self.repaired.insert(keyword.to_owned());
                None
            }
        }
    }
}

/// Whether a schema speaks of arrays.
pub(super) fn takes_arrays(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    }
}

pub(super) fn not_a_schema(at: &str) -> Unfit {
    SchemaError::not_a_schema(at).into()
}
