//! Strings: joined, split, filled in, measured.

use super::{Row, UTILS};
use crate::component::{Call, Face, Input};
use crate::raised::Raised;
use crate::value::{Value, add, format, items, split_words};

pub(super) const ROWS: &[Row] = &[
    Row {
        face: Face {
            inputs: &[Input::optional("a"), Input::optional("b")],
            outputs: &["out"],
            ..Face::new("ConcatString", UTILS, "Joins two strings")
        },
        work: |call| call.set("out", add(&call.get("a")?, &call.get("b")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("separator"), Input::list("parts")],
            outputs: &["out"],
            ..Face::new("ConcatStrings", UTILS, "Joins any number of values as strings")
        },
        work: concat_strings,
    },
    Row {
        face: Face {
            inputs: &[Input::required("format_str"), Input::optional("args")],
            outputs: &["out_str"],
            ..Face::new("FormatString", UTILS, "Fills the names in braces of a string")
        },
        work: format_string,
    },
    Row {
        face: Face {
            inputs: &[Input::optional("string"), Input::optional("ch")],
            outputs: &["out"],
            ..Face::new("SplitString", UTILS, "Splits a string at another one")
        },
        work: split_string,
    },
    Row {
        face: Face {
            inputs: &[Input::optional("array"), Input::optional("sep")],
            outputs: &["out"],
            ..Face::new("JoinArrayWithString", UTILS, "Joins the strings of a list")
        },
        work: join_array,
    },
    Row {
        face: Face {
            inputs: &[Input::required("obj")],
            outputs: &["string"],
            ..Face::new("ToString", UTILS, "A value as Python prints it")
        },
        work: |call| call.set("string", call.get("obj")?.text()),
    },
    Row {
        face: Face {
            inputs: &[Input::optional("text")],
            outputs: &["word_count", "character_count"],
            ..Face::new("StringWordCharacterCount", UTILS, "Counts words and characters")
        },
        work: |call| {
            let text = string(call, "text", "split")?;
            call.set("word_count", split_words(&text).len())?;
            call.set("character_count", text.chars().count())
        },
    },
    Row {
        face: Face {
            inputs: &[Input::required("string"), Input::required("prefix")],
            outputs: &["starts_with"],
            ..Face::new("StringStartsWith", UTILS, "Whether a string begins with another one")
        },
        work: |call| {
            let text = string(call, "string", "startswith")?;
            call.set("starts_with", affixed(call, "prefix", "startswith", |affix| text.starts_with(affix))?)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::required("string"), Input::required("postfix")],
            outputs: &["ends_with"],
            ..Face::new("StringEndsWith", UTILS, "Whether a string ends with another one")
        },
        work: |call| {
            let text = string(call, "string", "endswith")?;
            call.set("ends_with", affixed(call, "postfix", "endswith", |affix| text.ends_with(affix))?)
        },
    },
    Row {
        face: Face {
            inputs: &[Input::required("string")],
            outputs: &["length"],
            ..Face::new("StringGetLength", UTILS, "The length of a string")
        },
        work: |call| call.set("length", length(&call.get("string")?)?),
    },
    Row {
        face: Face {
            inputs: &[Input::required("string"), Input::required("max_length")],
            outputs: &["out_string"],
            ..Face::new("StringLimitToLength", UTILS, "The beginning of a string")
        },
        work: limit_to_length,
    },
];

/// The string at an input of which a method is called.
fn string(call: &Call, port: &str, method: &str) -> Result<String, Raised> {
    let value = call.get(port)?;
    value.as_str().map(str::to_owned).ok_or_else(|| Raised::no_attribute(value.type_name(), method))
}

