//! Calls in a reply, however it is written around them.

use serde_json::value::RawValue;

use super::resolve::LONGEST;
use super::{ANSWER, MARKER};

/// Calls read from one reply.
const MOST_CALLS: usize = 64;

/// A reply, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedReply {
    /// What was said before the first call; without a call, everything.
    pub said: String,
    /// The calls, in order.
    pub calls: Vec<WrittenCall>,
}

impl ParsedReply {
    /// What belongs into the history: what was said and the calls that were made, without anything that was
    /// invented after them.
    pub fn kept(&self, made: usize) -> String {
        let mut parts: Vec<&str> = Vec::new();
        if !self.said.is_empty() {
            parts.push(&self.said);
        }
        parts.extend(self.calls.iter().take(made).map(|call| call.text.as_str()));
        parts.join("\n")
    }

    /// A word to the model about calls that were not made; none if all were.
    pub fn rest(&self, made: usize) -> Option<String> {
        let name = |call: &WrittenCall| call.name.chars().take(LONGEST).collect::<String>();
        let names: Vec<String> = self.calls.iter().skip(made).map(name).collect();
        if names.is_empty() {
            return None;
        }
        Some(format!(
            "Only the first call of a reply is carried out. Not run: {}. Write one call and wait for its result.",
            names.join(", ")
        ))
    }
}

/// One call as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall {
    /// The tool's name as written; empty if there was none.
    pub name: String,
    /// What it is called with.
    pub arguments: WrittenArguments,
    /// All of it, on a line of its own.
    pub text: String,
}

/// What a tool is called with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenArguments {
    /// Nothing.
    None,
    /// A JSON object, as written.
    Object(String),
    /// Any other text.
    Text(String),
    /// What begins as an object and is none.
    Broken {
        /// Why.
        why: String,
    },
}

/// Takes a reply apart. Never fails: what is no call is part of the answer.
///
/// A call is a line that begins with `TOOL:`, perhaps after blanks or within a code fence. From a line
/// `SYSTEM:` on the model speaks for us; nothing there is a call.
pub fn parse(reply: &str) -> ParsedReply {
    let mut calls: Vec<WrittenCall> = Vec::new();
    let mut said = None;
    let mut at = 0;
    while at < reply.len() && calls.len() < MOST_CALLS {
        let end = reply[at..].find('\n').map_or(reply.len(), |length| at + length);
        let line = reply[at..end].trim();
        if line == ANSWER {
            break;
        }
        at = match line.strip_prefix(MARKER) {
            None => end + 1,
            Some(_) => {
                said.get_or_insert_with(|| before(&reply[..at]));
                let start = reply[at..].find(MARKER).map_or(at, |offset| at + offset);
                let (call, length) = written(&reply[start..]);
                // Where arguments that cannot be read end is not known: a line below may be part of them.
                let is_broken = matches!(call.arguments, WrittenArguments::Broken { .. });
                calls.push(call);
                if is_broken {
                    break;
                }
                // Whatever else stands on the line is dropped with it.
                let stop = start + length;
                reply[stop..].find('\n').map_or(reply.len(), |length| stop + length + 1)
            }
        };
    }
    ParsedReply { said: said.unwrap_or_else(|| reply.trim().to_owned()), calls }
}

