//! Whether a number is still the one that was written after it went through a float.

use serde_json::Value;

/// Whether every number of a JSON text is the same number in the value that was read from it.
pub(super) fn keeps_numbers(text: &str, value: &Value) -> bool {
    let again = value.to_string();
    let (mut written, mut read) = (Numbers(text), Numbers(&again));
    loop {
        match (written.next(), read.next()) {
            (None, None) => return true,
            (Some(written), Some(read)) if Decimal::of(written) == Decimal::of(read) => {}
            // Also where a key is given twice, and one of its values is gone.
            _ => return false,
        }
    }
}

/// The numbers of a text that is known to be JSON, in order.
struct Numbers<'a>(&'a str);

impl<'a> Iterator for Numbers<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let at = self.0.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
            let rest = &self.0[at..];
            match rest.strip_prefix('"') {
                Some(string) => self.0 = behind_string(string),
                None => {
                    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
                    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                    self.0 = &rest[end..];
                    return Some(&rest[..end]);
                }
            }
        }
    }
}

/// What follows the string that has just begun.
fn behind_string(text: &str) -> &str {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}

/// A decimal number in one way of writing: digits without zeros around them, and the power of ten of the last.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    power: i64,
}

impl Decimal {
    /// Of a number as JSON writes it; none where the power of ten is beyond all bounds.
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = [whole, fraction].concat();
        let kept = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - kept.len()).ok()?;
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Some(Self { negative: false, digits: String::new(), power: 0 });
        }
        let power: i64 = power.parse().ok()?;
        let power = power.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
        Some(Self { negative, digits: kept.to_owned(), power })
    }
}
