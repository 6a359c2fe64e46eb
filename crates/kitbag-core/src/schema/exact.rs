//! JSON in which numbers keep the digits and strings the escapes they were written with, and no object has a key twice.
//!
//! A [`Value`] holds a number as 64 bits, so `123456789012345678901` becomes `1.2345678901234568e20` in it and
//! `1e400` is refused. Arguments that are changed on their way to a server are changed in this form instead.
//! Readers disagree about which of two equal keys counts, so what was checked might not be what is read.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use crate::text::{cut, visible};

/// The most of a key that is repeated in an error.
const SHOWN: usize = 80;
/// What is checked in the place of a number that is larger than any of 64 bits.
const LARGEST: &str = "1.7976931348623157e308";

/// A JSON value with every number and string as it was written, and every object in its order.
#[derive(Clone, Debug, PartialEq)]
pub enum ExactJson<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// The nearest number that a [`Value`] can hold, and the digits.
    Number(Number, Cow<'a, str>),
    /// A string, and how it is written with its quotes.
    String(String, Cow<'a, str>),
    /// A list.
    Array(Vec<Self>),
    /// An object; no key stands in it twice.
    Object(Vec<(String, Self)>),
}

/// Reads a JSON text; a key that is given twice in one object is an error that names it.
pub fn parse_unique(text: &str) -> serde_json::Result<Value> {
    ExactJson::parse(text).map(Value::from)
}

impl<'a> ExactJson<'a> {
    /// Reads a JSON text; a key that is given twice in one object is an error that names it.
    pub fn parse(text: &'a str) -> serde_json::Result<Self> {
        read(text, text).or_else(|error| match within_range(text) {
            Some(copy) => read(&copy, text),
            None => Err(error),
        })
    }

    /// The same, independent of the text it was read from.
    pub fn into_owned(self) -> ExactJson<'static> {
        match self {
            Self::Null => ExactJson::Null,
            Self::Bool(value) => ExactJson::Bool(value),
            Self::Number(number, digits) => ExactJson::Number(number, digits.into_owned().into()),
            Self::String(text, written) => ExactJson::String(text, written.into_owned().into()),
            Self::Array(list) => ExactJson::Array(list.into_iter().map(Self::into_owned).collect()),
            Self::Object(fields) => {
                ExactJson::Object(fields.into_iter().map(|(key, value)| (key, value.into_owned())).collect())
            }
        }
    }

    /// Makes this equal to `value`. What is equal already keeps its digits.
    pub fn set(&mut self, value: &Value) {
        match (&mut *self, value) {
            (Self::Array(old), Value::Array(new)) if old.len() == new.len() => {
                old.iter_mut().zip(new).for_each(|(old, new)| old.set(new));
            }
            (Self::Object(old), Value::Object(new)) => {
                let mut before: HashMap<String, Self> = std::mem::take(old).into_iter().collect();
                for (key, value) in new {
                    let mut exact = before.remove(key).unwrap_or(Self::Null);
                    exact.set(value);
                    old.push((key.clone(), exact));
                }
            }
            (Self::Number(old, _), Value::Number(new)) if old == new => {}
            (Self::String(old, _), Value::String(new)) if old == new => {}
            (old, new) => *old = new.clone().into(),
        }
    }
}

impl From<Value> for ExactJson<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => {
                let digits = number.to_string().into();
                Self::Number(number, digits)
            }
            Value::String(text) => {
                let written = quoted(&text).into();
                Self::String(text, written)
            }
            Value::Array(list) => Self::Array(list.into_iter().map(Self::from).collect()),
            Value::Object(object) => {
                Self::Object(object.into_iter().map(|(key, value)| (key, value.into())).collect())
            }
        }
    }
}

impl From<ExactJson<'_>> for Value {
    fn from(exact: ExactJson<'_>) -> Self {
        match exact {
            ExactJson::Null => Self::Null,
            ExactJson::Bool(value) => Self::Bool(value),
            ExactJson::Number(number, _) => Self::Number(number),
            ExactJson::String(text, _) => Self::String(text),
            ExactJson::Array(list) => Self::Array(list.into_iter().map(Self::from).collect()),
            ExactJson::Object(fields) => Self::Object(
                fields.into_iter().map(|(key, value)| (key, value.into())).collect::<Map<_, _>>(),
            ),
        }
    }
}

