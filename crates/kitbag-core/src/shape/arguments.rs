//! Changes to arguments, each with its way back.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Rule, RuleError, Verdict};
use crate::catalog::{Tool, Undo};
use crate::schema::ExactJson;
use crate::schema::tree::values;
use crate::text::{nearest, neutral};

mod refs;

/// A change to one argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentChange {
    /// The model calls it something else.
    Rename(String),
    /// The model reads something else about it.
    Describe(String),
    /// This value unless the model says otherwise.
    Default(Value),
    /// Always this value; the model does not see it.
    Pin(Value),
    /// The model does not see it.
    Hide,
}

/// Changes to the arguments of a tool, by the server's own names, one after the other.
pub struct ArgumentChanges(pub Vec<(String, ArgumentChange)>);

impl Rule for ArgumentChanges {
    fn name(&self) -> &str {
        "args"
    }

    fn apply(&self, mut tool: Tool) -> Result<Verdict, RuleError> {
        let mut schema = Value::clone(&tool.input);
        // What each is called by now; nothing if it is gone. Another may have its name meanwhile.
        let mut called: BTreeMap<&str, Option<&str>> = BTreeMap::new();
        for (own, change) in &self.0 {
            known(&tool.input, own).map_err(RuleError)?;
            let now = called.get(own.as_str()).copied().unwrap_or(Some(own));
            let now = now.ok_or_else(|| RuleError(format!("the argument {own:?} is hidden already")))?;
            tool.undo.extend(edit(&mut schema, now, change).map_err(RuleError)?);
            match change {
                ArgumentChange::Rename(shown) => drop(called.insert(own, Some(shown))),
                ArgumentChange::Pin(_) | ArgumentChange::Hide => drop(called.insert(own, None)),
                ArgumentChange::Describe(_) | ArgumentChange::Default(_) => {}
            }
        }
        tool.input = Arc::new(schema);
        Ok(Verdict::keep(tool))
    }
}

/// Whether there is such an argument, by the names a rule was written for.
fn known(schema: &Value, own: &str) -> Result<(), String> {
    let known = schema.get("properties").and_then(Value::as_object).ok_or("it has no arguments")?;
    if known.contains_key(own) {
        return Ok(());
    }
    let near = nearest(own, known.keys().map(String::as_str));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    Err(format!("it has no argument {own:?}{hint}"))
}

/// Changes a schema; the way back.
fn edit(schema: &mut Value, own: &str, change: &ArgumentChange) -> Result<Option<Undo>, String> {
    let schema = schema.as_object_mut().ok_or("its input schema is not an object")?;
    let own_name = own.to_owned();
    Ok(match change {
        ArgumentChange::Describe(text) => {
            annotate(schema, own, "description", neutral(text).into_owned().into())?;
            None
        }
        ArgumentChange::Default(value) => {
            may_be_added(schema, own)?;
            annotate(schema, own, "default", value.clone())?;
            not_required(schema, own);
            Some(Undo::Default { own: own_name, value: value.clone() })
        }
        ArgumentChange::Pin(value) => {
            may_be_added(schema, own)?;
            take_away(schema, own)?;
            Some(Undo::Pin { own: own_name, value: value.clone() })
        }
        ArgumentChange::Hide => {
            if required(schema).any(|name| name == own) {
                return Err(format!("the argument {own:?} is required and cannot be hidden without a value"));
            }
            take_away(schema, own)?;
            Some(Undo::Hide { own: own_name })
        }
        ArgumentChange::Rename(shown) => {
            rename(schema, own, shown)?;
            Some(Undo::Rename { shown: shown.clone(), own: own_name })
        }
    })
}

fn properties(schema: &mut Map<String, Value>) -> Result<&mut Map<String, Value>, String> {
    schema
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .ok_or_else(|| "it has no arguments".to_owned())
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn not_required(schema: &mut Map<String, Value>, own: &str) {
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != own);
    }
}

/// Says something about an argument, also of one that may be anything.
fn annotate(schema: &mut Map<String, Value>, own: &str, key: &str, value: Value) -> Result<(), String> {
    if let Some(property) = properties(schema)?.get_mut(own) {
        if *property == Value::Bool(true) {
            *property = Map::new().into();
        }
        if let Some(property) = property.as_object_mut() {
            property.insert(key.to_owned(), value);
        }
    }
    Ok(())
}

/// A value that the model does not give is there nevertheless: nothing else may depend on whether it is.
fn may_be_added(schema: &Map<String, Value>, own: &str) -> Result<(), String> {
    stands_alone(schema, own)?;
    match schema.get("maxProperties") {
        Some(_) => Err(format!("maxProperties leaves no room for a value of the argument {own:?}")),
        None => Ok(()),
    }
}

