//! What Python's operators do with values, with its messages where they cannot.

use std::cmp::Ordering;

use super::{Value, lock};
use crate::raised::Raised;

/// The whole number a fraction is equal to, if it is to one.
pub(super) fn whole(number: f64) -> Option<i128> {
    let fits = number.is_finite() && number.fract() == 0.0 && number.abs() < 1e38;
    // In range, and without a fraction.
    fits.then_some(number as i128)
}

/// `a + b`.
pub(crate) fn add(a: &Value, b: &Value) -> Result<Value, Raised> {
    Ok(match (a, b) {
        (Value::Str(a), Value::Str(b)) => Value::from(format!("{a}{b}")),
        (Value::List(a), Value::List(b)) => Value::list(a.to_vec().into_iter().chain(b.to_vec())),
        (Value::Tuple(a), Value::Tuple(b)) => Value::Tuple(a.iter().chain(b.iter()).cloned().collect()),
        _ => match (number(a), number(b)) {
            (Some(Number::Int(a)), Some(Number::Int(b))) => Value::Int(
                a.checked_add(b)
                    .ok_or_else(|| Raised::new("OverflowError", "a whole number of more than 127 bits"))?,
            ),
            (Some(a), Some(b)) => Value::Float(a.float() + b.float()),
            _ => return Err(cannot_add(a, b)),
        },
    })
}

fn cannot_add(a: &Value, b: &Value) -> Raised {
    let (left, right) = (a.type_name(), b.type_name());
    match a {
        Value::Str(_) | Value::List(_) | Value::Tuple(_) => {
            Raised::type_error(format!("can only concatenate {left} (not \"{right}\") to {left}"))
        }
        _ => Raised::type_error(format!("unsupported operand type(s) for +: '{left}' and '{right}'")),
    }
}

enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn float(&self) -> f64 {
        match self {
            Self::Int(number) => *number as f64,
            Self::Float(number) => *number,
        }
    }
}

fn number(value: &Value) -> Option<Number> {
    Some(match value {
        Value::Bool(yes) => Number::Int((*yes).into()),
        Value::Int(number) => Number::Int(*number),
        Value::Float(number) => Number::Float(*number),
        _ => return None,
    })
}

/// `a op b` of the operators that compare.
pub(crate) fn compare(a: &Value, op: &str, b: &Value) -> Result<Value, Raised> {
    Ok(Value::Bool(match op {
        "==" => is_equal(a, b),
        "!=" => !is_equal(a, b),
        "<" | "<=" | ">" | ">=" => {
            let Some(order) = order(a, b) else {
                let (left, right) = (a.type_name(), b.type_name());
                return Err(Raised::type_error(format!(
                    "'{op}' not supported between instances of '{left}' and '{right}'"
                )));
            };
            match op {
                "<" => order == Some(Ordering::Less),
                "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
                ">" => order == Some(Ordering::Greater),
                _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
            }
        }
        _ => {
            return Err(Raised::new(
                "SyntaxError",
                format!("{op:?} is not one of the operators == != < <= > >="),
            ));
        }
    }))
}

/// Whether two values are equal, wherever they are.
pub(super) fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => a.address() == b.address() || all_equal(&a.to_vec(), &b.to_vec()),
        (Value::Tuple(a), Value::Tuple(b)) => all_equal(a, b),
        (Value::Dict(a), Value::Dict(b)) => {
            let same = |(key, value): &(Value, Value)| {
                b.find(key).ok().flatten().is_some_and(|other| is_equal(value, &other))
            };
            a.address() == b.address() || a.len() == b.len() && a.rows().iter().all(same)
        }
        _ => numbers(a, b) == Some(Some(Ordering::Equal)),
    }
}

fn all_equal(a: &[Value], b: &[Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
}

/// Outer none: these types have no order. Inner none: not a number.
fn order(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Some(Some(a.cmp(b))),
        (Value::List(a), Value::List(b)) => in_order(&a.to_vec(), &b.to_vec()),
        (Value::Tuple(a), Value::Tuple(b)) => in_order(a, b),
        _ => numbers(a, b),
    }
}

