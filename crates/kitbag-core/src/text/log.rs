//! Lines of a log: whatever looks like a secret in running text.

use super::redact::{MASK, looks_secret, names_secret, url};

/// A log line without what looks like a secret: words with a well-known beginning, what stands behind
/// `token=` or `password:`, what follows `Bearer`, passwords in URLs. Prose about secrets stays.
pub fn redact_log(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut next = Next::Open;
    let mut rest = line;
    while !rest.is_empty() {
        let blank = rest.len() - rest.trim_start().len();
        shown.push_str(&rest[..blank]);
        rest = &rest[blank..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        if word.is_empty() {
            continue;
        }
        let bare = word.trim_matches(|c: char| "\"',;()[]{}".contains(c));
        let is_scheme = matches!(bare.to_ascii_lowercase().as_str(), "bearer" | "basic");
        let pair = bare.split_once(['=', ':']).filter(|(_, value)| !value.starts_with("//"));
        if let Some(value) = named_value(word).filter(|_| is_scheme || !next.hides(bare, after)) {
            // What follows a value in quotes is no part of it.
            let (masked, behind) = masked_value(&word[value..]);
            let before = &word[..value];
            shown.push_str(&if before.contains("://") { url(before) } else { before.to_owned() });
            shown.push_str(&masked);
            rest = &line[line.len() - rest.len() - behind.len()..];
            next = Next::Open;
            continue;
        }
        let hidden = match pair {
            _ if !is_scheme && next.hides(bare, after) => Some(word.replace(bare, MASK)),
            Some((_, value)) if looks_secret(value.trim_matches(['"', '\''])) => {
                Some(word.replace(value, MASK))
            }
            _ if looks_secret(bare) => Some(word.replace(bare, MASK)),
            _ if bare.contains("://") => Some(word.replace(bare, &url(bare))),
            _ => None,
        };
        // `token: x` and `Authorization: Bearer x`: the value is the next word, or the one behind the scheme.
        let names_next = bare.strip_suffix([':', '=']).is_some_and(names_secret);
        next = match next {
            Next::Value if is_scheme => Next::Secret,
            _ if is_scheme => Next::Credential,
            _ if names_next => Next::Value,
            _ => Next::Open,
        };
        shown.push_str(hidden.as_deref().unwrap_or(word));
    }
    shown
}

/// What the next word is, by the words before it.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Anything.
    Open,
    /// A value, or a sentence: `token: x`, `token: use another one`.
    Value,
    /// What follows a scheme, or prose: `Bearer x`, `bearer token`.
    Credential,
    /// A secret for sure: `Authorization: Bearer x`.
    Secret,
}

impl Next {
    fn hides(self, word: &str, after: &str) -> bool {
        match self {
            Self::Open => false,
            Self::Value => {
                let second = after.trim_start().split(char::is_whitespace).next().unwrap_or_default();
                let is_sentence = is_prose(word) && is_prose(second.trim_end_matches(['.', ',', ';', ':']));
                !is_sentence && !says_nothing(word)
            }
            Self::Credential => !is_prose(word),
            Self::Secret => true,
        }
    }
}

/// A word of a sentence.
fn is_prose(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '\'')
}

/// Values that tell nobody anything: numbers of tokens, switches, that something is not there.
fn says_nothing(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'', ',', ';', ')', '}', ']', '.']).to_ascii_lowercase();
    let words = [
        "",
        "true",
        "false",
        "null",
        "none",
        "nil",
        "undefined",
        "missing",
        "unset",
        "invalid",
        "expired",
        "required",
    ];
    words.contains(&value.as_str()) || value.len() < 6 && value.chars().all(|c| c.is_ascii_digit())
}

/// Where in a word the value of a named secret begins: `token=x`, `{"a":1,"token":"x"}`.
fn named_value(word: &str) -> Option<usize> {
    // What stands in an address is told by the rules for those.
    let is_address = |at: usize| {
        let begin = word[..at].rfind("://").map(|begin| &word[begin..at]);
        word[at..].starts_with("://") || begin.is_some_and(|begin| !begin.contains(['"', '\'', ',']))
    };
    let signs = word.match_indices([':', '=']).filter(|(at, _)| !is_address(*at));
    let mut values = signs.filter_map(|(at, sign)| {
        let name = word[..at].rsplit([',', ';', '{', '(', '[', '&', '?']).next().unwrap_or_default();
        // `registry/secrets-mcp:1` is an image, `Authorization:x` a header.
        let is_name = sign == "=" || !name.contains(['/', '.']);
        (is_name && names_secret(name)).then_some(at + 1)
    });
    values.find(|at| !says_nothing(word[*at..].split([',', ';', '&']).next().unwrap_or_default()))
}

/// The mask for a value, and what stands behind it in the same word.
fn masked_value(value: &str) -> (String, &str) {
    let quote = value.chars().next().filter(|c| ['"', '\''].contains(c));
    let end = quote.and_then(|quote| value[1..].find(quote));
    match (quote, end) {
        (Some(quote), Some(end)) => (format!("{quote}{MASK}{quote}"), &value[end + 2..]),
        _ => {
            let inner = value.trim_end_matches(|c: char| "\"',;()[]{}".contains(c));
            (MASK.to_owned(), &value[inner.len()..])
        }
    }
}
