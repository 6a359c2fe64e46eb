//! JSON in which no object has a key twice. Readers disagree about which of the two counts, so what was checked might
//! not be what its receiver reads.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::text::{cut, visible};

/// The most of a key that is repeated in an error.
const SHOWN: usize = 80;

/// Reads a JSON text; a key that stands twice in one object is an error that names it.
pub fn parse_unique(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<Unique>(text).map(|Unique(value)| value)
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Unique)
    }
}

/// Makes the same values that `serde_json` makes.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any valid JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            if all.contains_key(&key) {
                let shown = cut(visible(&key), SHOWN);
                return Err(A::Error::custom(format_args!("the key \"{shown}\" stands twice in one object")));
            }
            let Unique(value) = fields.next_value()?;
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_any_reader() {
        for text in [
            r#"{"b":[1,-2,1e300,1.5,18446744073709551615,null,true,"é\n"],"a":{"b":{}}}"#,
            "[]",
            "\"x\"",
            "123456789012345678901234567890",
            " null ",
        ] {
            assert_eq!(parse_unique(text).unwrap(), serde_json::from_str::<Value>(text).unwrap(), "{text}");
        }
        for text in ["", "{", "{\"a\":}", "[1,]", "1 2", &"[".repeat(1_000)] {
            assert!(parse_unique(text).is_err() && serde_json::from_str::<Value>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn f26_a_key_that_stands_twice_is_named() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"b":2,"a":1}]}"#, r#"{"a":1,"\u0061":2}"#] {
            let error = parse_unique(text).unwrap_err().to_string();
            assert!(error.contains("\"a\" stands twice"), "{text}: {error}");
        }
        let long = format!(r#"{{"{0}":1,"{0}":2}}"#, "k\u{202e}".repeat(5_000));
        let error = parse_unique(&long).unwrap_err().to_string();
        assert!(error.len() < 200 && !error.contains('\u{202e}'), "{error}");
        assert!(parse_unique(r#"{"a":{"a":1},"b":{"a":1}}"#).is_ok());
    }
}
