//! Lines of a log: whatever looks like a secret in running text.

use super::redact::{MASK, looks_secret, names_secret, url};

/// A log line without what looks like a secret: words with a well-known beginning, what stands behind
/// `token=` or `password:`, what follows `Bearer`, passwords in URLs.
pub fn redact_log(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut hide_next = false;
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
        let hidden = match pair {
            _ if hide_next && !is_scheme => Some(word.replace(bare, MASK)),
            Some((name, value))
                if !value.is_empty()
                    && (names_secret(name) || looks_secret(value.trim_matches(['"', '\'']))) =>
            {
                Some(word.replace(value, MASK))
            }
            _ if looks_secret(bare) => Some(word.replace(bare, MASK)),
            _ if bare.contains("://") => Some(word.replace(bare, &url(bare))),
            _ => None,
        };
        // `token: x` and `Authorization: Bearer x`: the value is the next word, or the one behind the scheme.
        let names_next = bare.strip_suffix([':', '=']).is_some_and(names_secret);
        hide_next = is_scheme || names_next;
        shown.push_str(hidden.as_deref().unwrap_or(word));
    }
    shown
}
