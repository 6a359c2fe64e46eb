//! Words of a server inside a text of ours: on one line, and unable to look like its structure.

/// All on one line, blanks made single, and without what would be structure: headings, fences, comments and
/// images are shown as the characters they are written with.
pub(crate) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        for (place, word) in line.split_whitespace().enumerate() {
            if !out.is_empty() {
                out.push(' ');
            }
            // On a line of its own this would have been a heading, and some readers still take it for one.
            if place == 0 && word.starts_with('#') {
                out.push('\\');
            }
            push_word(&mut out, word);
        }
    }
    out
}

/// A word without fences, comments and images.
fn push_word(out: &mut String, word: &str) {
    let mut rest = word;
    while let Some(c) = rest.chars().next() {
        match c {
            '`' if rest.starts_with("```") => {
                out.push('`');
                rest = rest.trim_start_matches('`');
            }
            '<' if rest.starts_with("<!--") => {
                out.push_str("<! --");
                rest = &rest[4..];
            }
            '!' if rest.starts_with("![") => {
                out.push_str("! [");
                rest = &rest[2..];
            }
            _ => {
                out.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
}

/// The first sentence, at most about so many bytes.
pub(crate) fn sentence(text: &str, most: usize) -> String {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let end = line.match_indices(['.', '!', '?']).map(|(at, _)| at).find(|at| ends(line, *at));
    let line = inline(end.map_or(line, |at| &line[..=at]));
    let line = line.trim_end_matches(['.', ':', ' ']);
    cut(line, most)
}

/// Whether the mark at this place ends a sentence: blank or nothing after it, and no abbreviation before it.
fn ends(line: &str, at: usize) -> bool {
    let after = line[at + 1..].chars().next();
    // Looked at for one mark at most that is no abbreviation's: a text of nothing but marks is not read once for each.
    let before = || line[..at].rsplit([' ', '(']).next().unwrap_or_default();
    after.is_none_or(char::is_whitespace) && !matches!(before(), "e.g" | "i.e" | "etc" | "vs" | "approx")
}

/// At most about so many bytes, cut at a word if one ends near.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let word = text[..end].rfind(' ').filter(|at| most / 2 < *at).unwrap_or(end);
    format!("{}…", text[..word].trim_end())
}

/// A name or value between backticks. What would end them early is written as JSON text.
pub(crate) fn code(text: &str) -> String {
    let plain = |c: char| c != '`' && (c == ' ' || !c.is_whitespace());
    let safe = text.chars().all(plain) && !text.contains("<!--") && !text.contains("![");
    if safe && text.trim() == text && !text.is_empty() {
        return format!("`{text}`");
    }
    format!("`{}`", literal(text))
}

/// A text as JSON that means nothing in Markdown.
pub(crate) fn literal(text: &str) -> String {
    inert(&serde_json::Value::from(text).to_string())
}

/// JSON that means the same and nothing in Markdown: what could begin code, a comment or an image stands in
/// texts only, and is written out there.
pub(crate) fn inert(json: &str) -> String {
    json.replace('`', "\\u0060").replace("<!--", "\\u003c!--").replace("![", "!\\u005b")
}

/// A name where names stand: as it is when it is one word, else as JSON text.
pub(crate) fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$' | '@' | '/');
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { literal(name) }
}
