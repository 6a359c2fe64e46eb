//! A schema in the part of OpenAPI that Gemini's `parameters` takes: no references, one type each, a choice
//! with nothing beside it. What is lost by that is noted; arguments are still checked against the whole schema.

use serde_json::{Map, Value, json};

use super::facts::Facts;
use super::rename::Renames;
use super::rewrite::{Keys, Place, RootForm, not_a_schema};
use super::root::{self, Plan, WRAPPER, only_required};
use super::{Back, Made, NativeRequest, Unfit, goes_by};
use crate::catalog::Tool;
use crate::schema::flat::{Flattener, Parts};
use crate::schema::merge::merge;
use crate::schema::tree::count;

mod kind;

/// How many times as large a schema may get without its references.
const GROWTH: usize = 5;

/// A tool's schema in this form.
pub(super) fn made(tool: &Tool, request: &NativeRequest) -> Result<Made, Unfit> {
    let facts = Facts::of(&tool.input, Keys::Narrow, &request.limits)?;
    let renames = Renames::new(&tool.input, &facts, Keys::Narrow);
    let (mut said, mut notes) = (Vec::new(), Vec::new());
    let plan = root::plan(&tool.input, &facts, RootForm::Plain, &renames, &mut said)?;
    let merged;
    let (root, wrapped) = match plan {
        Plan::Plain(root) => {
            merged = root;
            (&*merged, false)
        }
        Plan::Wrapped => (&*tool.input, true),
    };
    let limit = request.limits.schema_nodes.saturating_mul(GROWTH);
    let mut reducer = Reducer {
        flattener: Flattener::new(root, Parts::All, limit, request.limits.schema_depth),
        renames: &renames,
        loosened: false,
    };
    let schema = if wrapped {
        let inner = reducer.schema(root, Place::Unnamed, 0)?;
        let Value::Object(outer) =
            json!({"type": "object", "properties": {WRAPPER: inner}, "required": [WRAPPER]})
        else {
            return Err(not_a_schema(""));
        };
        notes.push(format!("its arguments are wrapped in `{WRAPPER}`"));
        outer
    } else {
        let Value::Object(object) = root else { return Err(not_a_schema("")) };
        reducer.single(object, "object", Place::Tool(tool.name.as_str()), 0)?
    };
    if !said.is_empty() {
        notes.push("a choice between arguments is said in its description".to_owned());
    }
    notes.extend(renames.note());
    if reducer.loosened {
        notes.push("its schema contains itself, which is shown as an object of any kind".to_owned());
    }
    if !reducer.flattener.lost.is_empty() {
        let dropped = reducer.flattener.lost.into_iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("{} does not take: {dropped}", request.provider));
    }
    Ok(Made { schema, back: Back::new(goes_by(tool), renames, wrapped), said, notes, opened: false })
}

struct Reducer<'a> {
    /// Also counts, and knows what the form cannot say.
    flattener: Flattener<'a>,
    renames: &'a Renames,
    /// Something recursive was cut.
    loosened: bool,
}

/// A branch of a choice, and the references that led to it.
struct Branch {
    schema: Map<String, Value>,
    followed: Vec<String>,
}