/// What was said before a call, without a fence that was opened for the call only.
fn before(text: &str) -> String {
    let is_fence = |line: &str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let lines: Vec<&str> = text.lines().collect();
    let fences: Vec<usize> = (0..lines.len()).filter(|at| is_fence(lines[*at])).collect();
    let open = if fences.len() % 2 == 1 { fences.last().copied() } else { None };
    let kept = lines.iter().enumerate().filter(|(at, _)| Some(*at) != open).map(|(_, line)| *line);
    kept.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A call that begins here, and how many bytes of the text are its own.
fn written(text: &str) -> (WrittenCall, usize) {
    let after = &text[MARKER.len()..];
    let line = after.find('\n').map_or(after, |end| &after[..end]);
    let head = line.trim_start();
    let ends = |c: char| c.is_whitespace() || matches!(c, '{' | '[' | '(');
    let name_end = head.find(ends).unwrap_or(head.len());
    let name = head[..name_end].trim_matches(['`', '"', '\'', '*', ',', ':']).to_owned();
    let left = head[name_end..].trim_start().len();
    let start = MARKER.len() + line.len() - left;
    let (arguments, length) = arguments(&text[start..], left);
    let text = match &arguments {
        WrittenArguments::None => format!("{MARKER} {name}"),
        WrittenArguments::Object(json) => format!("{MARKER} {name} {json}"),
        WrittenArguments::Text(_) | WrittenArguments::Broken { .. } => {
            text[..start + length].trim_end().to_owned()
        }
    };
    (WrittenCall { name, arguments, text }, start + length)
}

/// What stands behind a name, and how much of the text it is. `line` is what is left of the line.
fn arguments(text: &str, line: usize) -> (WrittenArguments, usize) {
    let mut rest = text[..line].trim_end();
    // A fence may end on the same line.
    while let Some(shorter) = rest.strip_suffix("```") {
        rest = shorter.trim_end();
    }
    match text.chars().next().filter(|_| !rest.is_empty()) {
        None => below(text, line).unwrap_or((WrittenArguments::None, line)),
        Some('`') if rest.starts_with("```") => below(text, line).unwrap_or((WrittenArguments::None, line)),
        Some('{') => object(text, 0),
        Some('(') => parenthesised(text, rest),
        Some('[') => list(text).unwrap_or_else(|| (plain(rest), rest.len())),
        Some(_) => (plain(rest), rest.len()),
    }
}

/// An object that begins on the next line, perhaps in a fence: left out, the tool would run without it.
fn below(text: &str, line: usize) -> Option<(WrittenArguments, usize)> {
    let rest = text[line..].trim_start();
    let rest = match rest.strip_prefix("```") {
        Some(fenced) => fenced.split_once('\n')?.1.trim_start(),
        None => rest,
    };
    let found = rest.starts_with('{').then(|| object(text, text.len() - rest.len()))?;
    matches!(found.0, WrittenArguments::Object(_)).then_some(found)
}

/// An object that begins here and may go on over lines.
fn object(text: &str, offset: usize) -> (WrittenArguments, usize) {
    let mut values = serde_json::Deserializer::from_str(&text[offset..]).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(value)) => {
            let length = values.byte_offset();
            (WrittenArguments::Object(value.get().to_owned()), offset + length)
        }
        Some(Err(error)) if error.is_eof() => {
            (WrittenArguments::Broken { why: "the JSON object does not end".to_owned() }, text.len())
        }
        Some(Err(error)) => {
            let length = text.find('\n').unwrap_or(text.len());
            (WrittenArguments::Broken { why: format!("the arguments are not valid JSON: {error}") }, length)
        }
        None => (WrittenArguments::None, 0),
    }
}

/// A list that may go on over lines; none if it is the beginning of a text.
fn list(text: &str) -> Option<(WrittenArguments, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?.get();
    let after = &text[values.byte_offset()..];
    let alone = after.lines().next().is_none_or(|line| line.trim().is_empty());
    alone.then(|| (WrittenArguments::Text(value.to_owned()), value.len()))
}

/// `name({…})` and `name(text)`: as many models write calls.
fn parenthesised(text: &str, rest: &str) -> (WrittenArguments, usize) {
    let inner = text[1..].trim_start();
    if inner.starts_with('{') {
        return object(text, text.len() - inner.len());
    }
    let arguments = match between(rest).map(str::trim) {
        None => plain(rest),
        Some("") => WrittenArguments::None,
        Some(inner) => plain(inner),
    };
    (arguments, rest.len())
}

/// What stands between the first parenthesis and the last, if they belong together.
fn between(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('(')?.strip_suffix(')')?;
    let mut open = 0_usize;
    for c in inner.chars() {
        match c {
            '(' => open += 1,
            ')' => open = open.checked_sub(1)?,
            _ => {}
        }
    }
    Some(inner)
}

/// A text; one in JSON quotes is what stands between them.
fn plain(text: &str) -> WrittenArguments {
    match serde_json::from_str::<String>(text) {
        Ok(text) => WrittenArguments::Text(text),
        Err(_) => WrittenArguments::Text(text.to_owned()),
    }
}
