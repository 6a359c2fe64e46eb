//! The copy of a schema that is compiled: only what decides, each part once, references by number.
//!
//! The compiler never sees the server's own `$id`, `$schema` or `$ref` texts, so what it follows is what was
//! counted. Small faults that servers really make are left out with a note instead of costing the tool.

use serde_json::{Map, Value, json};

use super::SchemaError;
use super::graph::Survey;
use super::keyword::{Holds, Segment, is_schema, is_type, is_unset};
use super::refs::address;
use crate::text::visible;

/// Notes kept of one schema.
const MOST_NOTES: usize = 16;
/// The longest text of a server shown in a note or error, in characters.
const LONGEST_SHOWN: usize = 120;

/// A schema ready to be compiled.
pub(super) struct Copy {
    pub(super) schema: Value,
    pub(super) notes: Vec<String>,
    /// Where in the original each numbered definition stands.
    pub(super) places: Vec<String>,
}

pub(super) fn copy(root: &Value, survey: &Survey<'_>) -> Result<Copy, SchemaError> {
    let mut copier = Copier { survey, root, notes: Vec::new() };
    let mut schema = copier.schema(root, "")?;
    let mut definitions = Map::new();
    let mut places = Vec::new();
    for (number, target) in survey.targets.iter().enumerate() {
        let place = shown(target.reference.strip_prefix('#').unwrap_or(target.reference));
        if !std::ptr::eq(target.schema, root) {
            definitions.insert(number.to_string(), copier.schema(target.schema, &place)?);
        }
        places.push(place);
    }
    if let (false, Value::Object(schema)) = (definitions.is_empty(), &mut schema) {
        schema.insert("definitions".to_owned(), Value::Object(definitions));
    }
    Ok(Copy { schema, notes: copier.notes, places })
}

/// A text of a server as it may stand in a note: visible and short.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible(&shown)
}

struct Copier<'s, 'a> {
    survey: &'s Survey<'a>,
    root: &'a Value,
    notes: Vec<String>,
}

impl Copier<'_, '_> {
    /// A schema with everything inside it; goes as deep as the document does.
    fn schema(&mut self, schema: &Value, at: &str) -> Result<Value, SchemaError> {
        let object = match schema {
            Value::Bool(_) => return Ok(schema.clone()),
            Value::Object(object) => object,
            _ => return Err(SchemaError::not_a_schema(at)),
        };
        let mut copy = Map::new();
        for (keyword, value) in object {
            let place = format!("{at}/{keyword}");
            if let Some(kept) = self.keyword(schema, keyword, value, &place)? {
                // A dynamic reference is a plain one here: only a schema that extends another could tell.
                let keyword = if kept.reference { "$ref" } else { keyword };
                copy.insert(keyword.to_owned(), kept.value);
            }
        }
        Ok(Value::Object(copy))
    }

    /// The schema in place, or a reference where references lead to it too, so that each part stands once.
    fn inner(&mut self, schema: &Value, at: &str) -> Result<Value, SchemaError> {
        match self.reference(schema) {
            Some(reference) => Ok(json!({ "$ref": reference })),
            None => self.schema(schema, at),
        }
    }

    fn reference(&self, schema: &Value) -> Option<String> {
        let number = self.survey.numbers.get(&address(schema))?;
        Some(if std::ptr::eq(schema, self.root) { "#".to_owned() } else { format!("#/definitions/{number}") })
    }

    fn keyword(
        &mut self,
        schema: &Value,
        keyword: &str,
        value: &Value,
        at: &str,
    ) -> Result<Option<Kept>, SchemaError> {
        let holds = Holds::of(keyword, value);
        if holds != Holds::Nothing && is_unset(keyword, value) {
            return Ok(self.without(at, if value.is_null() { "is null" } else { "is an empty list" }));
        }
        let value = match (holds, value) {
            (Holds::Nothing, _) => None,
            (Holds::One(_), inner) if is_schema(inner) => Some(self.inner(inner, at)?),
            (Holds::List(_), Value::Array(list)) => Some(self.list(list, at)?),
            (Holds::Table(_), Value::Object(table)) => Some(self.table(keyword, table, at)?),
            (Holds::One(_) | Holds::List(_) | Holds::Table(_), _) => {
                return Err(SchemaError::invalid(at, "does not hold schemas"));
            }
            (Holds::Reference, Value::String(reference)) => {
                let target = self.survey.index.find(reference, schema).ok();
                let target = target.and_then(|target| self.reference(target));
                let target = target.ok_or_else(|| SchemaError::missing(reference))?;
                return Ok(Some(Kept { value: target.into(), reference: true }));
            }
            (Holds::Reference, _) => return Err(SchemaError::invalid(at, "is not a string")),
            (Holds::Assertion, _) => return Ok(self.assertion(keyword, value, at)),
        };
        Ok(value.map(Kept::plain))
    }

    fn list(&mut self, list: &[Value], at: &str) -> Result<Value, SchemaError> {
        let inner = |(index, schema): (usize, &Value)| self.inner(schema, &join(at, Segment::Index(index)));
        list.iter().enumerate().map(inner).collect::<Result<_, _>>().map(Value::Array)
    }

    fn table(&mut self, keyword: &str, table: &Map<String, Value>, at: &str) -> Result<Value, SchemaError> {
        let mut copy = Map::new();
        for (name, schema) in table {
            let at = join(at, Segment::Name(name));
            if keyword == "patternProperties"
                && let Err(why) = self.survey.patterns.known(name)
            {
                self.note(&at, why);
                continue;
            }
            // The older `dependencies` hold lists of names too.
            let names = keyword == "dependencies" && schema.is_array();
            copy.insert(name.clone(), if names { schema.clone() } else { self.inner(schema, &at)? });
        }
        Ok(Value::Object(copy))
    }

    fn assertion(&mut self, keyword: &str, value: &Value, at: &str) -> Option<Kept> {
        let odd = match (keyword, value) {
            ("pattern", Value::String(pattern)) => self.survey.patterns.known(pattern).err(),
            ("type", Value::String(kind)) if !is_type(kind) => Some("is not a JSON type"),
            ("type", Value::Array(kinds)) if !kinds.iter().all(|kind| kind.as_str().is_some_and(is_type)) => {
                Some("is not a list of JSON types")
            }
            ("type" | "enum", Value::Array(list)) if list.is_empty() => Some("is an empty list"),
            // Draft 3 and hand-written schemas put it on the property itself.
            ("required", Value::Bool(_)) => Some("is not a list of names"),
            _ => None,
        };
        match odd {
            Some(why) => self.without(at, why),
            None => Some(Kept::plain(value.clone())),
        }
    }

    fn without(&mut self, at: &str, why: &str) -> Option<Kept> {
        self.note(at, why);
        None
    }

    fn note(&mut self, at: &str, why: &str) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(format!("{} {why}, it is not checked", shown(at)));
        } else if self.notes.len() == MOST_NOTES {
            self.notes.push("more of the schema is not checked".to_owned());
        }
    }
}

struct Kept {
    value: Value,
    reference: bool,
}

impl Kept {
    fn plain(value: Value) -> Self {
        Self { value, reference: false }
    }
}

fn join(at: &str, segment: Segment<'_>) -> String {
    match segment {
        Segment::Name(name) => format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")),
        Segment::Index(index) => format!("{at}/{index}"),
    }
}
