//! The form a server wants filled in: flat fields of text, numbers, yes or no, and choices. What is shown of a field and
//! what a typed line means for it; nothing here asks anybody.

use kitbag::Limits;
use kitbag_core::schema::Schema;
use kitbag_core::text::{cut, one_line};
use serde_json::Value;

#[cfg(test)]
mod tests;

pub(super) struct Form {
    pub(super) fields: Vec<Field>,
}

/// One field.
pub(super) struct Field {
    pub(super) name: String,
    /// Its name, title and description, as they may be shown.
    label: String,
    about: String,
    kind: FieldKind,
    need: Need,
    default: Option<Value>,
    /// The default, as it may be shown.
    shown_default: String,
    schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

#[derive(Debug, PartialEq)]
enum FieldKind {
    Text,
    Number,
    YesNo,
    /// One of these.
    One(Vec<Choice>),
    /// Several of these.
    Many(Vec<Choice>),
}

/// A value to choose, and what is shown for it.
#[derive(Debug, PartialEq)]
struct Choice {
    value: Value,
    label: String,
}

/// What a line means for a field.
#[derive(Debug, PartialEq)]
pub(super) enum Typed {
    Value(Value),
    /// Nothing, where nothing is needed.
    LeftOut,
    /// Nothing, where something is.
    Declined,
    /// Something that does not fit, and why.
    Wrong(String),
}

impl Form {
    /// The fields of a schema in its order; `shown` is the same schema without secrets.
    pub(super) fn of(schema: &Value, shown: &Value, limits: &Limits) -> Self {
        let shown = cut_texts(shown, limits.error);
        let required = schema["required"].as_array();
        let need = |name: &str| match required.is_some_and(|all| all.iter().any(|word| word == name)) {
            true => Need::Required,
            false => Need::Optional,
        };
        let properties = schema["properties"].as_object();
        let masked = |at: usize| shown["properties"].as_object().and_then(|all| all.values().nth(at));
        let field = |(at, (name, field)): (usize, (&String, &Value))| {
            Field::new(name, field, masked(at).unwrap_or(field), need(name))
        };
        Self { fields: properties.into_iter().flatten().enumerate().map(field).collect() }
    }
}

impl Field {
    fn new(name: &str, schema: &Value, shown: &Value, need: Need) -> Self {
        let line = |value: &Value| one_line(value.as_str().unwrap_or_default());
        let label = match line(&shown["title"]) {
            title if title.is_empty() => one_line(name),
            title => title,
        };
        let default = schema.get("default").filter(|default| !default.is_null()).cloned();
        let kind = FieldKind::of(schema, shown);
        let shown_default = shown.get("default").map(|default| kind.label(default)).unwrap_or_default();
        let about = line(&shown["description"]);
        let (name, schema) = (name.to_owned(), schema.clone());
        Self { name, label, about, kind, need, default, shown_default, schema }
    }

    /// What is said before it is asked for: what it is, and what there is to choose.
    pub(super) fn introduction(&self) -> String {
        let mut text = String::new();
        if !self.about.is_empty() {
            text += &format!("{}\n", self.about);
        }
        if let FieldKind::One(choices) | FieldKind::Many(choices) = &self.kind {
            for (number, choice) in choices.iter().enumerate() {
                text += &format!("  {}) {}\n", number + 1, choice.label);
            }
        }
        text
    }

    /// What stands before the cursor.
    pub(super) fn prompt(&self) -> String {
        let format = self.schema["format"].as_str().map(one_line);
        let kind = match &self.kind {
            FieldKind::Text => format.unwrap_or_else(|| "text".to_owned()),
            FieldKind::Number if self.schema["type"] == "integer" => "whole number".to_owned(),
            FieldKind::Number => "number".to_owned(),
            FieldKind::YesNo => "y/n".to_owned(),
            FieldKind::One(choices) => format!("1-{}", choices.len()),
            FieldKind::Many(choices) => format!("any of 1-{}, such as 1,2", choices.len()),
        };
        let need = match (&self.default, self.need) {
            (Some(_), _) => format!(", default {}", self.shown_default),
            (None, Need::Required) => ", required".to_owned(),
            (None, Need::Optional) => ", optional".to_owned(),
        };
        format!("{} ({kind}{need}): ", self.label)
    }

