//! The id a client gives to a request of its own, told apart from its others however it is written.

use serde_json::value::RawValue;

#[cfg(test)]
mod tests;

/// What an id means: `"a"` and `"\u0061"` are one, and so are `1` and `1.0`; `1` and `"1"` are two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestId {
    Text(String),
    /// A number, as plainly as it can be written.
    Number(String),
}

impl RequestId {
    /// None where it is neither a string nor a number.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Self::Text);
        }
        let is_whole = text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        if is_whole {
            // However large: nobody calculates with it.
            return (!text.is_empty()).then(|| Self::Number(text.to_owned()));
        }
        let number: f64 = serde_json::from_str(text).ok()?;
        Some(Self::Number(number.to_string()))
    }
}
