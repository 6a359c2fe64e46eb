//! How Python writes values: `repr` and `str`, with its spelling of numbers and its choice of quotes.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;

use super::Value;

/// What Python escapes although it is no control character.
static UNPRINTABLE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]").ok());

fn is_printable(c: char) -> bool {
    UNPRINTABLE.as_ref().is_some_and(|pattern| !pattern.is_match(c.encode_utf8(&mut [0; 4])))
}

impl Value {
    /// What `str()` gives.
    pub fn text(&self) -> String {
        match self {
            Self::Str(text) => text.to_string(),
            other => other.repr(),
        }
    }

    /// What `repr()` gives.
    pub fn repr(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, &mut Vec::new());
        out
    }

    fn write(&self, out: &mut String, open: &mut Vec<usize>) {
        match self {
            Self::None => out.push_str("None"),
            Self::Bool(true) => out.push_str("True"),
            Self::Bool(false) => out.push_str("False"),
            Self::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Self::Float(number) => out.push_str(&float(*number)),
            Self::Str(text) => quote(text, out),
            Self::List(list) => {
                if open.contains(&list.address()) {
                    return out.push_str("[...]");
                }
                open.push(list.address());
                between(out, ('[', ']'), list.to_vec().iter(), |value, out| value.write(out, open));
                open.pop();
            }
            Self::Tuple(parts) => {
                between(out, ('(', ')'), parts.iter(), |value, out| value.write(out, open));
                if parts.len() == 1 {
                    out.insert(out.len() - 1, ',');
                }
            }
            Self::Dict(dict) => {
                if open.contains(&dict.address()) {
                    return out.push_str("{...}");
                }
                open.push(dict.address());
                between(out, ('{', '}'), dict.rows().iter(), |(key, value), out| {
                    key.write(out, open);
                    out.push_str(": ");
                    value.write(out, open);
                });
                open.pop();
            }
            Self::Object(object) => {
                let _ = write!(out, "{object:?}");
            }
        }
    }
}

fn between<T>(
    out: &mut String,
    (begin, end): (char, char),
    values: impl Iterator<Item = T>,
    mut write: impl FnMut(T, &mut String),
) {
    out.push(begin);
    for (place, value) in values.enumerate() {
        if 0 < place {
            out.push_str(", ");
        }
        write(value, out);
    }
    out.push(end);
}

/// The shortest digits that read back the same, with an exponent where Python writes one.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{number}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A string in quotes: single ones, unless it has such a quote and no double one.
fn quote(text: &str, out: &mut String) {
    let mark = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(mark);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == mark => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c if is_printable(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(mark);
}
