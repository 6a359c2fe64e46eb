//! Which keywords of JSON Schema hold schemas, and for which part of a value.

use serde_json::Value;

/// The part of a value that a schema inside a schema looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
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
pub(super) enum Holds {
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
pub(super) struct Member<'a> {
    /// Its place under the keyword: a name, a number, or nothing.
    pub(super) segment: Option<Segment<'a>>,
    pub(super) reach: Reach,
    pub(super) schema: &'a Value,
}

/// A step of a JSON pointer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Segment<'a> {
    Name(&'a str),
    Index(usize),
}

/// The schemas that a keyword holds; none where it is not of the shape it should be.
pub(super) fn members<'a>(keyword: &str, value: &'a Value) -> Vec<Member<'a>> {
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

/// Whether a value can stand where a schema is asked for.
pub(super) fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}
