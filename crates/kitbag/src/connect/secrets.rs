//! Which of the values a server was given must not be shown: by the name they have, by the reference they came from, by
//! how they look. Addresses without credentials, folders and switches are no secrets, whatever they are called.

use base64::Engine as _;
use kitbag_core::Secret;
use kitbag_core::model::{Piece, ResolvedTarget, ServerTarget, Template};
use kitbag_core::text::{Redactor, looks_secret, names_secret, redact_url, redact_words};
use serde_json::Value;

use super::plan::Plan;

/// Last words of names that speak of a secret without holding it: `TOKEN_FILE`, `AUTH_URL`.
const ABOUT: [&str; 20] = [
    "dir", "enabled", "endpoint", "file", "folder", "host", "issuer", "method", "mode", "path", "port",
    "provider", "region", "timeout", "ttl", "type", "uri", "url", "user", "version",
];

/// Headers that say nothing about who asks.
const PUBLIC: [&str; 12] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-type",
    "host",
    "mcp-protocol-version",
    "origin",
    "pragma",
    "referer",
    "user-agent",
];

/// Hides every secret of a server.
pub(super) fn redactor(plan: &Plan) -> Redactor {
    let Ok(resolved) = plan.resolved.as_ref() else { return Redactor::default() };
    let secrets = match (&resolved.link, &plan.spec.link) {
        (ResolvedTarget::Stdio { args, env: given, file_env, .. }, ServerTarget::Stdio(program)) => {
            let named = given.iter().chain(&*plan.passed).chain(file_env);
            let named = named.flat_map(|(name, value)| of_variable(name, value.expose()));
            let in_args = program.args.iter().zip(args);
            let in_env = program.env.iter().filter_map(|(name, template)| {
                given.iter().find(|(given, _)| given == name).map(|(_, value)| (template, value))
            });
            let referred =
                in_args.chain(in_env).flat_map(|(template, value)| referred(template, value.expose()));
            named.chain(referred).chain(hidden_words(args)).collect()
        }
        (ResolvedTarget::Remote { url, headers, .. }, ServerTarget::Remote(endpoint)) => {
            let headers = headers.iter().flat_map(|(name, value)| of_header(name, value.expose()));
            headers.chain(in_url(url.expose())).chain(referred(&endpoint.url, url.expose())).collect()
        }
        _ => Vec::new(),
    };
    Redactor::new(&secrets)
}

/// What is secret in the value of a variable.
fn of_variable(name: &str, value: &str) -> Vec<Secret> {
    within(value, says_secret(name) || looks_secret(value))
}

/// What is secret in a value: all of it, unless it is an address or JSON, which have parts that are not.
fn within(value: &str, is_secret: bool) -> Vec<Secret> {
    if value.contains("://") && !value.trim().contains(char::is_whitespace) {
        return in_url(value);
    }
    match serde_json::from_str(value) {
        Ok(json @ (Value::Object(_) | Value::Array(_))) => in_json(&json, is_secret),
        _ if is_secret => vec![Secret::new(value)],
        _ => hidden_words(&[Secret::new(value)]),
    }
}

fn in_json(value: &Value, is_secret: bool) -> Vec<Secret> {
    match value {
        Value::String(text) => within(text, is_secret || looks_secret(text)),
        Value::Array(items) => items.iter().flat_map(|item| in_json(item, is_secret)).collect(),
        // In a map each key says what its value is.
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| in_json(value, says_secret(key))).collect()
        }
        _ => Vec::new(),
    }
}

fn says_secret(name: &str) -> bool {
    let last = name.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    names_secret(name) && !ABOUT.contains(&last.to_ascii_lowercase().as_str())
}

/// What is secret in a header: its words by themselves, and what its base64 says.
fn of_header(name: &str, value: &str) -> Vec<Secret> {
    if PUBLIC.contains(&name.to_ascii_lowercase().as_str()) && !looks_secret(value) {
        return Vec::new();
    }
    let mut secrets = vec![Secret::new(value)];
    for word in value.split_whitespace() {
        secrets.push(Secret::new(word));
        let decoded = base64::engine::general_purpose::STANDARD.decode(word).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|text| text.split_once(':')) {
            secrets.push(Secret::new(password));
        }
    }
    secrets
}

/// What is secret in an address: passwords, values of a query, parts of a path that look like it.
fn in_url(url: &str) -> Vec<Secret> {
    let shown = redact_url(url);
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    // Whoever has a password is no secret.
    let user = authority.rsplit_once('@').and_then(|(user, _)| Some(user.split_once(':')?.0));
    let parts = url.split(['/', '?', '&', '=', '@', ':', '#']);
    let hidden = parts.filter(|part| !shown.contains(part) && Some(*part) != user);
    hidden.flat_map(|part| [Secret::new(part), Secret::new(decoded(part))]).collect()
}

/// A part of an address without its percent signs.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words of a command line, or parts of them, that must not be shown.
fn hidden_words(args: &[Secret]) -> Vec<Secret> {
    let masked = redact_words(args.iter().map(Secret::expose));
    let hidden = args.iter().zip(&masked).flat_map(|(arg, masked)| {
        let (arg, masked) = (arg.expose(), masked.as_str());
        if arg.contains("://") && arg != masked {
            return in_url(
                arg.split_once('=').filter(|(name, _)| !name.contains("://")).map_or(arg, |(_, url)| url),
            );
        }
        let before = common(arg.chars(), masked.chars());
        let (arg, masked) = (&arg[before..], &masked[before.min(masked.len())..]);
        let after = common(arg.chars().rev(), masked.chars().rev());
        Some(&arg[..arg.len() - after])
            .filter(|hidden| !hidden.is_empty())
            .map(Secret::new)
            .into_iter()
            .collect()
    });
    hidden.collect()
}

/// How many bytes two texts begin with in common.
fn common(a: impl Iterator<Item = char>, b: impl Iterator<Item = char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// The values in a text that came from references to secrets: what stands between the texts around them.
fn referred(written: &Template, value: &str) -> Vec<Secret> {
    let is_secret = |piece: &Piece| match piece {
        Piece::Var { name, .. } => says_secret(name),
        Piece::Input(_) => true,
        _ => false,
    };
    let mut found = Vec::new();
    let mut rest = value;
    let mut pieces = written.pieces().iter().peekable();
    while let Some(piece) = pieces.next() {
        if let Piece::Text(text) = piece {
            rest = rest.strip_prefix(text.as_str()).unwrap_or(rest);
            continue;
        }
        let end = match pieces.peek() {
            Some(Piece::Text(text)) => rest.find(text.as_str()).unwrap_or(rest.len()),
            _ => rest.len(),
        };
        let (value, after) = rest.split_at(end);
        if is_secret(piece) {
            found.extend(within(value, true));
        }
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests;
