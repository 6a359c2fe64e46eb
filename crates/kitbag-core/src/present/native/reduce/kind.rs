//! One schema of one type, with the words that OpenAPI has for that type.

use serde_json::{Map, Value, json};

use super::{Reducer, any_of};
use crate::present::native::Unfit;
use crate::present::native::describe::hint;
use crate::present::native::rewrite::{Place, repeats};
use crate::schema::keyword::TYPES;
use crate::schema::kind_of;

/// Values named in a description instead of in an `enum`.
const MOST_NAMED: usize = 50;

impl Reducer<'_> {
    /// A schema without references and choices, once for each type it takes.
    pub(super) fn kinds(
        &mut self,
        object: &Map<String, Value>,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Unfit> {
        if object.get("default").is_some_and(|value| !value.is_null()) {
            self.flattener.lost.insert("default".to_owned());
        }
        let mut kinds = named(object);
        let null = kinds.contains(&"null") && 1 < kinds.len() || has_null(object) && kinds != ["null"];
        if null {
            kinds.retain(|kind| *kind != "null");
        }
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        let mut reduced = match kinds.as_slice() {
            [] => self.anything(object, place),
            [kind] => self.single(object, kind, place, depth)?,
            kinds => {
                let each = kinds.iter().map(|kind| {
                    let mut one = object.clone();
                    one.shift_remove("description");
                    one.shift_remove("default");
                    self.single(&one, kind, Place::Unnamed, depth)
                });
                let each = each.collect::<Result<Vec<_>, _>>()?;
                any_of(each, words(object, place))
            }
        };
        if null {
            let first = match reduced.get_mut("anyOf") {
                Some(Value::Array(branches)) => branches.first_mut().and_then(Value::as_object_mut),
                _ => Some(&mut reduced),
            };
            first.into_iter().for_each(|first| drop(first.insert("nullable".to_owned(), true.into())));
        }
        Ok(reduced)
    }

    /// What takes every value: the form wants a type for each.
    fn anything(&mut self, object: &Map<String, Value>, place: Place<'_>) -> Map<String, Value> {
        let all = [
            json!({"type": "string"}),
            json!({"type": "number"}),
            json!({"type": "boolean"}),
            json!({"type": "object"}),
            json!({"type": "array", "items": {"type": "string"}}),
        ];
        let all =
            all.into_iter().filter_map(|kind| if let Value::Object(kind) = kind { Some(kind) } else { None });
        any_of(all.collect(), words(object, place))
    }

    /// A schema taken as one of one type.
    pub(super) fn single(
        &mut self,
        object: &Map<String, Value>,
        kind: &str,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Unfit> {
        let mut out = Map::with_capacity(object.len());
        out.insert("type".to_owned(), kind.into());
        tell(&mut out, object, place);
        let mut hints = Vec::new();
        for (keyword, value) in object {
            let taken = match (kind, keyword.as_str()) {
                (_, "enum" | "const") => self.named_values(&mut out, kind, keyword, value, &mut hints),
                ("string", "minLength" | "maxLength") => keep_count(&mut out, keyword, value),
                ("string", "pattern") => keep(&mut out, keyword, value, Value::is_string),
                ("string", "format") => format(&mut out, value, &["date-time"], &mut hints),
                ("integer" | "number", "format") => {
                    format(&mut out, value, &["int32", "int64", "float", "double"], &mut hints)
                }
                ("integer" | "number", "minimum" | "maximum") => {
                    keep(&mut out, keyword, value, Value::is_number)
                }
                ("integer" | "number", "exclusiveMinimum") => say(&mut hints, "more than", value),
                ("integer" | "number", "exclusiveMaximum") => say(&mut hints, "less than", value),
                ("integer" | "number", "multipleOf") => say(&mut hints, "a multiple of", value),
                ("array", "minItems" | "maxItems") => keep_count(&mut out, keyword, value),
                ("array", "items" | "prefixItems") => true,
                ("object", "minProperties" | "maxProperties") => keep_count(&mut out, keyword, value),
                ("object", "properties" | "required") => true,
                ("object", "additionalProperties") => {
                    if let Some(kind) = value.get("type").and_then(Value::as_str) {
                        hints.push(format!("values: {kind}"));
                    }
                    value.as_object().is_some_and(Map::is_empty) || *value == Value::Bool(true)
                }
                (_, keyword) => is_word(keyword) || self.is_foreign(keyword),
            };
            if !taken {
                self.flattener.lost.insert(keyword.clone());
            }
        }
        match kind {
            "array" => self.items(object, &mut out, depth)?,
            "object" => self.properties(object, &mut out, depth)?,
            _ => {}
        }
        hint(&mut out, &hints);
        Ok(out)
    }

    /// Words about other types than this one's say nothing here.
    fn is_foreign(&self, keyword: &str) -> bool {
        matches!(
            keyword,
            "minLength"
                | "maxLength"
                | "pattern"
                | "format"
                | "minimum"
                | "maximum"
                | "exclusiveMinimum"
                | "exclusiveMaximum"
                | "multipleOf"
                | "minItems"
                | "maxItems"
                | "items"
                | "prefixItems"
                | "minProperties"
                | "maxProperties"
                | "properties"
                | "required"
                | "additionalProperties"
        )
    }

    /// Only texts can be listed, and no empty one.
    fn named_values(
        &mut self,
        out: &mut Map<String, Value>,
        kind: &str,
        keyword: &str,
        value: &Value,
        hints: &mut Vec<String>,
    ) -> bool {
        let only = std::slice::from_ref(value);
        let list =
            if keyword == "const" { only } else { value.as_array().map(Vec::as_slice).unwrap_or_default() };
        let of_kind: Vec<&Value> = list.iter().filter(|value| is_of(value, kind)).collect();
        if of_kind.is_empty() || out.contains_key("enum") {
            return true;
        }
        if kind == "string" && of_kind.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        {
            let mut texts: Vec<Value> = Vec::with_capacity(of_kind.len());
            for text in of_kind {
                if !texts.contains(text) {
                    texts.push(text.clone());
                }
            }
            out.insert("enum".to_owned(), Value::Array(texts));
            return true;
        }
        let mut words: Vec<String> = of_kind.iter().take(MOST_NAMED).map(ToString::to_string).collect();
        if MOST_NAMED < of_kind.len() {
            words.push("…".to_owned());
        }
        hints.push(match words.as_slice() {
            [only] => format!("always {only}"),
            words => format!("one of {}", words.join(", ")),
        });
        false
    }

    fn items(
        &mut self,
        object: &Map<String, Value>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Unfit> {
        let lists =
            ["prefixItems", "items"].into_iter().filter_map(|keyword| object.get(keyword)?.as_array());
        let each: Vec<&Value> = lists.flatten().collect();
        let rest = object.get("items").filter(|items| items.is_object());
        let items = if each.is_empty() {
            self.schema(rest.unwrap_or(&Value::Bool(true)), Place::Unnamed, depth + 1)?
        } else {
            self.flattener.lost.insert("prefixItems".to_owned());
            let each = each.into_iter().chain(rest).map(|item| self.schema(item, Place::Unnamed, depth + 1));
            any_of(each.collect::<Result<_, _>>()?, Map::new())
        };
        out.insert("items".to_owned(), Value::Object(items));
        Ok(())
    }

    fn properties(
        &mut self,
        object: &Map<String, Value>,
        out: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<(), Unfit> {
        let mut properties = Map::new();
        for (name, schema) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let reduced = self.schema(schema, Place::Named(name), depth + 1)?;
            properties.insert(self.renames.shown(name).to_owned(), Value::Object(reduced));
        }
        let mut required: Vec<Value> = Vec::new();
        for name in
            object.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            let shown = self.renames.shown(name);
            if !properties.contains_key(shown) {
                // Required, and nowhere said what it is; only what is said can be required here.
                if !crate::present::native::rewrite::Keys::Narrow.take(shown) {
                    self.flattener.lost.insert("required".to_owned());
                    continue;
                }
                let any = self.schema(&Value::Bool(true), Place::Unnamed, depth + 1)?;
                properties.insert(shown.to_owned(), Value::Object(any));
            }
            if !required.iter().any(|before| before == shown) {
                required.push(shown.into());
            }
        }
        // The root says that it has none; anywhere else an object of any kind is meant.
        if !properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), Value::Array(required));
        }
        Ok(())
    }
}

