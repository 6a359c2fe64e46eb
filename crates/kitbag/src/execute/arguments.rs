//! From the text a model wrote to the arguments a server takes.

use kitbag_core::schema::{Coercion, coerce};
use kitbag_core::shape::{Shown, restore};
use kitbag_core::{ErrorKind, Limits};
use serde_json::{Map, Value};

use super::Failure;

/// Arguments that fit.
pub(super) struct Ready {
    pub(super) arguments: Map<String, Value>,
    pub(super) coerced: Vec<Coercion>,
    /// Whether the text can travel as it was given.
    pub(super) as_given: bool,
}

/// Reads, coerces, validates, and turns back what rules changed. Nothing is sent unless all of it fits.
pub(super) fn prepare(shown: &Shown, text: &str, limits: &Limits) -> Result<Ready, Failure> {
    let tool = &shown.tool;
    let mut given = parse(text)?;
    let schema = match shown.input(limits) {
        Ok(schema) => schema,
        Err(error) => {
            let why = format!("its schema cannot be used: {error}");
            return Err(Failure::new(ErrorKind::InvalidArguments, why));
        }
    };
    // What fits as it is is never touched.
    let mut problems = schema.check(&given);
    let mut coerced = Vec::new();
    if !problems.is_empty() {
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
    let as_given = coerced.is_empty() && tool.undo.is_empty() && !text.trim().is_empty();
    if !tool.undo.is_empty() {
        restore(&tool.undo, &mut arguments);
        arguments = own_words(shown, arguments, limits)?;
    }
    Ok(Ready { arguments, coerced, as_given })
}

fn parse(text: &str) -> Result<Value, Failure> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let parsed = serde_json::from_str(text).map_err(|error| {
        Failure::new(ErrorKind::InvalidArguments, format!("the arguments are not valid JSON: {error}"))
    })?;
    Ok(match parsed {
        Value::Null => Value::Object(Map::new()),
        // An object written as text, as some models do.
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    })
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
