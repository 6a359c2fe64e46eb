//! How much of what a provider takes in strict definitions.

use serde_json::{Map, Value};

use crate::schema::tree::schemas;

/// What a provider takes in a strict definition. One that exceeds it is sent as it is, not strict.
#[derive(Debug)]
pub(in crate::present::native) struct StrictRules {
    /// Everything is required; what was not may be null.
    pub(in crate::present::native) all_required: bool,
    /// Whether definitions may lead back to themselves.
    pub(in crate::present::native) recursion: bool,
    /// Keywords it enforces, besides those that every provider does.
    pub(in crate::present::native) keywords: &'static [&'static str],
    /// Texts of a `format` that it knows.
    pub(in crate::present::native) formats: &'static [&'static str],
    /// The largest `minItems`.
    pub(in crate::present::native) min_items: u64,
    /// Levels of nesting.
    pub(in crate::present::native) levels: usize,
    /// Properties of one schema.
    pub(in crate::present::native) properties: usize,
    /// Values of all `enum`s of one schema.
    pub(in crate::present::native) enum_values: usize,
    /// The characters of one `enum` that has more values than the first number.
    pub(in crate::present::native) long_enum: (usize, usize),
    /// The characters of all names of properties and definitions, and of all values.
    pub(in crate::present::native) characters: usize,
    /// Of a whole request: strict tools, optional arguments, arguments of several types.
    pub(in crate::present::native) request: Weight,
}

impl StrictRules {
    /// Whether the provider takes as much.
    pub(super) fn check(&self, schema: &Map<String, Value>) -> Result<(), String> {
        let StrictRules { properties, enum_values, long_enum: (many, long), characters, .. } = self;
        let (mut named, mut listed, mut chars) = (0, 0, 0);
        let length = |value: &Value| match value {
            Value::String(text) => text.chars().count(),
            value => value.to_string().len(),
        };
        for object in schemas(schema) {
            for keyword in ["properties", "$defs", "definitions"] {
                let Some(Value::Object(table)) = object.get(keyword) else { continue };
                named += if keyword == "properties" { table.len() } else { 0 };
                chars += table.keys().map(|name| name.chars().count()).sum::<usize>();
            }
            chars += object.get("const").map_or(0, length);
            if let Some(Value::Array(list)) = object.get("enum") {
                let own: usize = list.iter().map(length).sum();
                if *many < list.len() && *long < own {
                    return Err(format!(
                        "one of its enums has more than {many} values and {long} characters"
                    ));
                }
                listed += list.len();
                chars += own;
            }
        }
        if *properties < named {
            return Err(format!("its schema has more than {properties} properties"));
        }
        if *enum_values < listed {
            return Err(format!("its enums have more than {enum_values} values"));
        }
        if *characters < chars {
            return Err(format!("its names and values have more than {characters} characters"));
        }
        Ok(())
    }
}

/// What a strict tool takes of a request's budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::present::native) struct Weight {
    pub(in crate::present::native) tools: usize,
    pub(in crate::present::native) optional: usize,
    pub(in crate::present::native) unions: usize,
}

impl Weight {
    /// No bound for a whole request.
    pub(in crate::present::native) const UNBOUNDED: Self =
        Self { tools: usize::MAX, optional: usize::MAX, unions: usize::MAX };

    pub(in crate::present::native) fn and(&self, other: &Self) -> Self {
        Self {
            tools: self.tools + other.tools,
            optional: self.optional + other.optional,
            unions: self.unions + other.unions,
        }
    }

    /// What of a budget is exceeded.
    pub(in crate::present::native) fn over(&self, budget: &Self) -> Option<String> {
        let Self { tools, optional, unions } = budget;
        if *tools < self.tools {
            Some(format!("the request has {tools} strict tools already"))
        } else if *optional < self.optional {
            Some(format!("the request's strict tools would have more than {optional} optional arguments"))
        } else if *unions < self.unions {
            Some(format!(
                "the request's strict tools would have more than {unions} arguments of several types"
            ))
        } else {
            None
        }
    }
}
