//! What must not be shown. Values of variables and headers are masked by their place (see `model`); here
//! are the rules for places where a secret may stand among ordinary text: arguments, URLs, source lines.

use std::borrow::Cow;

/// What is printed instead of a secret.
pub const MASK: &str = "***";

/// Words in the name of a variable, header, flag or query key that say its value is a secret.
const NAMES: [&str; 14] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "signature",
    "auth",
];

/// How well-known secrets begin.
const PREFIXES: [&str; 18] = [
    "sk-",
    "pk-",
    "rk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "eyJ",
    "ntn_",
    "hf_",
];

/// Keys of a configuration file whose values are never secret by themselves.
const PLAIN_KEYS: [&str; 22] = [
    "command",
    "cmd",
    "type",
    "transport",
    "transporttype",
    "mode",
    "cwd",
    "workingdir",
    "workingdirectory",
    "name",
    "servername",
    "description",
    "title",
    "id",
    "enabled",
    "disabled",
    "timeout",
    "required",
    "envfile",
    "category",
    "tag",
    "mcp",
];

/// Whether a variable, header or flag of this name holds a secret.
pub fn names_secret(name: &str) -> bool {
    let folded: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let mut parts = name.split(|c: char| !c.is_ascii_alphanumeric());
    let part = |part: &str| {
        matches!(
            part.to_ascii_lowercase().as_str(),
            "key" | "keys" | "pass" | "pwd" | "pat" | "dsn" | "sig" | "jwt" | "otp" | "pin"
        )
    };
    parts.any(part) || folded.ends_with("apikey") || NAMES.iter().any(|word| folded.contains(word))
}

/// Whether a text looks like a secret wherever it stands: a well-known beginning, or a long run of mixed
/// letters and digits that no one would type.
pub fn looks_secret(text: &str) -> bool {
    let text = text.strip_prefix("Bearer ").or_else(|| text.strip_prefix("bearer ")).unwrap_or(text);
    let long_enough = 12 <= text.len();
    if long_enough && PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        return true;
    }
    let word = |c: char| c.is_ascii_alphanumeric() || "+=_".contains(c);
    let kinds = [char::is_lowercase, char::is_uppercase, char::is_numeric].map(|kind| text.chars().any(kind));
    24 <= text.len() && text.chars().all(word) && 2 <= kinds.iter().filter(|seen| **seen).count() && kinds[2]
}

/// Characters that stand for a reference while a text with references is looked at as a whole. They are no
/// secret and survive masking.
pub(crate) const STAND_INS: std::ops::RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';

fn is_stand_in(c: char) -> bool {
    STAND_INS.contains(&c)
}

/// The mask, with the references that stood in the text.
fn masked(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars() {
        if is_stand_in(c) {
            shown.push(c);
        } else if !shown.ends_with(MASK) {
            shown.push_str(MASK);
        }
    }
    shown
}

fn holds_secret(text: &str) -> bool {
    text.split(is_stand_in).any(looks_secret)
}

/// Words of a command line as they may be shown: `--token x`, `--token=x`, `--header "Name: x"` and well-known
/// secrets are masked.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let unquoted = |text: &'a str| text.trim_matches(['"', '\'']);
    let mut last = "";
    let show = |text: &'a str| {
        let is_value = !unquoted(text).starts_with('-');
        let shown = match last {
            "-H" | "--header" | "--headers" if is_value => header(text),
            flag if is_value && flag.starts_with('-') && !flag.contains('=') && names_secret(flag) => {
                masked(text)
            }
            _ => word(text),
        };
        // A line in quotes may end in a flag, and blanks or a lone dash may stand between it and its value.
        let end = unquoted(text.rsplit(' ').next().unwrap_or(text));
        last = if matches!(end, "" | "-") { last } else { end };
        shown
    };
    words.into_iter().map(show).collect()
}

/// One word of a command line, which may be a whole line in quotes.
fn word(text: &str) -> String {
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

/// A URL without its password, without query values whose names say secret, and without secrets in its path.
pub fn url(text: &str) -> String {
    let (base, fragment) =
        text.split_once('#').map_or((text, None), |(base, fragment)| (base, Some(fragment)));
    let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    let mut shown = match path.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", redact_path(rest)),
        None => redact_path(path),
    };
    if let Some(query) = query {
        let pairs: Vec<String> = query.split('&').map(redact_pair).collect();
        shown.push('?');
        shown.push_str(&pairs.join("&"));
    }
    if fragment.is_some() {
        shown.push('#');
        shown.push_str(&masked(fragment.unwrap_or_default()));
    }
    shown
}

fn redact_path(rest: &str) -> String {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = match host.rsplit_once('@') {
        Some((user, host)) => format!("{}@{host}", masked(user)),
        // Only a port may follow here; anything else is a password whose `@` got lost.
        None => match host.split_once(':') {
            Some((name, port)) if !host.starts_with('[') && !port.chars().all(is_port) => {
                format!("{name}:{}", masked(port))
            }
            _ => host.to_owned(),
        },
    };
    let part = |part: &str| if holds_secret(part) { masked(part) } else { part.to_owned() };
    let parts: Vec<String> = path.split('/').map(part).collect();
    host + &parts.join("/")
}

