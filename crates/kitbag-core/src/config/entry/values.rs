//! Typed values out of an entry's pairs; what does not fit is a fault of this entry.

use std::collections::HashSet;

use super::super::dialect::Quirk;
use super::super::interpolate::{stray_reference, template};
use super::super::tree::{KeyValue, Node, Tree};
use super::keys::Field;
use super::{Context, Fields};
use crate::fault::{Fault, FaultKind};
use crate::model::Template;

/// Whether the entry says it is on or off; off wins when it says both.
pub(super) fn enabled(context: &mut Context<'_>, fields: &Fields<'_>) -> Option<bool> {
    let on = flag(context, fields, Field::Enabled, "enabled");
    let off = flag(context, fields, Field::Disabled, "enabled");
    if on == Some(true) && off == Some(true) {
        let at = fields.get(Field::Disabled).map(|pair| pair.at).unwrap_or_default();
        let fault = Fault::warning(FaultKind::Conflict, "both enabled and disabled; taken as disabled");
        context.say(fault.hint("keep one of the two keys"), at);
    }
    match (on, off) {
        (_, Some(true)) => Some(false),
        (Some(on), _) => Some(on),
        (None, Some(false)) => Some(true),
        (None, None) => None,
    }
}

/// A yes or no; the words are understood too, with a remark.
pub(super) fn flag(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    field: Field,
    key: &'static str,
) -> Option<bool> {
    let pair = fields.get(field)?;
    context.remember(key, pair.at);
    let word = pair.value.text().map(str::to_ascii_lowercase);
    match (&pair.value.tree, word.as_deref()) {
        (Tree::Bool(value), _) => Some(*value),
        (_, Some(word @ ("true" | "false"))) => {
            let fault = Fault::warning(FaultKind::WrongType, format!("{:?} is a string", pair.key));
            context.say(fault.hint(format!("write {word} without quotes")), pair.value.at);
            Some(word == "true")
        }
        _ => {
            context.wrong_type(pair, "true or false");
            None
        }
    }
}

pub(super) fn text(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    field: Field,
    key: &'static str,
) -> Option<String> {
    let pair = fields.get(field)?;
    context.remember(key, pair.at);
    match &pair.value.tree {
        Tree::Text(text) => Some(text.clone()),
        Tree::Null => None,
        _ => {
            context.wrong_type(pair, "a string");
            None
        }
    }
}

/// A whole number from 1.
pub(super) fn count(
    context: &mut Context<'_>,
    fields: &Fields<'_>,
    field: Field,
    key: &'static str,
) -> Option<u32> {
    let pair = fields.get(field)?;
    context.remember(key, pair.at);
    let number = pair.value.number().filter(|number| 1.0 <= *number && number.fract() == 0.0);
    if number.is_none() && !matches!(pair.value.tree, Tree::Null) {
        context.wrong_type(pair, "a whole number from 1");
    }
    number.map(|number| number as u32)
}

/// A list of names; one name alone is a list of one.
pub(super) fn list(context: &mut Context<'_>, pair: &KeyValue, key: &'static str) -> Vec<String> {
    context.remember(key, pair.at);
    match &pair.value.tree {
        Tree::Null => Vec::new(),
        // Several names in one string would be one that fits nothing.
        Tree::Text(text) if !text.contains([',', ' ']) => vec![text.clone()],
        _ => names(context, pair),
    }
}

/// A list in which everything must be a name: one that is left out could let through what was to be kept away.
pub(super) fn names(context: &mut Context<'_>, pair: &KeyValue) -> Vec<String> {
    let nodes = pair.value.list().unwrap_or_default();
    if pair.value.list().is_none() {
        context.wrong_type(pair, "a list of strings");
    } else if let Some(other) = nodes.iter().find(|node| node.text().is_none()) {
        let message = format!("{:?} must be a list of strings, found {} in it", pair.key, other.kind());
        context.say(Fault::error(FaultKind::WrongType, message), other.at);
    }
    let texts = nodes.iter().filter_map(Node::text);
    if context.dialect.has(Quirk::JoinedNames) {
        return texts.flat_map(apart).map(str::to_owned).collect();
    }
    texts.map(str::to_owned).collect()
}

/// The names that stand in one string; a pattern such as `{read,list}_*` is one.
fn apart(text: &str) -> Vec<&str> {
    let names: Vec<&str> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    // No names at all must not come out as no restriction.
    if text.contains('{') || names.is_empty() { vec![text] } else { names }
}

/// The texts in a list, or the one text.
pub(super) fn strings(node: &Node) -> Vec<String> {
    let one = node.text().map(str::to_owned);
    one.into_iter()
        .chain(node.list().unwrap_or_default().iter().filter_map(Node::text).map(str::to_owned))
        .collect()
}

/// A text with references; numbers and yes/no count as what they print.
pub(super) fn templated(context: &mut Context<'_>, node: &Node) -> Option<Template> {
    let text = match &node.tree {
        Tree::Text(text) | Tree::Number(text) => text.clone(),
        Tree::Bool(value) => value.to_string(),
        Tree::Null | Tree::List(_) | Tree::Map(_) => return None,
    };
    let template = template(&text, context.dialect);
    if let Some((what, hint)) = stray_reference(&template) {
        context.say(Fault::warning(FaultKind::NotExpanded, format!("holds {what}")).hint(hint), node.at);
    }
    Some(template)
}

/// A single text with references under a key.
pub(super) fn one(context: &mut Context<'_>, pair: &KeyValue, key: &'static str) -> Option<Template> {
    context.remember(key, pair.at);
    if matches!(pair.value.tree, Tree::Null) {
        return None;
    }
    let template = pair.value.text().and_then(|_| templated(context, &pair.value));
    if template.is_none() {
        context.wrong_type(pair, "a string");
    }
    template.filter(|template| !template.written().trim().is_empty())
}

/// A map of names to texts with references; null leaves a name out.
pub(super) fn map(context: &mut Context<'_>, pair: &KeyValue, key: &'static str) -> Vec<(String, Template)> {
    context.remember(key, pair.at);
    let Some(pairs) = pair.value.map() else {
        if !matches!(pair.value.tree, Tree::Null) {
            let message =
                format!("{:?} must be a map of names to strings, found {}", pair.key, pair.value.kind());
            let fault = Fault::error(FaultKind::WrongType, message);
            context.say(fault.hint(format!("write {:?}: {{\"NAME\": \"value\"}}", pair.key)), pair.value.at);
        }
        return Vec::new();
    };
    let mut values: Vec<(String, Template)> = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().filter(|pair| !matches!(pair.value.tree, Tree::Null)) {
        match templated(context, &pair.value) {
            Some(template) => values.push((pair.key.clone(), template)),
            None => context.wrong_type(pair, "a string"),
        }
    }
    // Of two with one name the later counts.
    let mut seen = HashSet::new();
    values.reverse();
    values.retain(|(name, _)| seen.insert(name.clone()));
    values.reverse();
    values
}