/// The types a schema takes: by name, by its values, or by the words it uses.
fn named(object: &Map<String, Value>) -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> = match object.get("type") {
        Some(Value::String(kind)) => known(kind).into_iter().collect(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(|kind| known(kind.as_str()?)).collect(),
        _ => Vec::new(),
    };
    if kinds.is_empty() {
        let values = object.get("enum").and_then(Value::as_array).into_iter().flatten();
        kinds = values.chain(object.get("const")).map(kind_of).collect();
    }
    let speaks = |words: &[&str]| words.iter().any(|word| object.contains_key(*word));
    if kinds.is_empty() {
        let guess = if speaks(&["properties", "required", "additionalProperties", "patternProperties"]) {
            Some("object")
        } else if speaks(&["items", "prefixItems", "minItems", "maxItems"]) {
            Some("array")
        } else if speaks(&["pattern", "minLength", "maxLength"]) {
            Some("string")
        } else if speaks(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            Some("number")
        } else {
            None
        };
        kinds.extend(guess);
    }
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn known(kind: &str) -> Option<&'static str> {
    TYPES.into_iter().find(|name| *name == kind)
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "number" | "integer" => value.is_number(),
        kind => kind_of(value) == kind,
    }
}

fn has_null(object: &Map<String, Value>) -> bool {
    object.get("nullable") == Some(&Value::Bool(true))
        || object.get("enum").and_then(Value::as_array).is_some_and(|list| list.contains(&Value::Null))
            && object.get("type").is_none_or(|kind| super::super::gemini::speaks_of(kind, "null"))
}