fn is_port(c: char) -> bool {
    c.is_ascii_digit() || is_stand_in(c)
}

fn redact_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if names_secret(name) || name == "code" || holds_secret(value) => {
            format!("{name}={}", masked(value))
        }
        _ => pair.to_owned(),
    }
}

/// One source line of a configuration file, fit to be shown in a diagnostic.
///
/// The file may be broken, so nothing can be said about where in the structure the line stands. Kept are
/// keys, numbers, punctuation and the values of keys that are never secret; every other quoted or trailing
/// text becomes `***`.
pub fn line(source: &str) -> String {
    line_to(source, 0).0
}

/// The same, and where in it the byte `cut` of the source now stands.
pub fn line_to(source: &str, cut: usize) -> (String, usize) {
    let mut shown = String::with_capacity(source.len());
    let mut value = Value::Unknown;
    // Behind a colon or in a list stands a value, also when a further colon follows: `http://ada:secret@x`.
    let (mut behind, mut in_list) = (false, false);
    // A key without quotes stands first, with a blank behind its colon unless we know it: `c2VjcmV0=` ends a
    // value.
    let mut first = true;
    let mut at = None;
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let quote = (c == '"' || c == '\'').then_some(c);
        let (token, after) = match quote {
            Some(quote) => quoted(rest, quote),
            None if is_bare(c) => rest.split_at(rest.find(|c| !is_bare(c)).unwrap_or(rest.len())),
            None => rest.split_at(c.len_utf8()),
        };
        if source.len() - after.len() > cut {
            at = at.or(Some(shown.len()));
        }
        rest = after;
        if quote.is_none() && !is_bare(c) {
            shown.push(c);
            match c {
                ':' | '=' => behind = true,
                ',' => (behind, first) = (false, true),
                '{' => (behind, in_list, first) = (false, false, true),
                '[' | ']' | '}' => (behind, in_list) = (false, c == '['),
                _ => {}
            }
            continue;
        }
        let inner = token.trim_matches(['"', '\'']);
        let apart = after.trim_start().strip_prefix([':', '=']);
        let blank = apart.is_some_and(|rest| match rest.chars().next() {
            None => after.trim_start().starts_with(':'),
            Some(next) => next.is_whitespace(),
        });
        let stands = quote.is_some() || first && (blank || is_plain_key(inner) || is_variable(inner));
        let is_key = !behind && !in_list && stands && apart.is_some();
        behind = false;
        first = first && token == "-";
        if is_key && !after.starts_with("://") && !looks_secret(inner) {
            value = Value::of_key(inner);
            shown.push_str(token);
        } else {
            shown.push_str(&value.show(token, quote));
            // One word belongs to the key; what follows it, as in a list of arguments, may be anything.
            value = match value {
                _ if inner.starts_with("--") && names_secret(inner) => Value::Secret,
                Value::Plain => Value::Unknown,
                other => other,
            };
        }
    }
    let end = shown.len();
    (shown, at.unwrap_or(end))
}

/// What the last key of a line says about the texts behind it.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Plain,
    Secret,
    Unknown,
}

impl Value {
    fn of_key(key: &str) -> Self {
        if is_plain_key(key) {
            Self::Plain
        } else if names_secret(key) {
            Self::Secret
        } else {
            Self::Unknown
        }
    }

    fn show<'a>(self, token: &'a str, quote: Option<char>) -> Cow<'a, str> {
        let inner = quote.map_or(token, |quote| token.trim_matches(quote));
        // Short words, numbers and flags are what the mistake is about; masking them would hide it.
        let flag = inner.starts_with("--") && !inner.contains(['=', ' ']);
        let harmless = inner.len() < 6 || inner.chars().all(|c| c.is_ascii_digit()) || flag;
        let keep = match self {
            Self::Plain => !inner.contains(' ') && word(inner) == inner,
            Self::Secret => inner.is_empty(),
            Self::Unknown => harmless,
        };
        if keep {
            return Cow::Borrowed(token);
        }
        let Some(quote) = quote else { return Cow::Borrowed(MASK) };
        let closed = 1 < token.len() && token.ends_with(quote);
        Cow::Owned(format!("{quote}{MASK}{}", if closed { quote.to_string() } else { String::new() }))
    }
}

fn is_plain_key(key: &str) -> bool {
    let folded: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    PLAIN_KEYS.contains(&folded.as_str())
}

/// `GITHUB_TOKEN`, as variables are called.
fn is_variable(name: &str) -> bool {
    name.contains('_') && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

/// What may stand in an unquoted key or value.
fn is_bare(c: char) -> bool {
    !c.is_whitespace() && !"\"',:=[]{}".contains(c)
}

/// Splits off the quoted text the line begins with; an unclosed one takes the whole rest.
fn quoted(rest: &str, quote: char) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            _ if c == quote => return rest.split_at(at + 1),
            _ => {}
        }
    }
    (rest, "")
}
