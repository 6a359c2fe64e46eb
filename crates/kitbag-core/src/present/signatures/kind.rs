//! What a schema takes, in the few characters a model needs: `string`, `"asc"|"desc"`, `{id: integer}[]`.

use serde_json::{Map, Value};

use super::inline::{cut, inert, literal, word};

/// Values of a schema looked at for one type, whatever it refers to.
const MOST_STEPS: usize = 2_000;
/// The longest value shown whole.
const LONGEST_VALUE: usize = 60;

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
}

/// Whether `null` is named beside other forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    Named,
    Left,
}

impl Detail {
    /// For one line a tool.
    pub(crate) const TIGHT: Self = Self { depth: 1, choices: 8, properties: 8, nulls: Nulls::Left };
    /// For a line a parameter.
    pub(crate) const WIDE: Self = Self { depth: 3, choices: 40, properties: 24, nulls: Nulls::Named };

    pub(crate) fn depth(self, depth: usize) -> Self {
        Self { depth, ..self }
    }
}

/// What a schema takes. References are those of `root`.
pub(crate) fn kind(root: &Value, schema: &Value, detail: Detail) -> String {
    Writer { root, detail, left: MOST_STEPS }.forms(schema, detail.depth).text()
}

/// What a reference within one document refers to.
pub(crate) fn target<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    let reference = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    root.pointer(reference).or_else(|| root.pointer(&reference.replace("%24", "$")))
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
                Some(_) if depth == 0 => Forms::one(self.shallow(schema)),
                // Each reference costs a level: one that leads back to itself ends.
                Some(target) => self.forms(target, depth - usize::from(is_deep(target))),
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
        for choice in ["anyOf", "oneOf"] {
            if let Some(Value::Array(parts)) = object.get(choice)
                && !parts.is_empty()
            {
                return self.choice(parts, depth);
            }
        }
        if let Some(Value::Array(parts)) = object.get("allOf")
            && !object.contains_key("properties")
        {
            return self.all(parts, depth);
        }
        self.own(object, depth)
    }

    fn names(&self, value: &Value) -> bool {
        self.detail.nulls == Nulls::Named || !value.is_null()
    }

    fn choice(&mut self, parts: &'a [Value], depth: usize) -> Forms {
        let mut forms = Forms(Vec::new());
        for part in parts {
            let is_null = part.get("type").is_some_and(|kind| kind == "null");
            if is_null && self.detail.nulls == Nulls::Left {
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
            _ if object.contains_key("items") => vec!["array"],
            _ => vec!["any"],
        };
        let mut forms = Forms(Vec::new());
        for kind in kinds {
            match kind {
                "null" if self.detail.nulls == Nulls::Left => {}
                "array" => forms.add(Forms::one(self.array(object, depth))),
                "object" => forms.add(Forms::one(self.object(object, depth))),
                kind => forms.add(Forms::one(cut(&word(kind), LONGEST_VALUE))),
            }
        }
        if forms.0.is_empty() { Forms::one("null") } else { forms }
    }

    fn array(&mut self, object: &'a Map<String, Value>, depth: usize) -> String {
        match object.get("items") {
            Some(items @ Value::Object(fields)) if !fields.is_empty() => {
                match self.forms(items, depth).grouped() {
                    any if any == "any" => "array".to_owned(),
                    item => format!("{item}[]"),
                }
            }
            _ => "array".to_owned(),
        }
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

    /// What a reference leads to, without what is inside.
    fn shallow(&self, schema: &'a Value) -> String {
        let mut at = schema;
        for _ in 0..8 {
            match target(self.root, at) {
                Some(next) => at = next,
                None => break,
            }
        }
        match at.get("type").and_then(Value::as_str) {
            Some(kind) => cut(&word(kind), LONGEST_VALUE),
            None if at.get("properties").is_some() => "object".to_owned(),
            None => "any".to_owned(),
        }
    }
}

/// Whether a schema has parts that a reference could lead back from.
fn is_deep(schema: &Value) -> bool {
    ["$ref", "anyOf", "oneOf", "allOf", "items"].iter().any(|keyword| schema.get(keyword).is_some())
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
