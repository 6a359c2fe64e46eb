//! Why a server refuses, picked out of the challenge and the body it answers with: a sentence, not a JSON document.

use kitbag_core::text::Redactor;
use serde_json::Value;

use super::reason::words;

#[cfg(test)]
mod tests;

/// Where a body of JSON says why, the best first.
const PLACES: [&str; 6] = ["/error_description", "/error/message", "/message", "/detail", "/title", "/error"];

/// What a challenge (`WWW-Authenticate`) and a body say, without secrets, each thing once.
pub(super) fn explanation(challenge: &str, body: &[u8], redactor: &Redactor) -> String {
    let mut said: Vec<String> = Vec::new();
    let of_challenge = ["error_description", "error", "scope"].map(|name| parameter(challenge, name));
    for text in of_challenge.into_iter().flatten().map(str::to_owned).chain([of_body(body)]) {
        let text = words(text.as_bytes(), redactor);
        if !text.is_empty() && said.iter().all(|before| !before.contains(&text)) {
            said.push(text);
        }
    }
    said.join("; ")
}

/// The value of a parameter of a challenge: `Bearer realm="x", error="invalid_token"`.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let begins = |at: &usize| challenge[..*at].ends_with([' ', ',', '\t']);
    let at = challenge.match_indices(name).map(|(at, _)| at).filter(begins);
    at.filter_map(|at| challenge[at + name.len()..].strip_prefix('=')).find_map(|value| {
        match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split([',', ' ']).next(),
        }
    })
}

/// What a body says: a text of its JSON, else all of it.
fn of_body(body: &[u8]) -> String {
    let whole = || String::from_utf8_lossy(body).into_owned();
    let Ok(json) = serde_json::from_slice::<Value>(body) else { return whole() };
    let text = PLACES.iter().find_map(|place| json.pointer(place)?.as_str());
    text.map_or_else(whole, str::to_owned)
}
