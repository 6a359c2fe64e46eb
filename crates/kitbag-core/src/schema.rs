//! Schemas of tools: checked for size before anything expensive, compiled, asked, repaired, shown.
//!
//! A schema comes from a server and is not trusted. It refers to nothing outside itself, its patterns take
//! linear time, and what it would cost to follow is counted before it is followed.

use std::fmt;

use jsonschema::{Draft, Validator};
use serde_json::Value;

mod coerce;
mod copy;
mod exact;
mod example;
pub(crate) mod flat;
mod graph;
pub(crate) mod keyword;
mod kinds;
pub(crate) mod merge;
mod neutral;
mod pattern;
mod problem;
mod quick;
pub(crate) mod refs;
pub(crate) mod tree;

#[cfg(test)]
mod tests;

pub use coerce::{Coercion, coerce, read_item, read_property, read_text};
use copy::{Copy, shown};
pub use exact::{ExactJson, parse_unique};
pub use example::{example, filled_example};
use graph::{Effort, Graph, Survey};
#[cfg(feature = "present")]
pub(crate) use kinds::may_be_null;
pub use kinds::property;
pub use neutral::neutral_schema;
pub use problem::Problem;
#[cfg(feature = "present")]
pub(crate) use problem::kind_of;
use quick::Quick;

use crate::model::Limits;

/// Why a schema cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// It has more values than the limit.
    #[error("the schema has more than {limit} values")]
    Large {
        /// The limit.
        limit: usize,
    },
    /// It has more text than the limit.
    #[error("the schema has more than {limit} bytes of text")]
    Long {
        /// The limit.
        limit: usize,
    },
    /// It is nested, or refers on and on, deeper than the limit.
    #[error("the schema is nested, or refers on, deeper than {limit} levels")]
    Deep {
        /// The limit.
        limit: usize,
    },
    /// Its references and choices multiply: one value would be looked at more often than the limit.
    #[error("the schema has more than {limit} ways to look at one value")]
    FanOut {
        /// The limit.
        limit: usize,
    },
    /// A reference leads back to itself without going on to a part of the value.
    #[error("a reference in the schema leads back to itself")]
    Loop,
    /// A reference to another document. Nothing is ever fetched.
    #[error("the schema refers to {reference:?}, which is outside of it")]
    External {
        /// The reference, made visible and cut.
        reference: String,
    },
    /// A reference to a place that is not there.
    #[error("the schema refers to {reference:?}, which it does not have")]
    Missing {
        /// The reference, made visible and cut.
        reference: String,
    },
    /// It is not a schema.
    #[error("the schema is not valid at {at:?}: {why}")]
    Invalid {
        /// A JSON pointer, made visible and cut.
        at: String,
        /// What is wrong there.
        why: String,
    },
}

impl SchemaError {
    pub(crate) fn external(reference: &str) -> Self {
        Self::External { reference: shown(reference) }
    }

    pub(crate) fn missing(reference: &str) -> Self {
        Self::Missing { reference: shown(reference) }
    }

    pub(crate) fn not_a_schema(at: &str) -> Self {
        Self::invalid(at, "is not a schema")
    }

    pub(crate) fn invalid(at: &str, why: &str) -> Self {
        Self::Invalid { at: shown(at), why: shown(why) }
    }
}

/// A schema that values can be checked against. Compiling takes a moment: do it when the first value comes.
pub struct Schema {
    validator: Validator,
    /// What was compiled; problems look up there what would have been allowed.
    copy: Value,
    graph: Graph,
    /// Where it is one of the simplest.
    quick: Option<Quick>,
    notes: Vec<String>,
}

impl Schema {
    /// Compiles a schema of any draft; 2020-12 where it names none that is known.
    pub fn compile(raw: &Value, limits: &Limits) -> Result<Self, SchemaError> {
        tree::measure(raw, limits)?;
        let (survey, graph) = Survey::of(raw, limits)?;
        let Copy { schema: copy, mut notes, places } = copy::copy(raw, &survey)?;
        let validator = match Draft::Draft202012.detect(raw) {
            Draft::Draft202012 | Draft::Unknown => build(&copy, Draft::Draft202012).or_else(|error| {
                // Many schemas are older than they say, or say nothing.
                let (draft, name) = older(&copy).ok_or_else(|| error.clone())?;
                let validator = build(&copy, draft).map_err(|_| error)?;
                notes.push(format!("the schema is read as {name}"));
                Ok(validator)
            }),
            draft => build(&copy, draft),
        };
        let validator = validator.map_err(|error| error.at_its_place(&places))?;
        let quick = Quick::of(&copy);
        Ok(Self { validator, copy, graph, quick, notes })
    }

    /// What of the schema is not checked, and why: short sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether a text is surely a valid value, found out without building it. If not, [`Schema::check`] knows.
    pub fn accepts_text(&self, text: &str) -> bool {
        self.quick.as_ref().is_some_and(|quick| quick.accepts(text))
    }

    /// What is wrong with a value; nothing if it is valid.
    pub fn check(&self, instance: &Value) -> Vec<Problem> {
        match self.graph.effort(instance) {
            Effort::Unbounded => vec![Problem::new("", "is too large to be checked against this schema")],
            _ if self.validator.is_valid(instance) => Vec::new(),
            Effort::Small => problem::collect(&self.validator, &self.copy, instance),
            Effort::Large => vec![Problem::new("", "does not match the schema")],
        }
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("copy", &self.copy).field("notes", &self.notes).finish_non_exhaustive()
    }
}

/// What the compiler says against a copy: the place is one of the copy.
#[derive(Clone)]
struct Refused {
    at: String,
    why: String,
}

impl Refused {
    fn at_its_place(self, places: &[String]) -> SchemaError {
        let inside =
            self.at.strip_prefix("/definitions/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
        let place =
            inside.and_then(|(number, rest)| Some((places.get(number.parse::<usize>().ok()?)?, rest)));
        match place {
            Some((place, rest)) => SchemaError::invalid(&format!("{place}/{rest}"), &self.why),
            None => SchemaError::invalid(&self.at, &self.why),
        }
    }
}

fn build(copy: &Value, draft: Draft) -> Result<Validator, Refused> {
    let options = jsonschema::options()
        .with_draft(draft)
        .with_pattern_options(pattern::engine())
        .should_validate_formats(false)
        // The copy refers to itself only; should it ever not, then nothing is fetched.
        .offline();
    options.build(copy).map_err(|error| Refused {
        at: error.instance_path().to_string(),
        why: problem::message(&error, copy),
    })
}

/// The draft that a schema is really written for, by keywords that 2020-12 reads differently.
fn older(copy: &Value) -> Option<(Draft, &'static str)> {
    let mut found = None;
    for object in copy.as_object().into_iter().flat_map(tree::schemas) {
        let flag = |key: &str| object.get(key).is_some_and(Value::is_boolean);
        if flag("exclusiveMinimum") || flag("exclusiveMaximum") {
            return Some((Draft::Draft4, "draft 4"));
        }
        if object.get("items").is_some_and(Value::is_array) {
            found = Some((Draft::Draft7, "draft 7"));
        }
    }
    found
}