/// As compact JSON.
impl fmt::Display for ExactJson<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(_, written) | Self::String(_, written) => f.write_str(written),
            Self::Array(list) => {
                f.write_str("[")?;
                for (at, item) in list.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Self::Object(fields) => {
                f.write_str("{")?;
                for (at, (key, value)) in fields.iter().enumerate() {
                    write!(f, "{}{}:{value}", if at == 0 { "" } else { "," }, quoted(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A string as JSON.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Reads `text`, with numbers and strings as they stand in `written`: the same text, or one that was in range.
fn read<'a>(text: &str, written: &'a str) -> serde_json::Result<ExactJson<'a>> {
    let mut words = Words { text: written, at: 0 };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Reader(&mut words).deserialize(&mut reader)?;
    reader.end().map(|()| value)
}

/// The text with every number that is out of range replaced, if there is such a number.
fn within_range(text: &str) -> Option<String> {
    let (mut copy, mut done) = (String::new(), 0);
    let mut words = Words { text, at: 0 };
    while let Some(digits) = words.next() {
        let is_out = digits.parse::<f64>().is_ok_and(f64::is_infinite);
        if is_out && serde_json::from_str::<&RawValue>(digits).is_ok() {
            copy += &text[done..words.at - digits.len()];
            copy += if digits.starts_with('-') { "-" } else { "" };
            copy += LARGEST;
            done = words.at;
        }
    }
    (0 < done).then(|| copy + &text[done..])
}

/// The numbers and strings of a JSON text, names among them, in order and as they are written.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let begins = |byte: &u8| matches!(byte, b'"' | b'-' | b'0'..=b'9');
        let start = self.at + bytes[self.at..].iter().position(begins)?;
        let rest = &bytes[start + 1..];
        let length = if bytes[start] == b'"' {
            let mut escaped = false;
            let ends = |byte: &u8| {
                let is_end = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                is_end
            };
            rest.iter().position(ends).map_or(rest.len(), |end| end + 1)
        } else {
            let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
            rest.iter().take_while(is_part).count()
        };
        self.at = start + 1 + length;
        self.text.get(start..self.at)
    }
}

/// Reads one value.
struct Reader<'r, 'a>(&'r mut Words<'a>);

impl<'a> Reader<'_, 'a> {
    fn number<E>(self, number: Number) -> Result<ExactJson<'a>, E> {
        let digits = self.0.next().map_or_else(|| number.to_string().into(), Cow::Borrowed);
        Ok(ExactJson::Number(number, digits))
    }
}

impl<'de, 'a> DeserializeSeed<'de> for Reader<'_, 'a> {
    type Value = ExactJson<'a>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, 'a> Visitor<'de> for Reader<'_, 'a> {
    type Value = ExactJson<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(ExactJson::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        self.number(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        self.number(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        // Whatever is read from JSON is finite.
        self.number(Number::from_f64(value).unwrap_or_else(|| 0.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        let written = self.0.next().map_or_else(|| quoted(value).into(), Cow::Borrowed);
        Ok(ExactJson::String(value.to_owned(), written))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(ExactJson::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(Reader(&mut *self.0))? {
            all.push(item);
        }
        Ok(ExactJson::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<(String, ExactJson<'a>)> = Vec::new();
        while let Some(key) = fields.next_key::<String>()? {
            self.0.next();
            let value = fields.next_value_seed(Reader(&mut *self.0))?;
            all.push((key, value));
        }
        let mut keys: Vec<&str> = all.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            let shown = cut(visible(pair[0]), SHOWN);
            return Err(A::Error::custom(format_args!("the key \"{shown}\" is given twice in one object")));
        }
        Ok(ExactJson::Object(all))
    }
}

#[cfg(test)]
mod tests;
