//! What is wrong with a value, in words a model can act on.

use std::fmt::{self, Write as _};

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::text::{is_hidden, nearest};

/// Problems told of one value; the first few say enough.
const MOST: usize = 8;
/// The longest value of the instance or the schema shown, in characters.
const LONGEST_VALUE: usize = 60;
/// The longest message and path, in characters.
const LONGEST: usize = 400;
/// Values or names listed as allowed.
const LISTED: usize = 12;
/// Choices inside choices whose problems are looked at.
const DEEPEST: usize = 4;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where, as `filters.tags[2]`; empty for the whole value.
    pub path: String,
    /// What, and what would be right.
    pub message: String,
}

impl Problem {
    pub(super) fn new(path: &str, message: &str) -> Self {
        Self { path: clean(path, LONGEST), message: clean(message, LONGEST) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

/// What is wrong with an instance that is known to be invalid.
pub(super) fn collect(validator: &Validator, schema: &Value, instance: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in validator.iter_errors(instance) {
        explain(&error, schema, DEEPEST, &mut problems);
        if MOST <= problems.len() {
            break;
        }
    }
    problems.dedup();
    problems.truncate(MOST);
    if problems.is_empty() {
        problems.push(Problem::new("", "does not match the schema"));
    }
    problems
}

/// A choice is explained by the branch that was probably meant.
fn explain(error: &ValidationError<'_>, schema: &Value, room: usize, problems: &mut Vec<Problem>) {
    if let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }, 1..) = (error.kind(), room) {
        let here = error.instance_path();
        let fits = |branch: &&Vec<ValidationError<'_>>| {
            !branch.is_empty() && !branch.iter().any(|e| is_about(e, here))
        };
        // Only a branch that stands out was meant; between equals the choice itself is the news.
        let score = |branch: &Vec<ValidationError<'_>>| {
            (branch.iter().filter(|e| is_tag(e, here)).count(), branch.len())
        };
        let mut ranked: Vec<_> = context.iter().filter(fits).map(|branch| (score(branch), branch)).collect();
        ranked.sort_by_key(|(score, _)| *score);
        if let [(_, meant)] = ranked[..] {
            return meant.iter().for_each(|inner| explain(inner, schema, room - 1, problems));
        }
        if let [(best, meant), (next, _), ..] = ranked[..]
            && best < next
        {
            return meant.iter().for_each(|inner| explain(inner, schema, room - 1, problems));
        }
    }
    problems.push(Problem::new(&path(error.instance_path()), &message(error, schema)));
}

/// Whether an error is about the kind of the value itself: then that branch was not meant.
fn is_about(error: &ValidationError<'_>, here: &Location) -> bool {
    error.instance_path() == here
        && matches!(error.kind(), Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. })
}

/// Whether an error is about a property that tells branches apart.
fn is_tag(error: &ValidationError<'_>, here: &Location) -> bool {
    error.instance_path() != here && matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
}