fn in_order(a: &[Value], b: &[Value]) -> Option<Option<Ordering>> {
    match a.iter().zip(b).find(|(a, b)| !is_equal(a, b)) {
        Some((a, b)) => order(a, b),
        None => Some(Some(a.len().cmp(&b.len()))),
    }
}

fn numbers(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    Some(match (number(a)?, number(b)?) {
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (Number::Int(a), Number::Float(b)) => match whole(b) {
            Some(b) => Some(a.cmp(&b)),
            None => (a as f64).partial_cmp(&b),
        },
        (Number::Float(a), Number::Int(b)) => match whole(a) {
            Some(a) => Some(a.cmp(&b)),
            None => a.partial_cmp(&(b as f64)),
        },
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
    })
}

/// `of[at]`.
pub(crate) fn item(of: &Value, at: &Value) -> Result<Value, Raised> {
    match of {
        Value::Dict(dict) => dict.find(at)?.ok_or_else(|| Raised::new("KeyError", at.repr())),
        Value::List(list) => {
            let place = place(at, list.len(), "list index out of range", "list indices")?;
            list.get(place).ok_or_else(|| Raised::new("IndexError", "list index out of range"))
        }
        Value::Tuple(parts) => {
            let place = place(at, parts.len(), "tuple index out of range", "tuple indices")?;
            parts.get(place).cloned().ok_or_else(|| Raised::new("IndexError", "tuple index out of range"))
        }
        Value::Str(text) => {
            let count = text.chars().count();
            let place = place(at, count, "string index out of range", "string indices")?;
            let c = text.chars().nth(place).unwrap_or_default();
            Ok(Value::from(c.to_string()))
        }
        other => Err(Raised::type_error(format!("'{}' object is not subscriptable", other.type_name()))),
    }
}

/// `of[at] = value`.
pub(crate) fn set_item(of: &Value, at: &Value, value: Value) -> Result<(), Raised> {
    match of {
        Value::Dict(dict) => dict.put(at.clone(), value),
        Value::List(list) => {
            let out = "list assignment index out of range";
            let place = place(at, list.len(), out, "list indices")?;
            if list.put(place, value) { Ok(()) } else { Err(Raised::new("IndexError", out)) }
        }
        other => Err(Raised::type_error(format!(
            "'{}' object does not support item assignment",
            other.type_name()
        ))),
    }
}

/// Where an index leads; negative ones count from the end.
fn place(at: &Value, count: usize, out: &str, what: &str) -> Result<usize, Raised> {
    let index = match at {
        Value::Int(number) => *number,
        Value::Bool(yes) => (*yes).into(),
        other => {
            let slices = if what.starts_with("string") { "integers" } else { "integers or slices" };
            let tail = if what.starts_with("string") {
                format!(", not '{}'", other.type_name())
            } else {
                format!(", not {}", other.type_name())
            };
            return Err(Raised::type_error(format!("{what} must be {slices}{tail}")));
        }
    };
    let count = i128::try_from(count).unwrap_or(i128::MAX);
    let index = if index < 0 { index + count } else { index };
    usize::try_from(index)
        .ok()
        .filter(|place| i128::try_from(*place).is_ok_and(|place| place < count))
        .ok_or_else(|| Raised::new("IndexError", out))
}

/// What `iter` gives of a value that does not change meanwhile.
pub(crate) fn items(of: &Value) -> Result<Vec<Value>, Raised> {
    Ok(match of {
        Value::List(list) => lock(&list.0).clone(),
        Value::Tuple(parts) => parts.to_vec(),
        Value::Str(text) => text.chars().map(|c| Value::from(c.to_string())).collect(),
        Value::Dict(dict) => dict.rows().into_iter().map(|(key, _)| key).collect(),
        other => {
            return Err(Raised::type_error(format!("'{}' object is not iterable", other.type_name())));
        }
    })
}

/// Words between blanks, as `str.split()` gives them.
pub(crate) fn split_words(text: &str) -> Vec<&str> {
    let blank = |c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c);
    text.split(blank).filter(|word| !word.is_empty()).collect()
}
