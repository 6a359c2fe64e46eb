//! What stands at the root of a schema, where providers take an object and no choices.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::Unfit;
use super::facts::Facts;
use super::rename::Renames;
use super::rewrite::RootForm;
use crate::schema::SchemaError;
use crate::schema::flat::{Flattener, Parts};

/// What arguments stand under that cannot be said at the root.
pub(super) const WRAPPER: &str = "input";
/// Values copied to get all of the root into one piece.
const MOST_VALUES: usize = 100_000;
/// References in a row.
const DEEPEST: usize = 16;

/// How the root can be said.
pub(super) enum Plan<'a> {
    /// As an object, perhaps merged from parts.
    Plain(Cow<'a, Value>),
    /// Only inside another object.
    Wrapped,
}

/// How a root is said so that a provider takes it. What is better said in words is added to `said`.
pub(super) fn plan<'a>(
    root: &'a Value,
    facts: &Facts<'_>,
    form: RootForm,
    renames: &Renames,
    said: &mut Vec<String>,
) -> Result<Plan<'a>, Unfit> {
    let has = |keys: &[&str]| {
        keys.iter().any(|key| root.get(key).is_some_and(|value| !value.is_null() || *key == "const"))
    };
    let odd = ["anyOf", "oneOf", "allOf", "not", "enum", "const"];
    if !has(&["$ref", "$dynamicRef", "$recursiveRef"]) && (form == RootForm::Free || !has(&odd)) {
        return Ok(Plan::Plain(Cow::Borrowed(root)));
    }
    let Some(object) = root.as_object() else { return Ok(Plan::Wrapped) };
    let parts = if form == RootForm::Free { Parts::References } else { Parts::All };
    let mut flattener = Flattener::new(root, parts, MOST_VALUES, DEEPEST);
    let mut whole = flattener.whole(object, 0)?.ok_or(SchemaError::Loop)?;
    // A part of the root that something refers to must stay where it is.
    let torn = form == RootForm::Plain && facts.odd_refs && object.contains_key("allOf");
    if !flattener.lost.is_empty() || torn {
        return Ok(Plan::Wrapped);
    }
    if form == RootForm::Plain {
        for (keyword, intro) in [("anyOf", "Give at least one of: "), ("oneOf", "Give exactly one of: ")] {
            let choice = whole.get(keyword).filter(|choice| is_named(&whole, choice));
            if let Some(names) = choice.and_then(|choice| only_required(choice, renames)) {
                said.push(format!("{intro}{}.", names.join("; ")));
                whole.shift_remove(keyword);
            }
        }
        if odd.iter().any(|key| whole.contains_key(*key)) {
            said.clear();
            return Ok(Plan::Wrapped);
        }
    }
    Ok(Plan::Plain(Cow::Owned(Value::Object(whole))))
}

/// Whether all that a choice may require is named beside it.
fn is_named(whole: &Map<String, Value>, choice: &Value) -> bool {
    let named = |name: &Value| {
        whole.get("properties").zip(name.as_str()).is_some_and(|(all, name)| all.get(name).is_some())
    };
    let required =
        choice.as_array().into_iter().flatten().filter_map(|branch| branch.get("required")?.as_array());
    required.flatten().all(named)
}

/// The branches of a choice that say nothing but what must be given, in words.
pub(super) fn only_required(choice: &Value, renames: &Renames) -> Option<Vec<String>> {
    let words = |branch: &Value| {
        let branch = branch.as_object()?;
        let plain = branch.iter().all(|(key, value)| key == "required" || key == "type" && value == "object");
        let names = branch
            .get("required")?
            .as_array()?
            .iter()
            .map(|name| Some(format!("`{}`", renames.shown(name.as_str()?))));
        let names = names.collect::<Option<Vec<_>>>()?;
        (plain && !names.is_empty()).then(|| names.join(" with "))
    };
    let branches = choice.as_array().filter(|branches| !branches.is_empty())?;
    branches.iter().map(words).collect()
}

/// The root as the one property of another.
pub(super) fn wrap(schema: Map<String, Value>) -> Map<String, Value> {
    let mut outer = Map::new();
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ WRAPPER: schema }));
    outer.insert("required".to_owned(), json!([WRAPPER]));
    outer.insert("additionalProperties".to_owned(), false.into());
    outer
}
