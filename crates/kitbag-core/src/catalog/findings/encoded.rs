//! Long runs of base64 or hexadecimal digits: text that a model can read and a person cannot.

/// Digits of base64 that are worth a word.
const LONGEST_BASE64: usize = 100;
/// Hexadecimal digits that are worth a word: more than any usual hash has.
const LONGEST_HEX: usize = 129;

/// The first such run of a text.
pub(super) fn run(text: &str) -> Option<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_')))
        .filter(|run| LONGEST_BASE64 <= run.len())
        .find(|run| is_hex(run) || is_base64(run))
}

fn is_hex(run: &str) -> bool {
    LONGEST_HEX <= run.len() && run.chars().all(|c| c.is_ascii_hexdigit())
}

/// Paths, names and rulers have words, one case or one sign; base64 has everything, mixed.
fn is_base64(run: &str) -> bool {
    let count = |is: fn(&char) -> bool| run.chars().filter(is).count();
    let share = run.len() / 20;
    share < count(char::is_ascii_uppercase)
        && share < count(char::is_ascii_lowercase)
        && 0 < count(char::is_ascii_digit)
        && count(|c| matches!(c, '/' | '-' | '_')) < run.len() / 10
}
