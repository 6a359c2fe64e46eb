//! Every way a program may write a value down: as it is, escaped for JSON, Python or a shell, percent-encoded, as hex,
//! as base64.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD, Encoding, HEXLOWER, HEXUPPER};

/// All ways to write this value, each once.
pub(super) fn forms(value: &str) -> BTreeSet<String> {
    let bytes = value.as_bytes();
    let mut forms = BTreeSet::from([value.to_owned()]);
    // Values with Windows line ends are often written without them, and the other way round.
    forms.insert(value.replace("\r\n", "\n"));
    let json: Vec<String> = [Beyond::Raw, Beyond::Lower, Beyond::Upper]
        .into_iter()
        .flat_map(|beyond| {
            let text = json(value, beyond);
            [text.replace('/', "\\/"), text]
        })
        .collect();
    // A log message in JSON that quotes JSON.
    forms.extend(json.iter().map(|text| json_again(text)));
    forms.extend(json);
    for text in [repr(value, Beyond::Raw), repr(value, Beyond::Lower), repr_bytes(bytes)] {
        forms.insert(text.replace('\'', "\\'"));
        forms.insert(text.replace('"', "\\\""));
        forms.insert(text);
    }
    forms.insert(value.replace('\'', "'\\''"));
    forms.insert(value.escape_debug().to_string());
    // What is left as it is differs: RFC 3986, browsers, Python.
    for kept in ["-._~", "-._~!'()*", "-._~/"] {
        for digits in [Case::Upper, Case::Lower] {
            let text = percent(bytes, kept.as_bytes(), digits);
            forms.insert(text.replace("%20", "+"));
            forms.insert(text);
        }
    }
    forms.insert(HEXLOWER.encode(bytes));
    forms.insert(HEXUPPER.encode(bytes));
    // Without padding: it says nothing.
    for base64 in [&BASE64_NOPAD, &BASE64URL_NOPAD] {
        forms.insert(base64.encode(bytes));
        forms.extend((0..3).map(|before| base64_inside(bytes, before, base64)));
    }
    forms
}

/// What becomes of characters beyond ASCII.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    Raw,
    Lower,
    Upper,
}

#[derive(Clone, Copy)]
enum Case {
    Lower,
    Upper,
}

/// As it stands between the quotes of a JSON string.
fn json(value: &str, beyond: Beyond) -> String {
    let mut text = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c if c.is_control() || !c.is_ascii() && beyond != Beyond::Raw => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = match beyond {
                        Beyond::Upper => write!(text, "\\u{unit:04X}"),
                        _ => write!(text, "\\u{unit:04x}"),
                    };
                }
            }
            c => text.push(c),
        }
    }
    text
}

fn json_again(text: &str) -> String {
    json(text, Beyond::Raw)
}

/// As Python's `repr` writes it, quotes apart: which of them are escaped depends on what else is there.
fn repr(value: &str, beyond: Beyond) -> String {
    let mut text = String::with_capacity(value.len() + 8);
    for c in value.chars() {
        let code = c as u32;
        let _ = match c {
            '\\' => write!(text, "\\\\"),
            '\n' => write!(text, "\\n"),
            '\r' => write!(text, "\\r"),
            '\t' => write!(text, "\\t"),
            c if c.is_control() || !c.is_ascii() && beyond != Beyond::Raw => match code {
                0..=0xff => write!(text, "\\x{code:02x}"),
                0x100..=0xffff => write!(text, "\\u{code:04x}"),
                _ => write!(text, "\\U{code:08x}"),
            },
            c => {
                text.push(c);
                Ok(())
            }
        };
    }
    text
}

/// The same of the bytes.
fn repr_bytes(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() + 8), |mut text, byte| {
        let _ = match byte {
            b'\\' => write!(text, "\\\\"),
            b'\n' => write!(text, "\\n"),
            b'\r' => write!(text, "\\r"),
            b'\t' => write!(text, "\\t"),
            b' '..=b'~' => {
                text.push(char::from(*byte));
                Ok(())
            }
            byte => write!(text, "\\x{byte:02x}"),
        };
        text
    })
}

fn percent(bytes: &[u8], kept: &[u8], case: Case) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() + 8), |mut text, byte| {
        let _ = match (byte.is_ascii_alphanumeric() || kept.contains(byte), case) {
            (true, _) => {
                text.push(char::from(*byte));
                Ok(())
            }
            (false, Case::Upper) => write!(text, "%{byte:02X}"),
            (false, Case::Lower) => write!(text, "%{byte:02x}"),
        };
        text
    })
}

/// What is certain of it when it stands in the middle of something longer, of which this many bytes (modulo 3) come
/// before: digits that it shares with its neighbours are left out.
fn base64_inside(bytes: &[u8], before: usize, base64: &Encoding) -> String {
    let shifted: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
    let text = base64.encode(&shifted);
    let shared_before = if before == 0 { 0 } else { before + 1 };
    let shared_after = usize::from(!shifted.len().is_multiple_of(3));
    text.get(shared_before..text.len() - shared_after).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