/// What is only there to be read.
fn is_word(keyword: &str) -> bool {
    keyword.starts_with('$')
        || matches!(
            keyword,
            "type"
                | "description"
                | "title"
                | "default"
                | "nullable"
                | "definitions"
                | "deprecated"
                | "readOnly"
                | "writeOnly"
        )
}

/// What a schema is for, in words; the default as well, since this form has no use for it.
fn words(object: &Map<String, Value>, place: Place<'_>) -> Map<String, Value> {
    let mut words = Map::new();
    tell(&mut words, object, place);
    words
}

fn tell(into: &mut Map<String, Value>, object: &Map<String, Value>, place: Place<'_>) {
    let text = |keyword: &str| {
        object.get(keyword).and_then(Value::as_str).map(str::trim_end).filter(|text| !text.is_empty())
    };
    let title = || text("title").filter(|title| !repeats(title, place));
    if let Some(text) = text("description").or_else(title) {
        into.insert("description".to_owned(), text.into());
    }
    if let Some(value) = object.get("default").filter(|value| !value.is_null()) {
        hint(into, &[format!("default: {value}")]);
    }
}

fn keep(out: &mut Map<String, Value>, keyword: &str, value: &Value, fits: fn(&Value) -> bool) -> bool {
    if fits(value) {
        out.insert(keyword.to_owned(), value.clone());
    }
    true
}

fn keep_count(out: &mut Map<String, Value>, keyword: &str, value: &Value) -> bool {
    keep(out, keyword, value, Value::is_u64)
}

fn format(out: &mut Map<String, Value>, value: &Value, known: &[&str], hints: &mut Vec<String>) -> bool {
    match value.as_str() {
        Some(name) if known.contains(&name) => drop(out.insert("format".to_owned(), value.clone())),
        Some(name) => {
            hints.push(format!("format: {name}"));
            return false;
        }
        None => {}
    }
    true
}

fn say(hints: &mut Vec<String>, words: &str, value: &Value) -> bool {
    if value.is_number() {
        hints.push(format!("{words} {value}"));
    }
    false
}
