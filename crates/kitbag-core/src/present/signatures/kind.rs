//! What a schema takes, in the few characters a model needs: `string`, `"asc"|"desc"`, `{id: integer}[]`.

use serde_json::{Map, Value};

use super::bounds::{Bounds, bounded};
use super::inline::{cut, inert, literal, word};
use crate::schema::refs::local;

/// Values of a schema looked at for one type, whatever it refers to.
const MOST_STEPS: usize = 2_000;
/// The longest value shown whole.
const LONGEST_VALUE: usize = 60;
/// References in a row that are followed.
const LONGEST_CHAIN: usize = 24;

/// How much is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    /// Objects inside objects whose properties are named.
    pub(crate) depth: usize,
    /// Values and forms of a choice that are named.
    pub(crate) choices: usize,
    /// Properties that are named.
    pub(crate) properties: usize,
    /// Whether it is told that nothing is as good as leaving an optional value out.
    pub(crate) nulls: Nulls,
    /// How much is told of formats, ranges and patterns.
    pub(crate) bounds: Bounds,
}

/// Whether `null` is named beside other forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Named,
    Left,
}

impl Detail {
    /// For one line a tool.
    pub(crate) const TIGHT: Self =
        Self { depth: 1, choices: 8, properties: 8, nulls: Nulls::Left, bounds: Bounds::Short };
    /// For a line a parameter.
    pub(crate) const WIDE: Self =
        Self { depth: 3, choices: 40, properties: 24, nulls: Nulls::Named, bounds: Bounds::Told };
    /// For what comes back.
    pub(crate) const RESULT: Self = Self { bounds: Bounds::Left, ..Self::TIGHT };

    pub(crate) fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }
}

/// What a schema takes. References are those of `root`.
pub(crate) fn kind(root: &Value, schema: &Value, detail: Detail) -> String {
    Writer { root, detail, left: MOST_STEPS }.forms(schema, detail.depth).text()
}

/// What a reference within one document leads to, through however many others; nothing if they go in a circle.
pub(crate) fn target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let mut at = next_target(root, schema)?;
    for _ in 0..LONGEST_CHAIN {
        match next_target(root, at) {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

/// What a reference refers to, which may be another reference.
pub(crate) fn next_target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?;
    local(root, reference).or_else(|| root.pointer(reference.strip_prefix('#')?))
}

/// Whether a part of a choice is nothing but null.
pub(crate) fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
}

/// The forms a value may have; one of them must hold.
struct Forms(Vec<String>);

impl Forms {
    fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }

    fn add(&mut self, other: Self) {
        for form in other.0 {
            if !self.0.contains(&form) {
                self.0.push(form);
            }
        }
    }

    fn text(self) -> String {
        if self.0.is_empty() { "any".to_owned() } else { self.0.join("|") }
    }

    /// As part of something else.
    fn grouped(self) -> String {
        if self.0.len() == 1 { self.text() } else { format!("({})", self.text()) }
    }
}

struct Writer<'a> {
    root: &'a Value,
    detail: Detail,
    left: usize,
}

