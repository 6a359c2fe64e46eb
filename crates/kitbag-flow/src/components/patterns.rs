//! Regular expressions.

use super::{Row, UTILS};
use crate::component::{Call, Face, Input};
use crate::raised::Raised;
use crate::value::{Pattern, Value};

const TEXT: Input = Input::required("input_string");
const PATTERN: Input = Input::required("regex_pattern");

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face {
            inputs: &[TEXT, PATTERN],
            outputs: &["match"],
            ..Face::new("RegexMatch", UTILS, "Whether a string begins with a pattern")
        },
        work: |call| {
            let (pattern, text) = both(call)?;
            call.set("match", pattern.begins(&text))
        },
    },
    Row {
        face: Face {
            inputs: &[TEXT, PATTERN],
            outputs: &["matches"],
            ..Face::new("RegexFindAll", UTILS, "All matches of a pattern")
        },
        work: |call| {
            let (pattern, text) = both(call)?;
            call.set("matches", Value::list(pattern.find_all(&text)))
        },
    },
    Row {
        face: Face {
            inputs: &[TEXT, PATTERN, Input::required("replacement")],
            outputs: &["modified_string"],
            ..Face::new("RegexReplace", UTILS, "Replaces the matches of a pattern")
        },
        work: |call| {
            let (pattern, text) = both(call)?;
            call.set("modified_string", pattern.replace(&text, &call.text("replacement")?)?)
        },
    },
    Row {
        face: Face {
            inputs: &[TEXT, PATTERN],
            outputs: &["split_result"],
            ..Face::new("RegexSplit", UTILS, "Splits a string at the matches of a pattern")
        },
        work: |call| {
            let (pattern, text) = both(call)?;
            call.set("split_result", Value::list(pattern.split(&text)))
        },
    },
];

fn both(call: &Call) -> Result<(Pattern, String), Raised> {
    let plain = || Raised::type_error("expected string or bytes-like object");
    let (pattern, text) = (call.get("regex_pattern")?, call.get("input_string")?);
    let pattern = Pattern::new(pattern.as_str().ok_or_else(plain)?)?;
    Ok((pattern, text.as_str().ok_or_else(plain)?.to_owned()))
}