/// What is wrong, without where.
pub(super) fn message(error: &ValidationError<'_>, schema: &Value) -> String {
    let value = || brief(error.instance());
    match error.kind() {
        Kind::Type { kind } => format!("is {}, expected {}", kind_of(error.instance()), kinds(kind)),
        Kind::Required { property } => format!("the required property {} is missing", brief(property)),
        Kind::Enum { options } => format!("{} is not allowed, expected {}", value(), listed(options)),
        Kind::Constant { expected_value } => {
            format!("{} is not allowed, expected {}", value(), brief(expected_value))
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            unknown(unexpected, error, schema)
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => none_of(error, context),
        Kind::OneOfMultipleValid { .. } => {
            "matches more than one of the forms of which it must match one".to_owned()
        }
        Kind::Minimum { limit } => format!("{} is less than the minimum {limit}", value()),
        Kind::Maximum { limit } => format!("{} is more than the maximum {limit}", value()),
        Kind::ExclusiveMinimum { limit } => format!("{} must be more than {limit}", value()),
        Kind::ExclusiveMaximum { limit } => format!("{} must be less than {limit}", value()),
        Kind::MultipleOf { multiple_of } => format!("{} is not a multiple of {multiple_of}", value()),
        Kind::MinLength { limit } => format!("{} is shorter than {limit} characters", value()),
        Kind::MaxLength { limit } => format!("is longer than {limit} characters"),
        Kind::Pattern { pattern } => format!("{} does not match the pattern {}", value(), cut(pattern)),
        Kind::MinItems { limit } => format!("has fewer than {limit} items"),
        Kind::MaxItems { limit } => format!("has more than {limit} items"),
        Kind::AdditionalItems { limit } => format!("has more than {limit} items"),
        Kind::UnevaluatedItems { .. } => "has more items than are allowed".to_owned(),
        Kind::UniqueItems => "has an item twice".to_owned(),
        Kind::Contains => "lacks an item that it must contain".to_owned(),
        Kind::MinProperties { limit } => format!("has fewer than {limit} properties"),
        Kind::MaxProperties { limit } => format!("has more than {limit} properties"),
        Kind::PropertyNames { error } => {
            format!("has a property name that is not allowed: {}", message(error, schema))
        }
        Kind::Not { .. } => "has a form that is not allowed".to_owned(),
        Kind::FalseSchema => "is not allowed here".to_owned(),
        other => format!("does not match {:?}", other.keyword()),
    }
}

fn none_of(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let here = error.instance_path();
    let mut expected: Vec<String> = Vec::new();
    for branch in context {
        let own = branch.iter().find(|inner| is_about(inner, here));
        let Some(own) = own else {
            return format!("matches none of the {} forms that are allowed", context.len());
        };
        let text = match own.kind() {
            Kind::Type { kind } => kinds(kind),
            Kind::Enum { options } => listed(options),
            Kind::Constant { expected_value } => brief(expected_value),
            _ => continue,
        };
        if !expected.contains(&text) {
            expected.push(text);
        }
    }
    expected.truncate(LISTED);
    let value = error.instance();
    let value = if value.is_object() || value.is_array() { kind_of(value).to_owned() } else { brief(value) };
    format!("is {value}, expected {}", expected.join(" or "))
}

/// The properties that are too many, each with what was probably meant.
fn unknown(unexpected: &[String], error: &ValidationError<'_>, schema: &Value) -> String {
    let holder = error.schema_path().as_str().rsplit_once('/').and_then(|(holder, _)| schema.pointer(holder));
    let properties = holder.and_then(|holder| holder.get("properties")).and_then(Value::as_object);
    let allowed: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let mut text = String::new();
    for name in unexpected.iter().take(LISTED) {
        if !text.is_empty() {
            text.push_str(", ");
        }
        let _ = write!(text, "the property {} is not known", quoted(name));
        if let Some(meant) = nearest(name, allowed.iter().copied()) {
            let _ = write!(text, ", did you mean {}", quoted(meant));
        }
    }
    if !allowed.is_empty() && !text.contains("did you mean") {
        let names: Vec<String> = allowed.iter().take(LISTED).map(|name| quoted(name)).collect();
        let more = if LISTED < allowed.len() { ", …" } else { "" };
        let _ = write!(text, "; allowed: {}{more}", names.join(", "));
    }
    text
}

fn kinds(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn listed(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = options.iter().take(LISTED).map(brief).collect::<Vec<_>>().join(", ");
    match options.len().saturating_sub(LISTED) {
        0 if options.len() == 1 => text,
        0 => format!("one of {text}"),
        more => {
            let _ = write!(text, " or {more} more");
            format!("one of {text}")
        }
    }
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value in a few characters: objects and arrays by their kind only.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(list) if list.is_empty() => "[]".to_owned(),
        Value::Array(_) => "this array".to_owned(),
        Value::Object(_) => "this object".to_owned(),
        other => cut(&other.to_string()),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text))
}

fn cut(text: &str) -> String {
    clean(text, LONGEST_VALUE)
}

/// One short line without anything that cannot be seen.
fn clean(text: &str, most: usize) -> String {
    let mut clean: String = text
        .chars()
        .take(most)
        .map(|c| if matches!(c, '\n' | '\t' | '\r') { ' ' } else { c })
        .filter(|c| !c.is_control() && !is_hidden(*c))
        .collect();
    if text.chars().nth(most).is_some() {
        clean.push('…');
    }
    clean
}

/// `filters.tags[2]`, and `["odd name"]` for what is no word.
fn path(location: &Location) -> String {
    let mut path = String::new();
    for segment in location {
        match segment {
            LocationSegment::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
            LocationSegment::Property(name) => join(&mut path, &name),
        }
    }
    path
}

/// Goes on to a property.
pub(super) fn join(path: &mut String, name: &str) {
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'));
    if !word {
        let _ = write!(path, "[{}]", quoted(name));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}
