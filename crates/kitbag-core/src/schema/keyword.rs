//! Which keywords of JSON Schema hold schemas, and for which part of a value.

use serde_json::Value;

/// Keywords that say where a schema stands.
pub(crate) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// The part of a value that a schema inside a schema looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The same value again.
    Same,
    /// The property of that name.
    Property,
    /// Any property.
    Properties,
    /// The names of the properties.
    Names,
    /// The item at that place.
    Item,
    /// Any item.
    Items,
}

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A schema.
    One(Reach),
    /// A list of schemas.
    List(Reach),
    /// Schemas by name.
    Table(Reach),
    /// The place of a schema.
    Reference,
    /// An assertion without schemas.
    Assertion,
    /// Nothing that decides whether a value is valid. `format` and `content…` are here on purpose: the
    /// standard makes them annotations, servers write formats no validator knows, and what one validator
    /// takes for a date another does not. The server has the last word on those.
    Nothing,
}

impl Holds {
    pub(super) fn of(keyword: &str, value: &Value) -> Self {
        match keyword {
            "allOf" | "anyOf" | "oneOf" => Self::List(Reach::Same),
            "not" | "if" | "then" | "else" => Self::One(Reach::Same),
            "dependentSchemas" | "dependencies" => Self::Table(Reach::Same),
            "properties" => Self::Table(Reach::Property),
            "patternProperties" => Self::Table(Reach::Properties),
            "additionalProperties" | "unevaluatedProperties" => Self::One(Reach::Properties),
            "propertyNames" => Self::One(Reach::Names),
            "prefixItems" => Self::List(Reach::Item),
            "items" if value.is_array() => Self::List(Reach::Item),
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => Self::One(Reach::Items),
            "$ref" | "$dynamicRef" | "$recursiveRef" => Self::Reference,
            "type" | "enum" | "const" | "required" | "minLength" | "maxLength" | "pattern" | "minimum"
            | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minItems"
            | "maxItems" | "uniqueItems" | "minContains" | "maxContains" | "minProperties"
            | "maxProperties" | "dependentRequired" => Self::Assertion,
            _ => Self::Nothing,
        }
    }
}

/// One schema inside another.
pub(crate) struct Member<'a> {
    /// Its place under the keyword: a name, a number, or nothing.
    pub(crate) segment: Option<Segment<'a>>,
    pub(crate) reach: Reach,
    pub(crate) schema: &'a Value,
}

/// A step of a JSON pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segment<'a> {
    Name(&'a str),
    Index(usize),
}

/// The schemas that a keyword holds; none where it is not of the shape it should be.
pub(crate) fn members<'a>(keyword: &str, value: &'a Value) -> Vec<Member<'a>> {
    let member = |segment, reach, schema| Member { segment, reach, schema };
    match (Holds::of(keyword, value), value) {
        (Holds::One(reach), schema) if is_schema(schema) => vec![member(None, reach, schema)],
        (Holds::List(reach), Value::Array(list)) => {
            let listed = list.iter().enumerate().filter(|(_, schema)| is_schema(schema));
            listed.map(|(index, schema)| member(Some(Segment::Index(index)), reach, schema)).collect()
        }
        (Holds::Table(reach), Value::Object(table)) => {
            let named = table.iter().filter(|(_, schema)| is_schema(schema));
            named.map(|(name, schema)| member(Some(Segment::Name(name)), reach, schema)).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a keyword holds schemas by name: a property may be called `enum` without being one.
pub(crate) fn is_table(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs" | "definitions"
    )
}

/// Whether a keyword holds data, which may look like a schema and is none.
pub(crate) fn is_data(keyword: &str) -> bool {
    matches!(keyword, "enum" | "const" | "default" | "examples")
}

/// The types of JSON Schema.
pub(crate) const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Whether there is a type of that name.
pub(crate) fn is_type(kind: &str) -> bool {
    TYPES.contains(&kind)
}

/// Whether a keyword is only written and not set: programs write null for that, and PHP a list for an empty object.
pub(crate) fn is_unset(keyword: &str, value: &Value) -> bool {
    let holds_schemas =
        || matches!(Holds::of(keyword, value), Holds::One(_) | Holds::List(_) | Holds::Table(_));
    value.is_null() && !matches!(keyword, "default" | "const")
        || value.as_array().is_some_and(Vec::is_empty) && holds_schemas()
}

/// Whether a value can stand where a schema is asked for.
pub(super) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}
