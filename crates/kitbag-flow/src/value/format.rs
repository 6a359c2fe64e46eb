//! `str.format` with names: what a drawing fills into a text. A name with `!r` or `!s`, and places in lists and dictionaries;
//! no widths.

use super::{Dict, Value, item};
use crate::raised::Raised;

/// The text with its names replaced.
pub(crate) fn format(text: &str, names: &Dict) -> Result<String, Raised> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some(behind) = from.strip_prefix("{{") {
            out.push('{');
            rest = behind;
        } else if let Some(behind) = from.strip_prefix("}}") {
            out.push('}');
            rest = behind;
        } else if let Some(behind) = from.strip_prefix('{') {
            let (field, behind) = behind.split_once('}').ok_or_else(|| unfinished(behind))?;
            out.push_str(&filled(field, names)?);
            rest = behind;
        } else {
            return Err(Raised::value_error("Single '}' encountered in format string"));
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn unfinished(behind: &str) -> Raised {
    match behind {
        "" => Raised::value_error("Single '{' encountered in format string"),
        _ => Raised::value_error("expected '}' before end of string"),
    }
}

fn filled(field: &str, names: &Dict) -> Result<String, Raised> {
    if field.contains(':') {
        return Err(Raised::value_error(format!("widths and formats are not supported: {{{field}}}")));
    }
    let (path, how) = field.split_once('!').unwrap_or((field, "s"));
    let (name, places) = path.split_at(path.find(['[', '.']).unwrap_or(path.len()));
    if name.is_empty() || name.chars().all(|c| c.is_ascii_digit()) {
        let place = if name.is_empty() { "0" } else { name };
        let text = format!("Replacement index {place} out of range for positional args tuple");
        return Err(Raised::new("IndexError", text));
    }
    let mut value = item(&Value::Dict(names.clone()), &Value::from(name))?;
    let mut rest = places;
    while !rest.is_empty() {
        let inside = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((key, behind)) = inside else {
            return Err(Raised::value_error(format!("attributes are not supported: {{{field}}}")));
        };
        let key = key.parse::<i64>().map_or_else(|_| Value::from(key), Value::from);
        value = item(&value, &key)?;
        rest = behind;
    }
    match how {
        "s" => Ok(value.text()),
        "r" => Ok(value.repr()),
        other => Err(Raised::value_error(format!("Unknown conversion specifier '{other}'"))),
    }
}
