//! The values written into a drawing: each kind is written in its own way.

use crate::value::{Dialect, Value, read as parse};

/// The value of a literal of this kind, or why it has none and what to write.
pub(super) fn read(kind: &str, label: &str) -> Result<Value, (String, &'static str)> {
    let json = |text: &str, fix| parse(text, Dialect::Json).map_err(|why| (why, fix));
    let python = |fix| parse(label.trim(), Dialect::Python).map_err(|why| (why, fix));
    match kind {
        "string" | "secret" => Ok(Value::from(label)),
        "list" => json(&format!("[{label}]"), "write JSON values with commas between them: \"a\", 1, true"),
        "dict" => json(&format!("{{{label}}}"), "write JSON without the outer braces: \"key\": \"value\""),
        "chat" => json(label, "write JSON: [{\"role\": \"user\", \"content\": \"…\"}]"),
        "tuple" if label.is_empty() => Ok(Value::Tuple([].into())),
        "tuple" => Ok(match python("write values of Python with commas between them: 'a', 1, True")? {
            tuple @ Value::Tuple(_) => tuple,
            one => Value::Tuple([one].into()),
        }),
        "boolean" => plain(python("write True or False")?, "write True or False"),
        "int" => plain(python("write a whole number, such as 5")?, "write a whole number, such as 5"),
        _ => plain(python("write a number, such as 0.5")?, "write a number, such as 0.5"),
    }
}

/// A number or a truth value, whichever is written: a program of Xircuits takes both for both.
fn plain(value: Value, fix: &'static str) -> Result<Value, (String, &'static str)> {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => Ok(value),
        other => Err((format!("it is a {}", other.type_name()), fix)),
    }
}