impl Reducer<'_> {
    fn schema(
        &mut self,
        schema: &Value,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Unfit> {
        let none = Map::new();
        let object = match schema {
            Value::Object(object) => object,
            Value::Bool(true) => &none,
            Value::Bool(false) => {
                self.flattener.lost.insert("false".to_owned());
                &none
            }
            _ => return Err(not_a_schema("")),
        };
        self.flattener.spend(1, depth)?;
        if !object.keys().any(|keyword| leads_on(keyword)) {
            return self.kinds(object, place, depth);
        }
        let before = self.flattener.followed.len();
        let reduced = match self.flattener.whole(object, depth)? {
            Some(flat) => self.choices(flat, place, depth),
            None => Ok(self.loose(object)),
        };
        self.flattener.followed.truncate(before);
        reduced
    }

    /// Where a schema comes back to itself.
    fn loose(&mut self, object: &Map<String, Value>) -> Map<String, Value> {
        self.loosened = true;
        let mut loose = Map::new();
        loose.insert("type".to_owned(), "object".into());
        if let Some(text) = object.get("description").filter(|text| text.is_string()) {
            loose.insert("description".to_owned(), text.clone());
        }
        loose
    }

    fn choices(
        &mut self,
        mut flat: Map<String, Value>,
        place: Place<'_>,
        depth: usize,
    ) -> Result<Map<String, Value>, Unfit> {
        self.flattener.spend(0, depth)?;
        let mut branches = None;
        for (keyword, intro) in [("anyOf", "at least one of"), ("oneOf", "exactly one of")] {
            let Some(choice) = flat.shift_remove(keyword) else { continue };
            if let Some(names) = only_required(&choice, self.renames) {
                super::describe::hint(&mut flat, &[format!("{intro}: {}", names.join("; "))]);
            } else if branches.is_some() {
                self.flattener.lost.insert(keyword.to_owned());
            } else if let Value::Array(choice) = choice {
                branches = Some(self.branches(&choice, &mut flat, depth)?);
            }
        }
        let Some(branches) = branches.filter(|branches| !branches.is_empty()) else {
            return self.kinds(&flat, place, depth);
        };
        let before = self.flattener.followed.len();
        if let [only] = branches.as_slice() {
            self.flattener.followed.extend(only.followed.iter().cloned());
            merge(&mut flat, &only.schema, &mut self.flattener.lost);
            let reduced = self.choices(flat, place, depth + 1);
            self.flattener.followed.truncate(before);
            return reduced;
        }
        let words = ["description", "title", "default", "nullable"].map(|word| flat.shift_remove(word));
        let [description, title, default, nullable] = words;
        let mut reduced = Vec::new();
        for branch in branches {
            self.flattener.spend(count(&flat), depth)?;
            let mut whole = branch.schema;
            merge(&mut whole, &flat, &mut self.flattener.lost);
            self.flattener.followed.extend(branch.followed);
            let one = self.choices(whole, Place::Unnamed, depth + 1)?;
            self.flattener.followed.truncate(before);
            reduced.push(one);
        }
        let mut outer = Map::new();
        let told = description
            .or(title
                .filter(|title| title.as_str().is_some_and(|title| !super::rewrite::repeats(title, place))));
        outer.extend(told.map(|text| ("description".to_owned(), text)));
        if default.as_ref().is_some_and(|value| !value.is_null()) {
            self.flattener.lost.insert("default".to_owned());
        }
        let hints: Vec<_> = default
            .filter(|value| !value.is_null())
            .map(|value| format!("default: {value}"))
            .into_iter()
            .collect();
        super::describe::hint(&mut outer, &hints);
        outer.extend(nullable.map(|nullable| ("nullable".to_owned(), nullable)));
        Ok(any_of(reduced, outer))
    }

    /// The branches that take something else than null; one that takes null makes the whole `nullable`.
    fn branches(
        &mut self,
        choice: &[Value],
        flat: &mut Map<String, Value>,
        depth: usize,
    ) -> Result<Vec<Branch>, Unfit> {
        let mut branches = Vec::new();
        for branch in choice {
            let before = self.flattener.followed.len();
            let schema = match branch {
                Value::Object(object) => match self.flattener.whole(object, depth + 1)? {
                    Some(schema) => schema,
                    None => self.loose(object),
                },
                Value::Bool(true) => Map::new(),
                Value::Bool(false) => continue,
                _ => return Err(not_a_schema("")),
            };
            let followed = self.flattener.followed.split_off(before);
            let null = schema.get("type").is_some_and(|kind| kind == "null")
                || schema.get("const").is_some_and(Value::is_null);
            if null {
                flat.insert("nullable".to_owned(), true.into());
            } else {
                branches.push(Branch { schema, followed });
            }
        }
        Ok(branches)
    }
}

/// Keywords that make a schema of others.
fn leads_on(keyword: &str) -> bool {
    matches!(keyword, "$ref" | "$dynamicRef" | "$recursiveRef" | "allOf" | "anyOf" | "oneOf")
}

/// A choice. Nothing may stand beside it, so what is said of all of it is said in its first branch.
fn any_of(reduced: Vec<Map<String, Value>>, outer: Map<String, Value>) -> Map<String, Value> {
    let mut branches: Vec<Value> = Vec::with_capacity(reduced.len());
    for branch in reduced {
        let inner = match branch.get("anyOf") {
            Some(Value::Array(inner)) => inner.clone(),
            _ => vec![Value::Object(branch)],
        };
        for branch in inner {
            if !branches.contains(&branch) {
                branches.push(branch);
            }
        }
    }
    if let Some(Value::Object(first)) = branches.first_mut() {
        for (word, said) in outer {
            let said = match (word.as_str(), &said, first.get("description")) {
                ("description", Value::String(outer), Some(Value::String(inner))) if outer != inner => {
                    format!("{outer} {inner}").into()
                }
                _ => said,
            };
            first.insert(word, said);
        }
    }
    if branches.len() == 1
        && let Some(Value::Object(only)) = branches.pop()
    {
        return only;
    }
    Map::from_iter([("anyOf".to_owned(), Value::Array(branches))])
}
