//! Words of a command line.

use super::{holds_secret, masked, names_secret, url};

/// Words of a command line as they may be shown: `--token x`, `--token=x`, `--header "Name: x"` and well-known
/// secrets are masked.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut line = CommandLine::default();
    words.into_iter().map(|text| line.next(text)).collect()
}

/// A command line, word by word: a flag says what the word behind it is.
#[derive(Default)]
pub(super) struct CommandLine {
    last: String,
}

impl CommandLine {
    /// The next word as it may be shown.
    pub(super) fn next(&mut self, text: &str) -> String {
        let unquoted = |text: &str| text.trim_matches(['"', '\'']).to_owned();
        let is_value = !unquoted(text).starts_with('-');
        let shown = match self.last.as_str() {
            "-H" | "--header" | "--headers" if is_value => header(text),
            flag if is_value && flag.starts_with('-') && !flag.contains('=') && names_secret(flag) => {
                masked(text)
            }
            _ => word(text),
        };
        // A line in quotes may end in a flag, and blanks or a lone dash may stand between it and its value.
        let end = unquoted(text.rsplit(' ').next().unwrap_or(text));
        if !matches!(end.as_str(), "" | "-") {
            self.last = end;
        }
        shown
    }
}

/// One word of a command line, which may be a whole line in quotes.
pub(super) fn word(text: &str) -> String {
    if !text.contains(' ') {
        return pairs(text);
    }
    // `Authorization: Bearer x`: a name that ends in a colon speaks of all that follows.
    let mut end = 0;
    for part in text.split_inclusive(' ') {
        end += part.len();
        if part.trim_end().ends_with([':', '=']) && names_secret(part) {
            let (before, value) = text.split_at(end);
            return format!("{}{}", words(before.split(' ')).join(" "), masked(value));
        }
    }
    words(text.split(' ')).join(" ")
}

/// A text without blanks: `--name=value`, `NAME=value`, `Name:value`, a URL, or just a word.
fn pairs(text: &str) -> String {
    if holds_secret(text) {
        return masked(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']).filter(|at| !rest[*at..].starts_with("://")) {
        let (name, value) = rest.split_at(at + 1);
        shown.push_str(name);
        // `registry/secrets-mcp:1` is an image, `Authorization:x` a header.
        let is_name = name.ends_with('=') || !name.contains(['/', '.']);
        if is_name && names_secret(name) {
            return shown + &masked(value);
        }
        rest = value;
    }
    shown
        + &if rest.contains("://") {
            url(rest)
        } else if holds_secret(rest) {
            masked(rest)
        } else {
            rest.to_owned()
        }
}

/// `Name: value`, of which only the name may be shown.
fn header(text: &str) -> String {
    match text.split_once(':') {
        Some((name, value)) => format!("{name}:{}", masked(value)),
        None => masked(text),
    }
}
