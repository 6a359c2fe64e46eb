//! The commonest schemas, asked about a text without building its value: an object of properties that have a type and
//! nothing else. It only ever says that a text is surely valid and has no key twice; everything else is for the
//! validator.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// As many properties as there are bits to tick them off with.
const MOST: usize = 64;

/// An object whose properties have a type and nothing else.
pub(super) struct Quick {
    properties: Box<[(Box<str>, Kind)]>,
    /// One bit for each property that must be there.
    required: u64,
    others: Others,
}

/// Whether there may be other properties.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Allowed,
    Refused,
}

/// The type a property must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Quick {
    /// None for a schema that says anything more than types.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let schema = schema.as_object()?;
        let known = ["type", "properties", "required", "additionalProperties"];
        let none = Map::new();
        let properties = schema.get("properties").map_or(Some(&none), Value::as_object)?;
        let is_plain =
            schema.get("type")? == "object" && schema.keys().all(|key| known.contains(&key.as_str()));
        if !is_plain || MOST < properties.len() {
            return None;
        }
        let named = |(name, schema): (&String, &Value)| Some((name.as_str().into(), Kind::of(schema)?));
        let properties: Box<[(Box<str>, Kind)]> = properties.iter().map(named).collect::<Option<_>>()?;
        let mut required = 0;
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str()?;
            required |= 1 << properties.iter().position(|(known, _)| **known == *name)?;
        }
        let others = match schema.get("additionalProperties") {
            None | Some(Value::Bool(true)) => Others::Allowed,
            Some(Value::Bool(false)) => Others::Refused,
            Some(_) => return None,
        };
        Some(Self { properties, required, others })
    }

    /// Whether a text is surely a valid object.
    pub(super) fn accepts(&self, text: &str) -> bool {
        let mut reader = serde_json::Deserializer::from_str(text);
        (&mut reader).deserialize_map(Whole(self)).unwrap_or(false) && reader.end().is_ok()
    }
}

impl Kind {
    fn of(schema: &Value) -> Option<Self> {
        let schema = match schema {
            Value::Bool(true) => return Some(Self::Any),
            Value::Object(schema) => schema,
            _ => return None,
        };
        let mut kind = Self::Any;
        for (key, value) in schema {
            kind = match (key.as_str(), value.as_str()?) {
                ("type", "null") => Self::Null,
                ("type", "boolean") => Self::Boolean,
                ("type", "integer") => Self::Integer,
                ("type", "number") => Self::Number,
                ("type", "string") => Self::String,
                ("type", "array") => Self::Array,
                ("type", "object") => Self::Object,
                _ => return None,
            };
        }
        Some(kind)
    }
}

/// All of it.
struct Whole<'q>(&'q Quick);

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (mut seen, mut others, mut fits) = (0_u64, 0, true);
        while let Some(place) = map.next_key_seed(Place(self.0))? {
            let kind = match place {
                // A key twice is refused, by whoever remembers the keys.
                Some(place) if seen & (1 << place) != 0 => return Ok(false),
                Some(place) => {
                    seen |= 1 << place;
                    self.0.properties[place].1
                }
                None => {
                    others += 1;
                    fits &= self.0.others == Others::Allowed && others == 1;
                    Kind::Any
                }
            };
            fits &= map.next_value_seed(kind)?;
        }
        Ok(fits && seen & self.0.required == self.0.required)
    }
}

/// Which property a name is.
struct Place<'q>(&'q Quick);

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Place<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.properties.iter().position(|(known, _)| **known == *name))
    }
}

/// Whether a value is of a kind. Read to its end either way: a text that cannot be read is not valid.
impl<'de> DeserializeSeed<'de> for Kind {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Kind {
    fn takes(self, kinds: &[Self]) -> bool {
        self == Self::Any || kinds.contains(&self)
    }
}

impl<'de> Visitor<'de> for Kind {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(self.takes(&[Self::Null]))
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(self.takes(&[Self::Boolean]))
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(self.takes(&[Self::Integer, Self::Number]))
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(self.takes(&[Self::Integer, Self::Number]))
    }

    // 1.0 is an integer, too: for the validator to say.
    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(self.takes(&[Self::Number]))
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(self.takes(&[Self::String]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let mut fits = self.takes(&[Self::Array]);
        while let Some(item) = items.next_element_seed(Self::Any)? {
            fits &= item;
        }
        Ok(fits)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<bool, A::Error> {
        let mut fits = self.takes(&[Self::Object]);
        let mut count = 0;
        while fields.next_key_seed(Self::Any)?.is_some() {
            count += 1;
            // Of two keys nobody knows here whether they are the same.
            fits &= fields.next_value_seed(Self::Any)? && count == 1;
        }
        Ok(fits)
    }
}

#[cfg(test)]
mod tests;
