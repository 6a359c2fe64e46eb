//! Values as Python's `json` writes them, and to and from the JSON of tools.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::{Value, repr};
use crate::raised::Raised;

/// What `json.dumps` gives.
pub(crate) fn dumps(value: &Value) -> Result<String, Raised> {
    let mut out = String::new();
    write(value, &mut out, &mut Vec::new())?;
    Ok(out)
}

fn write(value: &Value, out: &mut String, open: &mut Vec<usize>) -> Result<(), Raised> {
    match value {
        Value::None => out.push_str("null"),
        Value::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
        Value::Int(number) => out.push_str(&number.to_string()),
        Value::Float(number) => out.push_str(&float(*number)),
        Value::Str(text) => quote(text, out),
        Value::List(list) => {
            enter(list.address(), open)?;
            sequence(&list.to_vec(), out, open)?;
            open.pop();
        }
        Value::Tuple(parts) => sequence(parts, out, open)?,
        Value::Dict(dict) => {
            enter(dict.address(), open)?;
            out.push('{');
            for (place, (key, value)) in dict.rows().iter().enumerate() {
                if 0 < place {
                    out.push_str(", ");
                }
                quote(&key_text(key)?, out);
                out.push_str(": ");
                write(value, out, open)?;
            }
            out.push('}');
            open.pop();
        }
        Value::Object(_) => {
            let kind = value.type_name();
            return Err(Raised::type_error(format!("Object of type {kind} is not JSON serializable")));
        }
    }
    Ok(())
}

fn enter(address: usize, open: &mut Vec<usize>) -> Result<(), Raised> {
    if open.contains(&address) {
        return Err(Raised::value_error("Circular reference detected"));
    }
    open.push(address);
    Ok(())
}

fn sequence(values: &[Value], out: &mut String, open: &mut Vec<usize>) -> Result<(), Raised> {
    out.push('[');
    for (place, value) in values.iter().enumerate() {
        if 0 < place {
            out.push_str(", ");
        }
        write(value, out, open)?;
    }
    out.push(']');
    Ok(())
}

fn key_text(key: &Value) -> Result<String, Raised> {
    Ok(match key {
        Value::Str(text) => text.to_string(),
        Value::None => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => float(*number),
        other => {
            let kind = other.type_name();
            return Err(Raised::type_error(format!(
                "keys must be str, int, float, bool or None, not {kind}"
            )));
        }
    })
}

fn float(number: f64) -> String {
    match repr::float(number).as_str() {
        "nan" => "NaN".to_owned(),
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        plain => plain.to_owned(),
    }
}

/// A string of ASCII alone, as Python writes it when it is not told otherwise.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

impl Value {
    /// A value of JSON. Numbers that no whole number of ours holds become fractions.
    pub fn of_json(json: &Json) -> Self {
        match json {
            Json::Null => Self::None,
            Json::Bool(yes) => Self::Bool(*yes),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(whole), _) => Self::Int(whole.into()),
                (_, Some(whole)) => Self::Int(whole.into()),
                _ => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::from(text.as_str()),
            Json::Array(values) => Self::list(values.iter().map(Self::of_json)),
            Json::Object(fields) => {
                Self::dict(fields.iter().map(|(key, value)| (key.as_str(), Self::of_json(value))))
            }
        }
    }

    /// It as JSON; an error where JSON has no such value.
    pub fn to_json(&self) -> Result<Json, Raised> {
        let text = dumps(self)?;
        serde_json::from_str(&text).map_err(|_| Raised::value_error("a number that JSON does not have"))
    }
}