    /// What a line means.
    pub(super) fn read(&self, typed: &str, limits: &Limits) -> Typed {
        if typed.is_empty() {
            return match (&self.default, self.need) {
                (Some(default), _) => Typed::Value(default.clone()),
                (None, Need::Required) => Typed::Declined,
                (None, Need::Optional) => Typed::LeftOut,
            };
        }
        let value = match self.kind.read(typed) {
            Ok(value) => value,
            Err(why) => return Typed::Wrong(why),
        };
        // A schema that cannot be read checks nothing: the server will.
        let problems = Schema::compile(&self.schema, limits).map(|schema| schema.check(&value));
        let format = self.schema["format"].as_str().filter(|_| self.kind == FieldKind::Text);
        match (problems.unwrap_or_default().first(), format) {
            (Some(problem), _) => Typed::Wrong(one_line(&problem.to_string())),
            (None, Some(format)) if !has_format(format, typed) => {
                Typed::Wrong(format!("that is not written as {}", one_line(format)))
            }
            (None, _) => Typed::Value(value),
        }
    }
}

impl FieldKind {
    fn of(schema: &Value, shown: &Value) -> Self {
        if let Some(choices) = choices(schema, shown) {
            return Self::One(choices);
        }
        match schema["type"].as_str() {
            Some("array") => Self::Many(choices(&schema["items"], &shown["items"]).unwrap_or_default()),
            Some("boolean") => Self::YesNo,
            Some("number" | "integer") => Self::Number,
            _ => Self::Text,
        }
    }

    fn read(&self, typed: &str) -> Result<Value, String> {
        match self {
            Self::Text => Ok(typed.into()),
            Self::Number => match serde_json::from_str(typed) {
                Ok(number @ Value::Number(_)) => Ok(number),
                _ => Err("that is not a number".to_owned()),
            },
            Self::YesNo => match typed.to_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(true.into()),
                "n" | "no" | "false" => Ok(false.into()),
                _ => Err("type y or n".to_owned()),
            },
            Self::One(choices) => chosen(choices, typed),
            Self::Many(choices) => typed.split(',').map(|part| chosen(choices, part.trim())).collect(),
        }
    }

    /// A value as it is shown.
    fn label(&self, value: &Value) -> String {
        match (self, value) {
            (Self::One(choices) | Self::Many(choices), Value::Array(values)) if !values.is_empty() => {
                values.iter().map(|value| label(choices, value)).collect::<Vec<_>>().join(", ")
            }
            (Self::One(choices) | Self::Many(choices), value) => label(choices, value),
            (Self::YesNo, Value::Bool(yes)) => if *yes { "y" } else { "n" }.to_owned(),
            (_, value) => plain(value),
        }
    }
}

/// What a server says is shown within a bound; what it wants back is not cut.
fn cut_texts(value: &Value, most: usize) -> Value {
    match value {
        Value::String(text) => cut(text.clone(), most).into(),
        Value::Array(values) => values.iter().map(|value| cut_texts(value, most)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), cut_texts(value, most))).collect()
        }
        other => other.clone(),
    }
}

/// Whether a text looks like what the protocol's formats say; the server has the last word.
fn has_format(format: &str, text: &str) -> bool {
    let is_date = |text: &str| {
        let parts: Vec<&str> = text.split('-').collect();
        let are_digits = parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
        are_digits && parts.iter().map(|part| part.len()).eq([4, 2, 2])
    };
    let has_blank = text.contains(char::is_whitespace);
    match format {
        "email" => {
            !has_blank && text.split_once('@').is_some_and(|(who, at)| !who.is_empty() && !at.is_empty())
        }
        "uri" => {
            let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
            !has_blank && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        }
        "date" => is_date(text),
        "date-time" => {
            text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && !time.is_empty())
        }
        _ => true,
    }
}

/// The values of a closed list with what is shown for each, however the schema writes it.
fn choices(schema: &Value, shown: &Value) -> Option<Vec<Choice>> {
    if let Some(values) = schema["enum"].as_array() {
        let label = |at: usize| {
            let named = shown["enumNames"].get(at).and_then(Value::as_str);
            named.map_or_else(|| plain(&shown["enum"][at]), one_line)
        };
        let choice = |(at, value): (usize, &Value)| Choice { value: value.clone(), label: label(at) };
        return Some(values.iter().enumerate().map(choice).collect());
    }
    let key = ["oneOf", "anyOf"].into_iter().find(|key| schema[key].is_array())?;
    let branches = schema[key].as_array()?.iter().enumerate();
    let choice = |(at, branch): (usize, &Value)| {
        let shown = &shown[key][at];
        let label = shown["title"].as_str().map_or_else(|| plain(&shown["const"]), one_line);
        Some(Choice { value: branch.get("const")?.clone(), label })
    };
    branches.map(choice).collect()
}

/// By its number, or as it is written.
fn chosen(choices: &[Choice], typed: &str) -> Result<Value, String> {
    let number = typed.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let written = || choices.iter().find(|choice| plain(&choice.value) == typed || choice.label == typed);
    let found = number.or_else(written).map(|choice| choice.value.clone());
    found.ok_or_else(|| format!("{} is none of the choices", one_line(typed)))
}

fn label(choices: &[Choice], value: &Value) -> String {
    let known = choices.iter().find(|choice| choice.value == *value);
    known.map_or_else(|| plain(value), |choice| choice.label.clone())
}

fn plain(value: &Value) -> String {
    one_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}
