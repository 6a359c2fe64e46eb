//! What a schema asks of a value besides its type, behind the type: `integer(1..100)`, `string(uuid, length <=36)`.
//!
//! A model that is not told of a range or a pattern finds out by a refused call.

use serde_json::{Map, Number, Value};

use super::inline::{cut, inert, inline, literal, word};

/// The longest pattern that is told, and the longest in a line that has to be short.
const LONGEST_PATTERN: usize = 80;
const SHORT_PATTERN: usize = 12;
/// The longest format that is told.
const LONGEST_FORMAT: usize = 24;
/// What every number of JavaScript lies within; schemas made from its types say so of every integer.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// How much is told besides the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// Nothing: what comes back is as it is.
    Left,
    /// In as few characters as possible: `uuid` stands for a string of that format, `/^[a-z]+$/` for one that fits a short
    /// pattern, and of a long pattern it is only told that there is one.
    Short,
    /// All.
    Told,
}

/// A type with what is asked of its values.
pub(super) fn bounded(kind: &str, shown: String, object: &Map<String, Value>, bounds: Bounds) -> String {
    if bounds == Bounds::Left {
        return shown;
    }
    let mut shown = shown;
    let mut parts = Vec::new();
    let is_short = bounds == Bounds::Short;
    match kind {
        "string" => {
            // The first that says more than "string" stands for it where the line has to be short.
            let first = format(object).or_else(|| short_pattern(object)).filter(|_| is_short);
            let is_told = first.is_some();
            shown = first.unwrap_or(shown);
            parts.extend(format(object).filter(|_| !is_told));
            parts.extend(count(object, "minLength", "maxLength").map(|range| format!("length {range}")));
            parts.extend(pattern(object, bounds).filter(|pattern| *pattern != shown));
        }
        "number" | "integer" => {
            parts.extend(format(object));
            // That a count is not negative goes without saying where every word counts.
            parts.extend(
                range(object).filter(|range| !is_short || !matches!(range.as_str(), ">=0" | ">=1" | ">0")),
            );
            parts.extend(
                object.get("multipleOf").and_then(Value::as_number).map(|of| format!("multiple of {of}")),
            );
        }
        "array" => parts.extend(count(object, "minItems", "maxItems").map(|range| format!("{range} items"))),
        _ => {}
    }
    match parts.as_slice() {
        [] => shown,
        [one] if is_short && one.starts_with(['<', '>']) && !one.contains([',', ' ']) => {
            format!("{shown}{one}")
        }
        parts => format!("{shown}({})", parts.join(", ")),
    }
}

fn format(object: &Map<String, Value>) -> Option<String> {
    let format = object.get("format")?.as_str().filter(|format| !format.is_empty())?;
    Some(cut(&word(format), LONGEST_FORMAT))
}

/// Numbers from and to, both of them or one.
fn range(object: &Map<String, Value>) -> Option<String> {
    let number =
        |keyword: &str| object.get(keyword).and_then(Value::as_number).filter(|number| tells(number));
    // Up to draft 4 `exclusiveMinimum` was a switch beside `minimum`.
    let is_open = |keyword: &str| object.get(keyword) == Some(&Value::Bool(true));
    let least = match (number("exclusiveMinimum"), number("minimum")) {
        (Some(above), _) => Some((">", above)),
        (None, Some(above)) if is_open("exclusiveMinimum") => Some((">", above)),
        (None, least) => least.map(|least| (">=", least)),
    };
    let most = match (number("exclusiveMaximum"), number("maximum")) {
        (Some(below), _) => Some(("<", below)),
        (None, Some(below)) if is_open("exclusiveMaximum") => Some(("<", below)),
        (None, most) => most.map(|most| ("<=", most)),
    };
    match (least, most) {
        (Some((">=", least)), Some(("<=", most))) => Some(format!("{least}..{most}")),
        (None, None) => None,
        (least, most) => {
            let parts = least.into_iter().chain(most).map(|(sign, number)| format!("{sign}{number}"));
            Some(parts.collect::<Vec<_>>().join(", "))
        }
    }
}

fn tells(number: &Number) -> bool {
    number.as_f64().is_none_or(|value| value.abs() < SAFE)
}

/// How many there may be; at least none says nothing.
fn count(object: &Map<String, Value>, least: &str, most: &str) -> Option<String> {
    let number = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
    match (number(least).filter(|least| 0 < *least), number(most)) {
        (Some(least), Some(most)) if least == most => Some(least.to_string()),
        (Some(least), Some(most)) => Some(format!("{least}..{most}")),
        (Some(least), None) => Some(format!(">={least}")),
        (None, Some(most)) => Some(format!("<={most}")),
        (None, None) => None,
    }
}

/// A pattern that can stand for its type.
fn short_pattern(object: &Map<String, Value>) -> Option<String> {
    pattern(object, Bounds::Short).filter(|pattern| pattern.starts_with('/'))
}

/// A pattern between slashes, as it is where it cannot be taken for anything else.
fn pattern(object: &Map<String, Value>, bounds: Bounds) -> Option<String> {
    let pattern = object.get("pattern")?.as_str().filter(|pattern| !pattern.is_empty())?;
    let longest = if bounds == Bounds::Short { SHORT_PATTERN } else { LONGEST_PATTERN };
    match (pattern.len() <= longest, bounds) {
        (false, Bounds::Short) => Some("pattern".to_owned()),
        (false, _) => Some(format!("pattern {}", literal(&cut(pattern, longest)))),
        (true, _) if inline(pattern) == pattern && inert(pattern) == pattern => Some(format!("/{pattern}/")),
        (true, _) => Some(format!("pattern {}", literal(pattern))),
    }
}
