//! Where a value stands in the text of a JSON document, so that it can be replaced and all around it stays as it is.

use std::ops::Range;

/// One step from a value to one within it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    Key(&'a str),
    Place(usize),
}

/// Where the value stands that these steps lead to, in a text that is JSON.
pub(super) fn find(text: &str, steps: &[Step<'_>]) -> Option<Range<usize>> {
    let mut at = blanks(text, 0);
    for step in steps {
        at = inside(text, at, *step)?;
    }
    Some(at..end(text, at)?)
}

fn blanks(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '\u{feff}']).len()
}

/// Where the value begins that stands at a key or place of the one that begins here.
fn inside(text: &str, at: usize, step: Step<'_>) -> Option<usize> {
    let opens = if matches!(step, Step::Key(_)) { b'{' } else { b'[' };
    if *text.as_bytes().get(at)? != opens {
        return None;
    }
    let mut next = blanks(text, at + 1);
    // Of keys written twice the last one counts.
    let mut found = None;
    for place in 0.. {
        let key = next;
        if let Step::Key(wanted) = step {
            let behind = end(text, key)?;
            next = blanks(text, behind);
            next = blanks(text, next + 1);
            let name: String = serde_json::from_str(text.get(key..behind)?).ok()?;
            found = if name == wanted { Some(next) } else { found };
        } else if let Step::Place(wanted) = step
            && wanted == place
        {
            return Some(next);
        }
        next = blanks(text, end(text, next)?);
        if *text.as_bytes().get(next)? != b',' {
            return found;
        }
        next = blanks(text, next + 1);
    }
    found
}

/// Where the value ends that begins here.
fn end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut in_string, mut place) = (0_usize, false, at);
    loop {
        match (*bytes.get(place)?, in_string) {
            (b'\\', true) => place += 1,
            (b'"', true) => in_string = false,
            (_, true) => {}
            (b'"', false) => in_string = true,
            (b'{' | b'[', _) => depth += 1,
            (b'}' | b']', _) => depth = depth.checked_sub(1)?,
            _ => {}
        }
        place += 1;
        if depth == 0 && !in_string {
            let starts = *bytes.get(at)?;
            let is_plain = !matches!(starts, b'"' | b'{' | b'[');
            let goes_on = bytes.get(place).is_some_and(|next| !b",]} \t\r\n".contains(next));
            if !(is_plain && goes_on) {
                return Some(place);
            }
        }
    }
}
