//! What must not be shown. Values of variables and headers are masked by their place (see `model`); here
//! are the rules for places where a secret may stand among ordinary text: arguments, URLs, source lines.

mod line;
mod url;
mod words;

pub use line::{Grammar, line, line_in};
pub use url::url;
pub use words::words;

/// What is printed instead of a secret.
pub const MASK: &str = "***";

/// Words in the name of a variable, header, flag or query key that say its value is a secret.
const NAMES: [&str; 13] = [
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
    // `X-Auth` and `basicAuth`, and neither `author` nor `unauthorized`.
    let names_auth = folded.match_indices("auth").any(|(at, _)| !folded[at..].starts_with("author"));
    parts.any(part)
        || names_auth
        || folded.ends_with("apikey")
        || NAMES.iter().any(|word| folded.contains(word))
}

/// Whether a text looks like a secret wherever it stands: a well-known beginning, or a long run of mixed
/// letters and digits that no one would type.
pub fn looks_secret(text: &str) -> bool {
    let text = text.strip_prefix("Bearer ").or_else(|| text.strip_prefix("bearer ")).unwrap_or(text);
    let long_enough = 12 <= text.len();
    let is_key = || text.contains("PRIVATE KEY-----");
    if long_enough && PREFIXES.iter().any(|prefix| text.starts_with(prefix)) || is_key() {
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
