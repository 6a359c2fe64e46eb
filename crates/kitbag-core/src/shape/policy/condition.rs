//! `path != /srv/data/**`: what a rule says about the arguments of a call. Where it cannot be told whether a condition
//! holds, a rule that restricts does, and one that permits does not.

use globset::{GlobBuilder, GlobMatcher};
use serde_json::{Map, Value};

/// Whether a rule keeps something away or lets it through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Restrict,
    Permit,
}

/// A condition about one argument.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    /// Its name, or a path of names.
    argument: Vec<String>,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    Is(GlobMatcher),
    IsNot(GlobMatcher),
    Compare(Comparison, f64),
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

const OPERATORS: [&str; 6] = [" == ", " != ", " <= ", " >= ", " < ", " > "];

/// Where in a text the first operator stands, and which it is.
pub(super) fn operator(text: &str) -> Option<(usize, &'static str)> {
    OPERATORS.iter().filter_map(|operator| Some((text.find(operator)?, *operator))).min_by_key(|(at, _)| *at)
}

impl Condition {
    /// Reads `argument operator value`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (at, operator) = operator(text).ok_or_else(|| {
            format!("{text:?} is not a condition; write `argument == pattern`, or one of != < <= > >=")
        })?;
        let (argument, value) = (text[..at].trim(), text[at + operator.len()..].trim());
        if argument.is_empty() || argument.contains(char::is_whitespace) || value.is_empty() {
            return Err(format!("{text:?} is not a condition; write `argument{operator}value`"));
        }
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let number = || value.parse::<f64>().map_err(|_| format!("{value:?} is not a number"));
        let test = match operator.trim() {
            "==" => Test::Is(pattern(value)?),
            "!=" => Test::IsNot(pattern(value)?),
            "<" => Test::Compare(Comparison::Less, number()?),
            "<=" => Test::Compare(Comparison::AtMost, number()?),
            ">" => Test::Compare(Comparison::More, number()?),
            _ => Test::Compare(Comparison::AtLeast, number()?),
        };
        Ok(Self { argument: argument.split('.').map(str::to_owned).collect(), test })
    }

    /// Whether it holds for these arguments.
    pub(super) fn holds(&self, arguments: &Map<String, Value>, purpose: Purpose) -> bool {
        let given = self.given(arguments);
        match purpose {
            // Nothing given: what the server takes instead is not known.
            Purpose::Restrict if given.is_empty() => !matches!(self.test, Test::Is(_)),
            Purpose::Restrict => given.iter().any(|value| self.may_hold(value)),
            Purpose::Permit => !given.is_empty() && given.iter().all(|value| self.surely_holds(value)),
        }
    }

    /// What is given for the argument; of a list its items.
    fn given<'a>(&self, arguments: &'a Map<String, Value>) -> Vec<&'a Value> {
        let mut names = self.argument.iter();
        let mut value = names.next().and_then(|first| arguments.get(first));
        for name in names {
            value = value.and_then(|value| value.get(name));
        }
        match value {
            None => Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(value) => vec![value],
        }
    }

    fn may_hold(&self, value: &Value) -> bool {
        match &self.test {
            Test::Is(glob) => {
                text(value).is_none_or(|text| spellings(&text).iter().any(|text| glob.is_match(text)))
            }
            Test::IsNot(glob) => {
                text(value).is_none_or(|text| !spellings(&text).iter().all(|text| glob.is_match(text)))
            }
            Test::Compare(how, bound) => number(value).is_none_or(|number| how.holds(number, *bound)),
        }
    }

    fn surely_holds(&self, value: &Value) -> bool {
        match &self.test {
            Test::Is(glob) => {
                text(value).is_some_and(|text| spellings(&text).iter().all(|text| glob.is_match(text)))
            }
            Test::IsNot(glob) => {
                text(value).is_some_and(|text| !spellings(&text).iter().any(|text| glob.is_match(text)))
            }
            Test::Compare(how, bound) => number(value).is_some_and(|number| how.holds(number, *bound)),
        }
    }
}

impl Comparison {
    fn holds(self, number: f64, bound: f64) -> bool {
        match self {
            Self::Less => number < bound,
            Self::AtMost => number <= bound,
            Self::More => bound < number,
            Self::AtLeast => bound <= number,
        }
    }
}

/// `*` stays within one part of a path, `**` does not.
fn pattern(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| format!("{text:?} is not a pattern: {}", error.kind()))
}

/// A plain value as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
        other => Some(other.to_string()),
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
    .filter(|number| !number.is_nan())
}

/// A text as it was given, and, where it looks like a path, the place it leads to: `/srv/data/../../etc` is not in
/// `/srv/data`.
fn spellings(text: &str) -> Vec<String> {
    let direct = direct(text);
    if direct == text { vec![direct] } else { vec![text.to_owned(), direct] }
}

fn direct(text: &str) -> String {
    let (scheme, path) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    if !path.contains(['/', '\\']) {
        return text.to_owned();
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            // Above the root there is nothing.
            ".." if path.starts_with(['/', '\\']) => {}
            part => parts.push(part),
        }
    }
    let root = if path.starts_with(['/', '\\']) { "/" } else { "" };
    format!("{scheme}{root}{}", parts.join("/"))
}