impl<'a> Writer<'a> {
    fn forms(&mut self, schema: &'a Value, depth: usize) -> Forms {
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(false) => return Forms::one("never"),
            _ => return Forms::one("any"),
        };
        if self.left == 0 {
            return Forms::one("…");
        }
        self.left -= 1;
        if object.contains_key("$ref") {
            return match target(self.root, schema) {
                Some(target) if depth == 0 && is_deep(target) => Forms::one(shallow(target)),
                // Each reference costs a level: one that leads back to itself ends.
                Some(target) => self.forms(target, depth.saturating_sub(usize::from(is_deep(target)))),
                None => Forms::one("any"),
            };
        }
        if let Some(value) = object.get("const") {
            return Forms::one(value_text(value));
        }
        if let Some(Value::Array(values)) = object.get("enum") {
            let mut forms = Forms(Vec::new());
            let listed = values.iter().filter(|value| self.names(value));
            listed.take(self.detail.choices).for_each(|value| forms.add(Forms::one(value_text(value))));
            if self.detail.choices < values.len() {
                forms.add(Forms::one("…"));
            }
            return forms;
        }
        let listed =
            |keyword: &str| object.get(keyword).and_then(Value::as_array).filter(|parts| !parts.is_empty());
        let parts = match (listed("anyOf").or_else(|| listed("oneOf")), listed("allOf")) {
            (Some(choice), _) => self.choice(choice, depth),
            (None, Some(all)) => self.all(all, depth),
            (None, None) => return self.own(object, depth),
        };
        let says_nothing = parts.0.iter().any(|form| form == "any");
        if says_nothing && ["type", "properties"].iter().any(|keyword| object.contains_key(*keyword)) {
            return self.own(object, depth);
        }
        if object.get("properties").and_then(Value::as_object).is_none_or(Map::is_empty) {
            return parts;
        }
        // What stands beside a choice holds with each of its branches.
        match (self.own(object, depth).grouped(), parts.grouped()) {
            (own, parts) if own == parts => Forms::one(own),
            (own, parts) => Forms::one(format!("{own}&{parts}")),
        }
    }

    fn names(&self, value: &Value) -> bool {
        self.detail.nulls == Nulls::Named || !value.is_null()
    }

    fn choice(&mut self, parts: &'a [Value], depth: usize) -> Forms {
        let mut forms = Forms(Vec::new());
        for part in parts {
            if is_null(part) && self.detail.nulls == Nulls::Left {
                continue;
            }
            if self.detail.choices <= forms.0.len() {
                forms.add(Forms::one("…"));
                break;
            }
            forms.add(self.forms(part, depth));
        }
        forms
    }

    fn all(&mut self, parts: &'a [Value], depth: usize) -> Forms {
        let mut texts: Vec<String> = Vec::new();
        for part in parts.iter().take(self.detail.choices) {
            let text = self.forms(part, depth).grouped();
            if text != "any" && !texts.contains(&text) {
                texts.push(text);
            }
        }
        Forms::one(if texts.is_empty() { "any".to_owned() } else { texts.join("&") })
    }

    /// By `type` and what belongs to it.
    fn own(&mut self, object: &'a Map<String, Value>, depth: usize) -> Forms {
        let kinds: Vec<&str> = match object.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if object.contains_key("properties") => vec!["object"],
            _ if object.contains_key("items") || object.contains_key("prefixItems") => vec!["array"],
            _ => vec!["any"],
        };
        let mut forms = Forms(Vec::new());
        for kind in kinds {
            let shown = match kind {
                "null" if self.detail.nulls == Nulls::Left => continue,
                "array" => self.array(object, depth),
                "object" => self.object(object, depth),
                kind => bounded(kind, cut(&word(kind), LONGEST_VALUE), object, self.detail.bounds),
            };
            forms.add(Forms::one(shown));
        }
        if forms.0.is_empty() { Forms::one("null") } else { forms }
    }

    fn array(&mut self, object: &'a Map<String, Value>, depth: usize) -> String {
        let list = |keyword: &str| object.get(keyword).and_then(Value::as_array);
        // Up to draft 2019-09 a tuple stood in `items`, and what follows it in `additionalItems`.
        match (list("prefixItems"), list("items")) {
            (Some(first), _) => self.tuple(object, first, object.get("items"), depth),
            (None, Some(first)) => self.tuple(object, first, object.get("additionalItems"), depth),
            (None, None) => {
                let list = match object.get("items") {
                    Some(items @ Value::Object(fields)) if !fields.is_empty() => self.list(items, depth),
                    _ => "array".to_owned(),
                };
                bounded("array", list, object, self.detail.bounds)
            }
        }
    }

    fn list(&mut self, items: &'a Value, depth: usize) -> String {
        match self.forms(items, depth).grouped() {
            any if any == "any" => "array".to_owned(),
            item => format!("{item}[]"),
        }
    }

    /// `[string, integer?, ...number[]]`: what stands first, and what may follow.
    fn tuple(
        &mut self,
        object: &'a Map<String, Value>,
        first: &'a [Value],
        rest: Option<&'a Value>,
        depth: usize,
    ) -> String {
        let count = |keyword: &str| {
            let count = object.get(keyword).and_then(Value::as_u64);
            count.map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let least = count("minItems").unwrap_or(first.len());
        let most = count("maxItems").unwrap_or(usize::MAX);
        let mut parts = Vec::new();
        for (place, item) in first.iter().take(self.detail.properties.min(most)).enumerate() {
            let mark = if place < least { "" } else { "?" };
            parts.push(format!("{}{mark}", self.forms(item, depth).grouped()));
        }
        let is_closed = rest == Some(&Value::Bool(false)) || most <= first.len();
        if !is_closed || self.detail.properties < first.len() {
            parts.push(match rest {
                Some(rest @ Value::Object(fields)) if !fields.is_empty() && !is_closed => {
                    format!("...{}", self.list(rest, depth))
                }
                _ => "...".to_owned(),
            });
        }
        format!("[{}]", parts.join(", "))
    }

    fn object(&mut self, object: &'a Map<String, Value>, depth: usize) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "object".to_owned() };
        if let Some(Value::Object(properties)) = object.get("properties")
            && !properties.is_empty()
        {
            let mut parts = Vec::new();
            for (name, schema) in properties.iter().take(self.detail.properties) {
                let mark = if is_required(object, name) { "" } else { "?" };
                parts.push(format!("{}{mark}: {}", word(name), self.forms(schema, depth).text()));
            }
            if self.detail.properties < properties.len() {
                parts.push("…".to_owned());
            }
            return format!("{{{}}}", parts.join(", "));
        }
        match object.get("additionalProperties") {
            Some(values @ Value::Object(fields)) if !fields.is_empty() => {
                match self.forms(values, depth).text() {
                    any if any == "any" => "object".to_owned(),
                    value => format!("{{[key]: {value}}}"),
                }
            }
            _ => "object".to_owned(),
        }
    }
}

/// What a schema takes, without what is inside.
fn shallow(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) => cut(&word(kind), LONGEST_VALUE),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join("|")
        }
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ if schema.get("items").or(schema.get("prefixItems")).is_some() => "array".to_owned(),
        _ => "any".to_owned(),
    }
}

/// Whether a schema has parts that a reference could lead back from.
fn is_deep(schema: &Value) -> bool {
    ["$ref", "anyOf", "oneOf", "allOf", "items", "prefixItems"]
        .iter()
        .any(|keyword| schema.get(keyword).is_some())
}

/// Whether an object must have the property.
pub(crate) fn is_required(object: &Map<String, Value>, name: &str) -> bool {
    object.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|one| one == name))
}

/// A value as JSON, cut.
pub(crate) fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if LONGEST_VALUE < text.len() => literal(&cut(text, LONGEST_VALUE)),
        Value::String(text) => literal(text),
        other => cut(&inert(&other.to_string()), LONGEST_VALUE),
    }
}
