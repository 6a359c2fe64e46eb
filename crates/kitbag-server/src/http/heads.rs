//! Heads of requests that two readers could take for different requests: with two lengths, a line that goes on, line ends
//! of another kind. Whoever stands before us may read them otherwise than we do, and what it takes for a body we would
//! take for the next request. Such a head is refused before anything of it is read.

use memchr::memchr;

#[cfg(test)]
mod tests;

/// As much room as the head of nearly every request takes.
const HEAD: usize = 512;

/// Follows the bytes of one connection, from head to head.
pub(super) struct Heads {
    state: State,
    /// How long a head may be; longer ones are refused elsewhere.
    most: usize,
}

enum State {
    /// Within a head, of which these bytes came.
    Head(Vec<u8>),
    /// Within a body of which so much is left.
    Body(u64),
    /// No further request is read: the answer to this one is the last on its connection.
    Last,
}

/// How long the body is that follows a head.
enum Length {
    Known(u64),
    Chunked,
}

/// A head that is refused, and how many of the bytes given belong to what came before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ambiguous {
    pub(super) before: usize,
}

impl Heads {
    pub(super) fn new(most: usize) -> Self {
        Self { state: State::Head(Vec::with_capacity(HEAD)), most }
    }

    /// Takes what came next.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Ambiguous> {
        let mut at = 0;
        while at < bytes.len() {
            match &mut self.state {
                State::Last => return Ok(()),
                State::Body(left) => {
                    let rest = u64::try_from(bytes.len() - at).unwrap_or(u64::MAX);
                    let taken = rest.min(*left);
                    *left -= taken;
                    at += usize::try_from(taken).unwrap_or(usize::MAX);
                    if *left == 0 {
                        self.state = State::Head(Vec::with_capacity(HEAD));
                    }
                }
                State::Head(head) => {
                    let before = if head.is_empty() { at } else { 0 };
                    let ambiguous = || Ambiguous { before };
                    let end = take_head(head, &bytes[at..]).ok_or_else(ambiguous)?;
                    at += end.unwrap_or(bytes.len() - at);
                    if end.is_some() {
                        self.state = match length(head).ok_or_else(ambiguous)? {
                            Length::Known(0) => State::Head(Vec::with_capacity(HEAD)),
                            Length::Known(length) => State::Body(length),
                            Length::Chunked => State::Last,
                        };
                    } else if self.most < head.len() {
                        self.state = State::Last;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds bytes to a head up to its end; how many those were, if it ended. None where a line ends in another way than lines
/// of HTTP do.
fn take_head(head: &mut Vec<u8>, bytes: &[u8]) -> Option<Option<usize>> {
    let mut at = 0;
    while at < bytes.len() {
        let newline = memchr(b'\n', &bytes[at..]).map(|end| at + end);
        let text = &bytes[at..newline.unwrap_or(bytes.len())];
        let is_split = head.last() == Some(&b'\r');
        // A carriage return stands before a line's end and nowhere else.
        if is_split && !text.is_empty() || memchr(b'\r', text).is_some_and(|found| found + 1 < text.len()) {
            return None;
        }
        let is_whole = is_split || text.last() == Some(&b'\r');
        if newline.is_some() && !is_whole {
            return None;
        }
        head.extend_from_slice(text);
        at += text.len();
        if newline.is_some() {
            head.push(b'\n');
            at += 1;
        }
        // Empty lines before a request are passed over.
        if head == b"\r\n" {
            head.clear();
        } else if head.ends_with(b"\r\n\r\n") {
            return Some(Some(at));
        }
    }
    Some(None)
}

/// How long the body is; none where that can be read in two ways.
fn length(head: &[u8]) -> Option<Length> {
    let (mut length, mut is_chunked, mut has_host) = (None, false, false);
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.next();
    for line in lines.filter(|line| !line.is_empty()) {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.first().is_none_or(u8::is_ascii_whitespace) || name.last().is_none_or(u8::is_ascii_whitespace)
        {
            return None;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
            let value = std::str::from_utf8(value).ok().filter(|_| is_number)?.parse::<u64>().ok()?;
            length.replace(value).is_none().then_some(())?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            (!is_chunked && value.eq_ignore_ascii_case(b"chunked")).then_some(())?;
            is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"host") {
            (!has_host).then_some(())?;
            has_host = true;
        }
    }
    match (length, is_chunked) {
        (Some(_), true) => None,
        (None, true) => Some(Length::Chunked),
        (length, false) => Some(Length::Known(length.unwrap_or(0))),
    }
}
