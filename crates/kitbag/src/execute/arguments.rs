//! From the text a model wrote to the arguments a server takes.

use std::borrow::Cow;

use kitbag_core::schema::{Coercion, ExactJson, coerce};
use kitbag_core::shape::{ViewTool, restore_exact};
use kitbag_core::{ErrorKind, Limits};
use serde_json::{Map, Value};

use super::{CallError, Repair};

/// Arguments that fit.
pub(crate) struct Ready<'a> {
    /// Nothing where only the text was wanted and is enough.
    pub(crate) arguments: Map<String, Value>,
    pub(crate) coerced: Vec<Coercion>,
    /// The same as text; every number has the digits it was written with.
    pub(crate) text: Cow<'a, str>,
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
    shown: &ViewTool,
    text: &'a str,
    limits: &Limits,
    want: Want,
) -> Result<Ready<'a>, CallError> {
    let tool = &shown.tool;
    let is_own = || tool.undo.is_empty() && !shown.has_other_input();
    let is_sure = || shown.input(limits).as_ref().is_ok_and(|schema| schema.accepts_text(text));
    if want == Want::Text && is_own() && is_sure() {
        return Ok(Ready { arguments: Map::new(), coerced: Vec::new(), text: text.into() });
    }
    let (mut exact, text) =
        parse(text).map_err(|failure| failure.repair(Repair::Schema(Value::clone(&tool.input))))?;
    let mut given = Value::from(exact.clone());
    let schema = match shown.input(limits) {
        Ok(schema) => schema,
        Err(error) => {
            let why = format!("its schema cannot be used: {error}");
            return Err(CallError::new(ErrorKind::InvalidArguments, why));
        }
    };
    // What fits as it is is never touched.
    let mut problems = schema.check(&given);
    let mut coerced = Vec::new();
    if !problems.is_empty() {
        coerced = coerce(&tool.input, &mut given);
        if !coerced.is_empty() {
            problems = schema.check(&given);
            exact.set(&given);
        }
    }
    if !problems.is_empty() {
        return Err(CallError::invalid(&problems, &tool.input));
    }
    if let ExactJson::Object(members) = &mut exact
        && !tool.undo.is_empty()
    {
        restore_exact(&tool.undo, members);
        given = Value::from(exact.clone());
    }
    let Value::Object(mut arguments) = given else {
        return Err(CallError::new(ErrorKind::InvalidArguments, "the arguments are not a JSON object"));
    };
    if !tool.undo.is_empty() || shown.has_other_input() {
        arguments = own_words(shown, arguments, limits)?;
    }
    let as_written = text.filter(|_| coerced.is_empty() && tool.undo.is_empty());
    let text = as_written.unwrap_or_else(|| exact.to_string().into());
    Ok(Ready { arguments, coerced, text })
}

/// The arguments and, if that is an object, the text they stand in.
fn parse(text: &str) -> Result<(ExactJson<'_>, Option<Cow<'_, str>>), CallError> {
    let nothing = || (ExactJson::Object(Vec::new()), None);
    if text.trim().is_empty() {
        return Ok(nothing());
    }
    let invalid = |error: serde_json::Error| {
        CallError::new(ErrorKind::InvalidArguments, format!("the arguments are not valid JSON: {error}"))
    };
    let parsed = ExactJson::parse(text).map_err(invalid)?;
    Ok(match parsed {
        ExactJson::Object(_) => (parsed, Some(text.into())),
        ExactJson::Null => nothing(),
        ExactJson::String(inner, _) if inner.trim().is_empty() => nothing(),
        // An object written as a string, as some models do.
        ExactJson::String(inner, written) => match ExactJson::parse(&inner) {
            Ok(read @ ExactJson::Object(_)) => (read.into_owned(), Some(inner.into())),
            Ok(read) => (read.into_owned(), None),
            Err(error) if error.is_data() => return Err(invalid(error)),
            Err(_) => (ExactJson::String(inner, written), None),
        },
        other => (other, None),
    })
}

/// What rules made of the arguments must still be what the server takes: a pinned value may not fit.
fn own_words(
    shown: &ViewTool,
    arguments: Map<String, Value>,
    limits: &Limits,
) -> Result<Map<String, Value>, CallError> {
    let whole = Value::Object(arguments);
    let problems = match shown.own_input(limits) {
        Ok(schema) => schema.check(&whole),
        Err(error) => {
            let why = format!("its server's schema cannot be used: {error}");
            return Err(CallError::new(ErrorKind::InvalidArguments, why));
        }
    };
    match whole {
        Value::Object(arguments) if problems.is_empty() => Ok(arguments),
        _ => Err(CallError::invalid(&problems, &shown.tool.input)),
    }
}
