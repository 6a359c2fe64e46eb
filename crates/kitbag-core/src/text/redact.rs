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
    folded == "key" || folded.ends_with("apikey") || NAMES.iter().any(|word| folded.contains(word))
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

/// Words of a command line as they may be shown: `--token x`, `--token=x` and well-known secrets are masked.
pub fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut mask_next = false;
    let show = |word: &str| {
        let is_flag = word.starts_with('-');
        let shown = match word.split_once('=') {
            _ if mask_next && !is_flag => MASK.to_owned(),
            Some((name, value)) if names_secret(name) || looks_secret(value) => format!("{name}={MASK}"),
            _ if looks_secret(word) => MASK.to_owned(),
            _ if word.contains(' ') => self::words(word.split(' ')).join(" "),
            _ if word.contains("://") => url(word),
            _ => word.to_owned(),
        };
        mask_next = is_flag && !word.contains('=') && names_secret(word);
        shown
    };
    words.into_iter().map(show).collect()
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
        shown.push_str(MASK);
    }
    shown
}

fn redact_path(rest: &str) -> String {
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("{MASK}@{host}"),
        None => host.to_owned(),
    };
    let parts: Vec<&str> = path.split('/').map(|part| if looks_secret(part) { MASK } else { part }).collect();
    host + &parts.join("/")
}

fn redact_pair(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, value)) if names_secret(name) || name == "code" || looks_secret(value) => {
            format!("{name}={MASK}")
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
        } else if after.trim_start().starts_with([':', '=']) && !after.starts_with("://") {
            value = Value::of_key(token.trim_matches(['"', '\'']));
            shown.push_str(token);
        } else {
            shown.push_str(&value.show(token, quote));
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
        let flag = inner.starts_with('-') && !inner.contains(['=', ' ']);
        let harmless = inner.len() < 6 || inner.chars().all(|c| c.is_ascii_digit()) || flag;
        let keep = match self {
            Self::Plain => !looks_secret(inner) && !inner.contains(' '),
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
