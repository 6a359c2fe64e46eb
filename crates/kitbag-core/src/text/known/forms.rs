//! Every way a program may write a value down: as it is, escaped for JSON, Python or a shell, percent-encoded, as hex,
//! as base64.

use std::collections::BTreeSet;
use std::fmt::Write as _;

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
    forms.insert(hex(bytes, Case::Lower));
    forms.insert(hex(bytes, Case::Upper));
    for last in [b"+/", b"-_"] {
        forms.insert(base64(bytes, last));
        forms.extend((0..3).map(|before| base64_inside(bytes, before, last)));
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

fn hex(bytes: &[u8], case: Case) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = match case {
            Case::Lower => write!(text, "{byte:02x}"),
            Case::Upper => write!(text, "{byte:02X}"),
        };
        text
    })
}

/// Without padding: it says nothing.
fn base64(bytes: &[u8], last: &[u8; 2]) -> String {
    const DIGITS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |six: u32| {
        let six = six as usize;
        char::from(DIGITS.get(six).copied().unwrap_or_else(|| last[usize::from(six == 63)]))
    };
    let mut text = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(digit(word >> (18 - 6 * place) & 63));
        }
    }
    text
}

/// What is certain of it when it stands in the middle of something longer, of which this many bytes (modulo 3) come
/// before: digits that it shares with its neighbours are left out.
fn base64_inside(bytes: &[u8], before: usize, last: &[u8; 2]) -> String {
    let shifted: Vec<u8> = std::iter::repeat_n(0, before).chain(bytes.iter().copied()).collect();
    let text = base64(&shifted, last);
    let shared_before = if before == 0 { 0 } else { before + 1 };
    let shared_after = usize::from(!shifted.len().is_multiple_of(3));
    text.get(shared_before..text.len() - shared_after).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, want: &str) {
        let forms = forms(value);
        assert!(forms.contains(want), "no {want} in {forms:#?}");
    }

    #[test]
    fn t31_every_form() {
        let value = "a\"b'c\\d/é€😀\n%2 x";
        check(value, value);
        check(value, r#"a\"b'c\\d/é€😀\n%2 x"#);
        check(value, r#"a\"b'c\\d\/\u00e9\u20ac\ud83d\ude00\n%2 x"#);
        check(value, r#"a\"b'c\\d/\u00E9\u20AC\uD83D\uDE00\n%2 x"#);
        check(value, r#"a\\\"b'c\\\\d/é€😀\\n%2 x"#);
        check(value, r#"a"b\'c\\d/é€😀\n%2 x"#);
        check(value, r#"a"b\'c\\d/\xe9\u20ac\U0001f600\n%2 x"#);
        check(value, r#"a"b\'c\\d/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n%2 x"#);
        check(value, "a%22b%27c%5Cd%2F%C3%A9%E2%82%AC%F0%9F%98%80%0A%252%20x");
        check(value, "a%22b'c%5cd%2f%c3%a9%e2%82%ac%f0%9f%98%80%0a%252+x");
        check(value, "a%22b%27c%5Cd/%C3%A9%E2%82%AC%F0%9F%98%80%0A%252%20x");
        check("Ab1!xyz", "4162312178797a");
        check("Ab1!xyz", "4162312178797A");
        check("it's here", "it'\\''s here");
    }

    #[test]
    fn t31_base64_wherever_it_stands() {
        check("Planted/Secret+1 2", "UGxhbnRlZC9TZWNyZXQrMSAy");
        check("secret??>>~~", "c2VjcmV0Pz8+Pn5+");
        check("secret??>>~~", "c2VjcmV0Pz8-Pn5-");
        for before in ["", "u", "us", "user"] {
            for after in ["", ":", ":x", ":xy"] {
                let whole = base64(format!("{before}hunter2hunter2{after}").as_bytes(), b"+/");
                let found = forms("hunter2hunter2").into_iter().filter(|form| whole.contains(form.as_str()));
                let longest = found.map(|form| form.len()).max().unwrap_or_default();
                // 14 bytes are 112 bits, of which at most ten stand in digits that are shared.
                assert!(17 <= longest, "{before} {after}: {longest} of {whole}");
            }
        }
    }
}
