//! Blanks what is not code. Not a Rust lexer: just enough of one to tell where comments and literals end.

/// `text` with every comment and literal turned into spaces, line by line the same.
pub(super) fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(next) = rest.chars().next() {
        let blanked = match literal_or_comment(rest) {
            // Within a word an `r` begins nothing.
            0 if !in_word => raw_string(rest),
            len => len,
        };
        let (taken, after) = rest.split_at(blanked.max(next.len_utf8()));
        if 0 < blanked {
            blank(taken, &mut out);
        } else {
            out.push(next);
        }
        in_word = blanked == 0 && (next.is_alphanumeric() || next == '_');
        rest = after;
    }
    out
}

/// Masked code with every item under `#[cfg(test)]` blanked.
pub(super) fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = rest.find(MARK) {
        let (before, item) = rest.split_at(start);
        let (item, after) = item.split_at(MARK.len() + item_len(&item[MARK.len()..]));
        out.push_str(before);
        blank(item, &mut out);
        rest = after;
    }
    out + rest
}

fn blank(text: &str, out: &mut String) {
    out.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
}

/// How many bytes at the start of `rest` are one comment or plain literal; 0 when not.
fn literal_or_comment(rest: &str) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('\'') {
        return if is_char(rest) { quoted(rest, '\'') } else { 0 };
    }
    0
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let here = &rest[at..];
        let Some(next) = here.chars().next() else { return rest.len() };
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += next.len_utf8();
        }
        if depth == 0 {
            return at;
        }
    }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return at + quote.len_utf8();
        }
    }
    rest.len()
}

/// Tells `'a'` from the lifetime `'a`.
fn is_char(rest: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    chars.next() == Some('\\') || chars.next() == Some('\'')
}

/// `r"…"`, `r#"…"#` and the like with `b` or `c` before.
fn raw_string(rest: &str) -> usize {
    let marked = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let Some(fenced) = marked.strip_prefix('r') else { return 0 };
    let body = fenced.trim_start_matches('#');
    if !body.starts_with('"') {
        return 0;
    }
    let close = format!("\"{}", "#".repeat(fenced.len() - body.len()));
    let end = body[1..].find(&close).map_or(body.len(), |at| 1 + at + close.len());
    rest.len() - body.len() + end
}

/// The length of the item at the start of masked `code`: up to its `;`, or its closing brace.
fn item_len(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