/// Whether one of the strings at an input fits: it may be one, or a tuple of several.
fn affixed(call: &Call, port: &str, method: &str, fits: impl Fn(&str) -> bool) -> Result<bool, Raised> {
    let value = call.get(port)?;
    match &value {
        Value::Str(text) => Ok(fits(text)),
        Value::Tuple(parts) => {
            for part in parts.iter() {
                let kind = part.type_name();
                let Some(text) = part.as_str() else {
                    return Err(Raised::type_error(format!(
                        "tuple for {method} must only contain str, not {kind}"
                    )));
                };
                if fits(text) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        other => {
            let kind = other.type_name();
            Err(Raised::type_error(format!("{method} first arg must be str or a tuple of str, not {kind}")))
        }
    }
}

fn length(value: &Value) -> Result<usize, Raised> {
    match value {
        Value::Str(text) => Ok(text.chars().count()),
        Value::List(_) | Value::Tuple(_) | Value::Dict(_) => Ok(items(value)?.len()),
        other => Err(Raised::type_error(format!("object of type '{}' has no len()", other.type_name()))),
    }
}

fn concat_strings(call: &Call) -> Result<(), Raised> {
    let separator = call.get("separator")?;
    let separator = if separator.is_none() { Value::from("") } else { separator };
    let Some(separator) = separator.as_str() else {
        return Err(Raised::no_attribute(separator.type_name(), "join"));
    };
    let parts: Vec<String> = items(&call.get("parts")?)?.iter().map(Value::text).collect();
    call.set("out", parts.join(separator))
}

fn format_string(call: &Call) -> Result<(), Raised> {
    let text = string(call, "format_str", "format")?;
    let args = call.get("args")?;
    let Some(names) = args.as_dict() else {
        let kind = args.type_name();
        let text = format!("str.format() argument after ** must be a mapping, not {kind}");
        return Err(Raised::type_error(text));
    };
    call.set("out_str", format(&text, names)?)
}

fn split_string(call: &Call) -> Result<(), Raised> {
    let text = string(call, "string", "split")?;
    let parts: Vec<Value> = match call.get("ch")? {
        Value::None => split_words(&text).into_iter().map(Value::from).collect(),
        Value::Str(at) if at.is_empty() => return Err(Raised::value_error("empty separator")),
        Value::Str(at) => text.split(&*at).map(Value::from).collect(),
        other => return Err(Raised::type_error(format!("must be str or None, not {}", other.type_name()))),
    };
    call.set("out", Value::list(parts))
}

fn join_array(call: &Call) -> Result<(), Raised> {
    let separator = string(call, "sep", "join")?;
    let array = call.get("array")?;
    let values = items(&array).map_err(|_| Raised::type_error("can only join an iterable"))?;
    let mut parts = Vec::new();
    for (place, value) in values.iter().enumerate() {
        let Some(text) = value.as_str() else {
            let kind = value.type_name();
            let text = format!("sequence item {place}: expected str instance, {kind} found");
            return Err(Raised::type_error(text));
        };
        parts.push(text.to_owned());
    }
    call.set("out", parts.join(&separator))
}

fn limit_to_length(call: &Call) -> Result<(), Raised> {
    let value = call.get("string")?;
    let count = length(&value)?;
    let kept = kept(&call.get("max_length")?, count)?;
    let cut = match &value {
        Value::Str(text) => Value::from(text.chars().take(kept).collect::<String>()),
        Value::List(_) => Value::list(items(&value)?.into_iter().take(kept)),
        Value::Tuple(parts) => Value::Tuple(parts.iter().take(kept).cloned().collect()),
        _ => return Err(Raised::type_error("unhashable type: 'slice'")),
    };
    call.set("out_string", cut)
}

/// How much of so many is kept; a negative length counts from the end, as a slice does.
fn kept(most: &Value, count: usize) -> Result<usize, Raised> {
    match most {
        Value::Int(most) if *most < 0 => {
            Ok(count.saturating_sub(usize::try_from(-most).unwrap_or(usize::MAX)))
        }
        Value::Int(most) => Ok(usize::try_from(*most).unwrap_or(usize::MAX)),
        Value::Bool(most) => Ok((*most).into()),
        Value::Float(most) if count as f64 <= *most || most.is_nan() => Ok(count),
        Value::Float(_) => {
            Err(Raised::type_error("slice indices must be integers or None or have an __index__ method"))
        }
        other => {
            let kind = other.type_name();
            Err(Raised::type_error(format!("'<' not supported between instances of '{kind}' and 'int'")))
        }
    }
}
