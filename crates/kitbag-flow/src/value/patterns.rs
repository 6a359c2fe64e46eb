//! Regular expressions as Python finds, replaces and splits by them, where both languages mean the same. What only Python has
//! (looking around, back references) is an error that says so.

use regex::{Captures, Regex, RegexBuilder};

use super::Value;
use crate::raised::Raised;

/// Bytes a compiled pattern may take.
const SIZE: usize = 1 << 20;

/// A pattern.
pub(crate) struct Pattern(Regex);

impl Pattern {
    /// Reads a pattern of Python.
    pub(crate) fn new(pattern: &str) -> Result<Self, Raised> {
        for (part, what) in [
            ("(?=", "looking ahead"),
            ("(?!", "looking ahead"),
            ("(?<=", "looking behind"),
            ("(?<!", "looking behind"),
            ("(?P=", "a back reference"),
            ("[[:", "a class by name"),
            ("&&", "a set of sets"),
        ] {
            if pattern.contains(part) {
                return Err(unsupported(pattern, what));
            }
        }
        let regex = RegexBuilder::new(&translated(pattern)?).size_limit(SIZE).build();
        regex.map(Self).map_err(|error| {
            let text = error.to_string();
            unsupported(pattern, text.lines().last().unwrap_or_default().trim())
        })
    }

    /// Whether a text begins with it.
    pub(crate) fn begins(&self, text: &str) -> bool {
        // The leftmost match is the one at the beginning, if there is one there.
        self.0.find(text).is_some_and(|found| found.start() == 0)
    }

    /// `re.findall`.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Value> {
        let group = |found: &Captures<'_>, place: usize| {
            Value::from(found.get(place).map_or("", |part| part.as_str()))
        };
        let one = |found: Captures<'_>| match self.0.captures_len() {
            1 => group(&found, 0),
            2 => group(&found, 1),
            groups => Value::Tuple((1..groups).map(|place| group(&found, place)).collect()),
        };
        self.all(text).into_iter().map(one).collect()
    }

    /// `re.split`.
    pub(crate) fn split(&self, text: &str) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut from = 0;
        for found in self.all(text) {
            let Some(whole) = found.get(0) else { continue };
            parts.push(Value::from(text.get(from..whole.start()).unwrap_or_default()));
            for place in 1..self.0.captures_len() {
                parts.push(found.get(place).map_or(Value::None, |part| Value::from(part.as_str())));
            }
            from = whole.end();
        }
        parts.push(Value::from(text.get(from..).unwrap_or_default()));
        parts
    }

    /// `re.sub`.
    pub(crate) fn replace(&self, text: &str, by: &str) -> Result<String, Raised> {
        let parts = template(by, &self.0)?;
        let (mut out, mut from) = (String::new(), 0);
        for found in self.all(text) {
            let Some(whole) = found.get(0) else { continue };
            out.push_str(text.get(from..whole.start()).unwrap_or_default());
            for part in &parts {
                match part {
                    Part::Text(text) => out.push_str(text),
                    Part::Group(place) => out.push_str(found.get(*place).map_or("", |part| part.as_str())),
                }
            }
            from = whole.end();
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Ok(out)
    }

    /// All matches. An empty one may stand right behind another one, but not at the place of an empty one.
    fn all<'t>(&self, text: &'t str) -> Vec<Captures<'t>> {
        let mut all = Vec::new();
        let (mut from, mut empty_at) = (0, None);
        while let Some(found) = self.0.captures_at(text, from) {
            let Some(whole) = found.get(0) else { break };
            if whole.is_empty() && empty_at == Some(whole.start()) {
                let Some(next) = text.get(whole.start()..).and_then(|rest| rest.chars().next()) else {
                    break;
                };
                from = whole.start() + next.len_utf8();
                empty_at = None;
                continue;
            }
            from = whole.end();
            empty_at = whole.is_empty().then_some(whole.end());
            all.push(found);
        }
        all
    }
}

fn unsupported(pattern: &str, what: &str) -> Raised {
    Raised::new("error", format!("the pattern {pattern:?} cannot be used: {what} is not supported"))
}

/// The few spellings that differ.
fn translated(pattern: &str) -> Result<String, Raised> {
    let mut out = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('Z') => out.push_str("\\z"),
            Some(c @ '1'..='9') => return Err(unsupported(pattern, &format!("the back reference \\{c}"))),
            Some(c @ ('p' | 'P' | 'z' | 'x' | 'u' | 'U' | '0' | 'N' | 'B' | 'G')) if c != 'B' && c != 'x' => {
                return Err(unsupported(pattern, &format!("\\{c}")));
            }
            Some(c) => {
                out.push('\\');
                out.push(c);
            }
            None => out.push('\\'),
        }
    }
    Ok(out)
}

enum Part {
    Text(String),
    Group(usize),
}

/// What stands for a match: text, and groups as `\1`, `\g<1>` or `\g<name>`.
fn template(by: &str, pattern: &Regex) -> Result<Vec<Part>, Raised> {
    let group = |name: &str| {
        let place = name.parse().ok().filter(|place| *place < pattern.captures_len());
        let named = || pattern.capture_names().position(|known| known == Some(name));
        place
            .or_else(named)
            .map(Part::Group)
            .ok_or_else(|| Raised::new("error", format!("invalid group reference {name}")))
    };
    let mut parts = Vec::new();
    let mut rest = by;
    while let Some((text, behind)) = rest.split_once('\\') {
        parts.push(Part::Text(text.to_owned()));
        let next =
            behind.chars().next().ok_or_else(|| Raised::new("error", "bad escape (end of pattern)"))?;
        let mut used = next.len_utf8();
        parts.push(match next {
            'n' => Part::Text("\n".to_owned()),
            't' => Part::Text("\t".to_owned()),
            'r' => Part::Text("\r".to_owned()),
            '\\' => Part::Text("\\".to_owned()),
            '1'..='9' => {
                let digits: String = behind.chars().take(2).take_while(char::is_ascii_digit).collect();
                used = digits.len();
                group(&digits)?
            }
            'g' => {
                let name = behind.strip_prefix("g<").and_then(|rest| rest.split_once('>'));
                let (name, _) = name.ok_or_else(|| Raised::new("error", "missing <"))?;
                used = name.len() + 3;
                group(name)?
            }
            c if c.is_ascii_alphabetic() || c == '0' => {
                return Err(Raised::new("error", format!("bad escape \\{c}")));
            }
            c => Part::Text(format!("\\{c}")),
        });
        rest = behind.get(used..).unwrap_or_default();
    }
    parts.push(Part::Text(rest.to_owned()));
    Ok(parts)
}