fn take_away(schema: &mut Map<String, Value>, own: &str) -> Result<(), String> {
    stands_alone(schema, own)?;
    not_required(schema, own);
    if let Some(argument) = properties(schema)?.shift_remove(own) {
        refs::taken_away(schema, own, argument);
    }
    Ok(())
}

fn rename(schema: &mut Map<String, Value>, own: &str, shown: &str) -> Result<(), String> {
    if properties(schema)?.contains_key(shown) || required(schema).any(|name| name == shown) {
        return Err(format!("there is an argument {shown:?} already"));
    }
    if shown.is_empty() || neutral(shown) != shown || shown.contains(['\n', '\t']) {
        return Err(format!("{shown:?} cannot be the name of an argument"));
    }
    stands_alone(schema, own)?;
    stands_alone(schema, shown)?;
    if let Some(key) = ["patternProperties", "propertyNames"].iter().find(|key| schema.contains_key(**key)) {
        return Err(format!("the name of the argument {own:?} counts in {key}"));
    }
    rename_key(properties(schema)?, own, shown);
    refs::renamed(schema, own, shown);
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.iter_mut().filter(|name| *name == own).for_each(|name| *name = shown.into());
    }
    Ok(())
}

/// Keywords beside `properties` that speak of arguments by name could no longer be met.
fn stands_alone(schema: &Map<String, Value>, own: &str) -> Result<(), String> {
    let others = [
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
    ];
    let defined = |key: &str| schema.get(key).is_some_and(|value| mentions(value, own));
    let speaks = |key: &&&str| {
        // What a definition says of an argument is said wherever it is referred to.
        let refers = || refs::any(schema.get_key_value(**key), |_| true);
        defined(key) || (defined("$defs") || defined("definitions")) && refers()
    };
    if let Some(key) = others.iter().find(speaks) {
        return Err(format!("the argument {own:?} is also spoken of in {key}"));
    }
    // Inside of itself the schema stays what the server takes; the way back does not lead there.
    let names = |key: &str| schema.get(key).and_then(Value::as_str);
    let is_whole = |reference: &str| {
        let (document, place) = reference.split_once('#').unwrap_or((reference, ""));
        let anchors = [names("$anchor"), names("$dynamicAnchor")];
        (document.is_empty() || names("$id").is_some_and(|id| id.trim_end_matches('#') == document))
            && (place.is_empty() || anchors.contains(&Some(place)))
    };
    if refs::any(schema, is_whole) {
        return Err(format!("the argument {own:?} is one of a schema that contains itself"));
    }
    Ok(())
}

fn mentions(value: &Value, name: &str) -> bool {
    values(value).any(|(value, _)| match value {
        Value::String(text) => text == name,
        Value::Object(fields) => fields.contains_key(name),
        _ => false,
    })
}

/// Gives a key another name and leaves it where it stands.
fn rename_key(map: &mut Map<String, Value>, from: &str, to: &str) {
    if !map.contains_key(from) {
        return;
    }
    let old = std::mem::take(map);
    for (key, value) in old {
        let key = if key == from { to.to_owned() } else { key };
        map.insert(key, value);
    }
}

/// Turns the arguments a model gave into those the server takes.
pub fn restore(undo: &[Undo], arguments: &mut Map<String, Value>) {
    let mut members = std::mem::take(arguments).into_iter().collect();
    turn_back(undo, &mut members, Value::clone);
    arguments.extend(members);
}

/// The same for arguments whose numbers keep their digits.
pub fn restore_exact(undo: &[Undo], members: &mut Vec<(String, ExactJson<'_>)>) {
    turn_back(undo, members, |value| value.clone().into());
}

fn turn_back<V>(undo: &[Undo], members: &mut Vec<(String, V)>, make: impl Fn(&Value) -> V) {
    let place = |members: &[(String, V)], name: &str| members.iter().position(|(key, _)| key == name);
    for step in undo.iter().rev() {
        match step {
            Undo::Rename { shown, own } => {
                if place(members, shown).is_some() {
                    members.retain(|(key, _)| key != own);
                }
                if let Some(at) = place(members, shown) {
                    members[at].0.clone_from(own);
                }
            }
            Undo::Pin { own, value } => match place(members, own) {
                Some(at) => members[at].1 = make(value),
                None => members.push((own.clone(), make(value))),
            },
            Undo::Default { own, value } => {
                if place(members, own).is_none() {
                    members.push((own.clone(), make(value)));
                }
            }
            Undo::Hide { own } => members.retain(|(key, _)| key != own),
        }
    }
}
