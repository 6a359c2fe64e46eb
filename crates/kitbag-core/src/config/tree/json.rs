//! JSON with comments and trailing commas, and nothing looser: a missing comma is a mistake to report.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::{Budget, KeyValue, Node, Tree, too_large};
use crate::config::source::Source;
use crate::fault::{Fault, FaultKind};
use crate::model::Limits;

/// What people call JSONC. The parser's own default would take single quotes, bare keys and missing commas.
pub(in crate::config) const JSONC: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn parse(source: &Source<'_>, limits: &Limits) -> Result<Node, Box<Fault>> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    let parsed = parse_to_ast(source.text(), &collect, &JSONC).map_err(|error| {
        let byte = skip_blanks(source.text(), error.range().start);
        if let Some(quote) = unclosed_quote(source.text(), byte) {
            let fault = Fault::error(FaultKind::Syntax, "not valid JSON: a quote is not closed on this line");
            return Box::new(source.mark(fault.hint("end the string with \""), source.position(quote)));
        }
        let at = source.position(byte);
        if matches!(error.kind(), ParseErrorKind::UnterminatedObject | ParseErrorKind::UnterminatedArray) {
            // What is missing is missing at the end; where it began helps to see what.
            let fault = Fault::error(FaultKind::Syntax, "not valid JSON: the file ends too early");
            let hint = format!("what opens at line {}, column {} is not closed", at.line, at.column);
            return Box::new(source.mark(fault.hint(hint), source.position(source.text().trim_end().len())));
        }
        let fault =
            Fault::error(FaultKind::Syntax, format!("not valid JSON: {}", plain(&error.kind().to_string())));
        let fault = match hint(source.text(), byte) {
            Some(hint) => fault.hint(hint),
            None => fault,
        };
        Box::new(source.mark(fault, at))
    })?;
    let Some(value) = parsed.value else {
        return Ok(Node { at: source.position(0), tree: Tree::Null });
    };
    build(source, value, 0, &mut Budget::new(limits))
}

/// The parser stops at 512 levels and our own bound is lower, so this recursion is shallow.
fn build(
    source: &Source<'_>,
    value: Value<'_>,
    depth: usize,
    budget: &mut Budget<'_>,
) -> Result<Node, Box<Fault>> {
    let at = source.position(value.start());
    budget.spend(1, depth).map_err(|message| too_large(source, at, message))?;
    let tree = match value {
        Value::NullKeyword(_) => Tree::Null,
        Value::BooleanLit(lit) => Tree::Bool(lit.value),
        Value::NumberLit(lit) => Tree::Number(lit.value.to_owned()),
        Value::StringLit(lit) => Tree::Text(lit.value.into_owned()),
        Value::Array(array) => {
            let nodes = array.elements.into_iter().map(|value| build(source, value, depth + 1, budget));
            Tree::List(nodes.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let mut pairs = Vec::with_capacity(object.properties.len());
            for property in object.properties {
                let at = source.position(property.name.start());
                let key = match property.name {
                    ObjectPropName::String(lit) => lit.value.into_owned(),
                    ObjectPropName::Word(word) => word.value.to_owned(),
                };
                pairs.push(KeyValue { key, at, value: build(source, property.value, depth + 1, budget)? });
            }
            Tree::Map(pairs)
        }
    };
    Ok(Node { at, tree })
}

/// The parser's sentence in the form of ours: lower case, no full stop.
fn plain(message: &str) -> String {
    let mut chars = message.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The parser may stop at the blanks before the offending token.
fn skip_blanks(text: &str, byte: usize) -> usize {
    let rest = text.get(byte..).unwrap_or_default();
    let next = text.len() - rest.trim_start().len();
    if next < text.len() { next } else { byte }
}

/// The parser lets a text run on over line ends and stops far behind the line where its quote is missing.
fn unclosed_quote(text: &str, until: usize) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if until < start {
            return None;
        }
        let mut open = None;
        let mut escaped = false;
        for (at, c) in line.char_indices() {
            match (open, c) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(_), '"') => open = None,
                (None, '"') => open = Some(start + at),
                (None, '/') if line[at..].starts_with("//") || line[at..].starts_with("/*") => break,
                _ => {}
            }
        }
        if open.is_some() {
            return open;
        }
        start += line.len();
    }
    None
}

/// The usual slips, recognised by what stands around the place where the parser stopped.
fn hint(text: &str, byte: usize) -> Option<&'static str> {
    let (before, after) = text.split_at_checked(byte)?;
    let last = before.trim_end().chars().last();
    let next = after.chars().next();
    match (last, next) {
        (_, Some('\'')) => Some("JSON wants double quotes"),
        (_, Some('“' | '”' | '‘' | '’')) => {
            Some("these are typographic quotes; JSON wants plain double quotes")
        }
        (_, None) => Some("the file ends too early: a bracket, brace or quote is not closed"),
        (Some('"' | '}' | ']' | '0'..='9' | 'e' | 'l'), Some('"' | '{' | '[')) => {
            Some("a comma is missing before this")
        }
        (Some(','), Some(',')) => Some("there is one comma too many"),
        (Some('{' | ','), Some(c)) if c.is_alphabetic() => Some("keys are written in double quotes"),
        (_, Some('#')) => Some("comments begin with //"),
        _ => None,
    }
}
