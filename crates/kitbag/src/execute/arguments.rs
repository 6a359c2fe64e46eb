//! From the text a model wrote to the arguments a server takes.

use std::borrow::Cow;
use std::collections::HashMap;

use kitbag_core::schema::{Coercion, coerce, parse_unique};
use kitbag_core::shape::{Shown, restore, restore_text};
use kitbag_core::{ErrorKind, Limits};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Failure, Repair};

/// Arguments that fit.
pub(crate) struct Ready<'a> {
    /// Nothing where only the text was wanted and is enough.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) coerced: Vec<Coercion>,
    /// The same as text, as far as possible as it was written.
    pub(crate) text: Option<Cow<'a, str>>,
}

/// What is needed of the arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    /// Only to send them; where they surely fit as they are written, no value is made of them.
    Text,
    /// Somebody looks at them.
    Values,
}

/// Reads, coerces, validates, and turns back what rules changed. Nothing is sent unless all of it fits.
pub(crate) fn prepare<'a>(
    shown: &Shown,
    text: &'a str,
    limits: &Limits,
    want: Want,
) -> Result<Ready<'a>, Failure> {
    let tool = &shown.tool;
    let is_own = || tool.undo.is_empty() && !shown.has_other_input();
    let is_sure = || shown.input(limits).as_ref().is_ok_and(|schema| schema.accepts_text(text));
    if want == Want::Text && is_own() && is_sure() {
        return Ok(Ready { arguments: Map::new(), coerced: Vec::new(), text: Some(text.into()) });
    }
    let (mut given, text) =
        parse(text).map_err(|failure| failure.repair(Repair::Schema(Value::clone(&tool.input))))?;
    let schema = match shown.input(limits) {
        Ok(schema) => schema,
        Err(error) => {
            let why = format!("its schema cannot be used: {error}");
            return Err(Failure::new(ErrorKind::InvalidArguments, why));
        }
    };
    // What fits as it is is never touched.
    let mut problems = schema.check(&given);
    let (mut coerced, mut before) = (Vec::new(), None);
    if !problems.is_empty() {
        before = Some(given.clone());
        coerced = coerce(&tool.input, &mut given);
        if !coerced.is_empty() {
            problems = schema.check(&given);
        }
    }
    if !problems.is_empty() {
        return Err(Failure::invalid(&problems, &tool.input));
    }
    let Value::Object(mut arguments) = given else {
        return Err(Failure::new(ErrorKind::InvalidArguments, "the arguments are no object"));
    };
    let text = match text {
        Some(text) if coerced.is_empty() && tool.undo.is_empty() => Some(text),
        Some(text) => members(&text, &arguments, before.as_ref())
            .map(|members| Cow::Owned(restore_text(&tool.undo, members))),
        None => None,
    };
    if !tool.undo.is_empty() {
        restore(&tool.undo, &mut arguments);
    }
    if !tool.undo.is_empty() || shown.has_other_input() {
        arguments = own_words(shown, arguments, limits)?;
    }
    Ok(Ready { arguments, coerced, text })
}

/// The arguments and, if they are an object, the text they stand in.
fn parse(text: &str) -> Result<(Value, Option<Cow<'_, str>>), Failure> {
    if text.trim().is_empty() {
        return Ok((Value::Object(Map::new()), None));
    }
    // What is checked must be what its server reads, whichever of two equal keys that would take.
    let invalid = |error: serde_json::Error| {
        Failure::new(ErrorKind::InvalidArguments, format!("the arguments are not valid JSON: {error}"))
    };
    let parsed = parse_unique(text).map_err(invalid)?;
    Ok(match parsed {
        Value::Object(_) => (parsed, Some(text.into())),
        Value::Null => (Value::Object(Map::new()), None),
        Value::String(inner) if inner.trim().is_empty() => (Value::Object(Map::new()), None),
        // An object written as text, as some models do.
        Value::String(inner) => match serde_json::from_str(&inner) {
            Ok(Value::Object(_)) => (parse_unique(&inner).map_err(invalid)?, Some(inner.into())),
            Ok(other) => (other, None),
            Err(_) => (Value::String(inner), None),
        },
        other => (other, None),
    })
}

/// Every argument as it is written; those that were coerced as they are now.
fn members(
    text: &str,
    arguments: &Map<String, Value>,
    before: Option<&Value>,
) -> Option<Vec<(String, String)>> {
    let written: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let member = |(key, value): (&String, &Value)| {
        let same = before.is_none_or(|before| before.get(key) == Some(value));
        let text =
            written.get(key).filter(|_| same).map_or_else(|| value.to_string(), |raw| raw.get().to_owned());
        (key.clone(), text)
    };
    Some(arguments.iter().map(member).collect())
}

/// What rules made of the arguments must still be what the server takes: a pinned value may not fit.
fn own_words(
    shown: &Shown,
    arguments: Map<String, Value>,
    limits: &Limits,
) -> Result<Map<String, Value>, Failure> {
    let whole = Value::Object(arguments);
    let problems = match shown.own_input(limits) {
        Ok(schema) => schema.check(&whole),
        Err(error) => {
            let why = format!("its server's schema cannot be used: {error}");
            return Err(Failure::new(ErrorKind::InvalidArguments, why));
        }
    };
    match whole {
        Value::Object(arguments) if problems.is_empty() => Ok(arguments),
        _ => Err(Failure::invalid(&problems, &shown.tool.input)),
    }
}
