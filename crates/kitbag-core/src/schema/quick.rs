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
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::Schema;
    use super::*;
    use crate::model::Limits;

    fn quick() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
                "list": {"type": "array"}, "any": {}, "flag": {"type": "boolean"},
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn only_schemas_of_bare_types_are_quick() {
        assert!(Quick::of(&quick()).is_some());
        for (key, value) in [
            ("enum", json!([1])),
            ("allOf", json!([])),
            ("additionalProperties", json!({"type": "string"})),
            ("required", json!(["unknown"])),
            ("type", json!(["object"])),
            ("properties", json!({"text": {"type": "string", "minLength": 1}})),
            ("properties", json!({"text": {"type": ["string", "null"]}})),
            ("properties", json!({"text": false})),
        ] {
            let mut schema = quick();
            schema[key] = value;
            assert!(Quick::of(&schema).is_none(), "{schema}");
        }
    }

    #[track_caller]
    fn check(text: &str, accepted: bool) {
        let quick = Quick::of(&quick()).unwrap();
        assert_eq!(quick.accepts(text), accepted, "{text}");
    }

    #[test]
    fn what_is_not_surely_valid_is_left_to_the_validator() {
        check(r#" {"text": "a", "count": 1, "ratio": 1.5, "list": [[1], {"a": null}], "any": {}} "#, true);
        check(r#"{"text": "a\u00e9"}"#, true);
        check(r#"{"count": 1}"#, false);
        check(r#"{"text": 1}"#, false);
        check(r#"{"text": "a", "count": 1.0}"#, false);
        check(r#"{"text": "a", "other": 1}"#, false);
        check(r#"{"text": 1, "text": "a"}"#, false);
        check(r#"{"text": "a"} {}"#, false);
        check(r#"{"text": "a", "any": [1e999]}"#, false);
        check(r#"{"text": "a", "any": "\ud800"}"#, false);
        check("[]", false);
        check("", false);
        check(r#"{"text": "a", "any": {"b": 1, "a": {}}}"#, false);
        check(r#"{"text": "a", "any": {"b": [{"c": 1}]}}"#, true);
        check(&format!(r#"{{"text": "a", "any": {}{}}}"#, "[".repeat(200), "]".repeat(200)), false);
    }

    #[test]
    fn f26_a_key_twice_is_never_surely_valid() {
        let mut open = quick();
        open["additionalProperties"] = true.into();
        let open = Quick::of(&open).unwrap();
        assert!(open.accepts(r#"{"text": "a", "x": 1}"#));
        for text in [
            r#"{"text": "a", "text": "b"}"#,
            r#"{"text": "a", "\u0074ext": "b"}"#,
            r#"{"text": "a", "x": 1, "x": 2}"#,
            r#"{"text": "a", "any": {"x": 1, "x": 2}}"#,
            r#"{"text": "a", "list": [[{"x": 1, "\u0078": 2}]]}"#,
        ] {
            assert!(!open.accepts(text), "{text}");
            assert!(crate::schema::parse_unique(text).is_err(), "{text}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
        ];
        let list = |inner| proptest::collection::vec(inner, 0..3).prop_map(Value::from);
        leaf.prop_recursive(2, 8, 3, list)
    }

    proptest! {
        #[test]
        fn what_is_accepted_the_validator_accepts(
            fields in proptest::collection::hash_map("text|count|ratio|list|any|flag|other", value(), 0..7)
        ) {
            let fields: Map<String, Value> = fields.into_iter().collect();
            let value = Value::Object(fields);
            if Quick::of(&quick()).unwrap().accepts(&value.to_string()) {
                let schema = Schema::compile(&quick(), &Limits::default()).unwrap();
                prop_assert!(schema.check(&value).is_empty(), "{value}");
            }
        }
    }
}
