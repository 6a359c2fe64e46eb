//! Of all that a program wrote to stderr before it ended, the line that says why: not the frames of a stack trace, the
//! border of a box or the bracket that closes an object.

#[cfg(test)]
mod tests;

/// Lines of a server's last words that are looked at.
pub(super) const LOOKED_AT: usize = 60;

/// How a line of an error begins, or what is in it.
const STRONG: [&str; 8] =
    ["error:", "exception:", "fatal:", "fatal error", "panicked at", "npm error", "npm err!", "error ["];
const WEAK: [&str; 18] = [
    "error",
    "exception",
    "fatal",
    "failed",
    "failure",
    "cannot",
    "can't",
    "could not",
    "unable",
    "not found",
    "no such",
    "not set",
    "missing",
    "required",
    "must ",
    "invalid",
    "denied",
    "usage:",
];
/// Last lines of launchers that tell nothing about the reason.
const BESIDE: [&str; 9] = [
    "complete log of this run",
    "node.js v",
    "run with `rust_backtrace",
    "traceback (most recent",
    "npm notice",
    "npm warn",
    "npm error code",
    "npm error errno",
    "npm error syscall",
];

/// The line that says why, and what belongs to it; the last lines where none looks like a reason.
pub(super) fn reason_in(lines: &[String]) -> Option<String> {
    let lines: Vec<&str> = told(lines);
    let folded: Vec<String> = lines.iter().map(|line| line.to_ascii_lowercase()).collect();
    let last_with =
        |words: &[&str]| folded.iter().rposition(|line| words.iter().any(|word| line.contains(word)));
    match last_with(&STRONG).or_else(|| last_with(&WEAK)) {
        // npm says it first, and then what else could be done.
        Some(at) if folded[at].starts_with("npm err") => {
            let is_npm = |line: &&String| line.starts_with("npm err");
            let first = at + 1 - folded[..=at].iter().rev().take_while(is_npm).count();
            Some(lines[first].to_owned())
        }
        // Rust says where first, and then what.
        Some(at) if folded[at].contains("panicked at") && folded[at].ends_with(':') => {
            Some(lines[at..lines.len().min(at + 2)].join(" "))
        }
        Some(at) => Some(lines[at].to_owned()),
        None if lines.is_empty() => None,
        None => Some(lines[lines.len().saturating_sub(3)..].join(" / ")),
    }
}

/// The last line worth reading while a program starts.
pub(crate) fn latest(lines: &[String]) -> Option<String> {
    told(lines).last().map(|line| (*line).to_owned())
}

/// The lines without what only frames them.
fn told(lines: &[String]) -> Vec<&str> {
    let mut told: Vec<&str> = Vec::new();
    let mut lines = lines.iter().map(String::as_str).peekable();
    while let Some(line) = lines.next() {
        let text = unframed(line);
        if is_frame(line, text) {
            // Python shows the line of code below each frame, deeper than the frame itself.
            if text.starts_with("File \"") {
                while lines.next_if(|next| depth(line) < depth(next)).is_some() {}
            }
            continue;
        }
        let is_beside = BESIDE.iter().any(|beside| text.to_ascii_lowercase().contains(beside));
        if !is_beside && text.chars().any(char::is_alphanumeric) {
            told.push(text);
        }
    }
    told
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A line without the border of the box it stands in.
fn unframed(line: &str) -> &str {
    let is_border = |c: char| c.is_whitespace() || matches!(c, '\u{2500}'..='\u{259f}' | '|');
    line.trim_matches(is_border)
}

/// Whether a line is one of a stack trace, or shows where in the code it happened.
fn is_frame(line: &str, text: &str) -> bool {
    let is_call = line.starts_with([' ', '\t']) && text.starts_with("at ");
    let is_place = text.starts_with("File \"") && text.contains(", line ");
    let is_numbered = text
        .split_once(": ")
        .is_some_and(|(number, rest)| number.parse::<u32>().is_ok() && rest.contains("::"));
    let is_pointer = text.chars().all(|c| matches!(c, '^' | '~' | ' '));
    is_call
        || is_place
        || is_numbered
        || is_pointer
        || text.starts_with("node:internal/")
        || text.starts_with("throw ")
}

/// A variable named in these lines that our environment has and the program did not get.
pub(super) fn missing_variable<'a>(lines: &[String], withheld: &'a [String]) -> Option<&'a str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut words = lines.iter().rev().flat_map(|line| line.split(move |c: char| !is_of_name(c)));
    words.find_map(|word| withheld.iter().find(|name| *name == word)).map(String::as_str)
}
