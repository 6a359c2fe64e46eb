//! One line of JSON-RPC, taken apart without looking into what it carries.

use std::borrow::Cow;

use memchr::memchr2_iter;
use serde::Deserialize;
use serde_json::value::RawValue;

#[cfg(test)]
mod tests;

/// A message from the other side.
#[derive(Debug)]
pub enum Message<'a> {
    /// The answer to a request of ours.
    Answer {
        /// Which one.
        id: u64,
        /// The result or error, as received.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
    /// A request to us.
    Request {
        /// To be sent back with the answer, as received.
        id: &'a RawValue,
        /// What is asked.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// Something we are told.
    Notification {
        /// What.
        method: Cow<'a, str>,
        /// With what.
        params: Option<&'a RawValue>,
    },
}

/// Why a line is not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAMessage {
    /// Not JSON at all: output that went astray.
    #[error("not JSON")]
    Noise,
    /// JSON, but not JSON-RPC, or with both a result and an error.
    #[error("not a JSON-RPC message")]
    Malformed,
    /// Bytes that are no text.
    #[error("not valid UTF-8")]
    Encoding,
    /// A copy of a request of ours, from a server that writes down what it receives.
    #[error("a copy of a request of ours")]
    Echo,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Takes a line apart. How deep the values in it are is looked at where they are read: here they are passed over.
pub fn decode(line: &[u8]) -> Result<Message<'_>, NotAMessage> {
    if let Some(answer) = usual_answer(line) {
        return Ok(answer);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(|_| why(line))?;
    let id = envelope.id.filter(|id| id.get() != "null");
    match (envelope.method, id, envelope.result, envelope.error) {
        (Some(method), Some(id), None, None) => Ok(Message::Request { id, method, params: envelope.params }),
        (Some(method), None, None, None) => Ok(Message::Notification { method, params: envelope.params }),
        (None, Some(id), result, error) => {
            // Exactly as we sent it: another number in other words is another id.
            let id = id.get().parse().map_err(|_| NotAMessage::Malformed)?;
            match (result, error) {
                (Some(result), None) => Ok(Message::Answer { id, outcome: Ok(result) }),
                (None, Some(error)) => Ok(Message::Answer { id, outcome: Err(error) }),
                _ => Err(NotAMessage::Malformed),
            }
        }
        _ => Err(NotAMessage::Malformed),
    }
}

/// An answer as nearly everybody writes it: version, id, result, and nothing else. Anything but that is read
/// with care.
fn usual_answer(line: &[u8]) -> Option<Message<'_>> {
    let rest = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // More digits may not fit into a number.
    let id = (0 < digits && digits < 19).then(|| number(&rest[..digits]))?;
    let result = rest[digits..].strip_prefix(br#","result":"#)?.strip_suffix(b"}")?;
    let result = result.starts_with(b"{").then_some(result)?;
    // Another key behind the result would be something behind a whole value.
    let result = serde_json::from_slice(result).ok()?;
    Some(Message::Answer { id, outcome: Ok(result) })
}

/// What a client says and no server.
pub(crate) fn only_ours(method: &str) -> bool {
    matches!(method, "initialize" | "notifications/initialized" | "server/discover" | "logging/setLevel")
        || ["tools/", "resources/", "prompts/", "completion/"].iter().any(|stage| method.starts_with(stage))
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

fn why(line: &[u8]) -> NotAMessage {
    if std::str::from_utf8(line).is_err() {
        NotAMessage::Encoding
    } else if serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok() {
        NotAMessage::Malformed
    } else {
        NotAMessage::Noise
    }
}

/// Whether a value is nested beyond a limit. Every level is opened and closed, so a short line cannot be deep, nor one with few brackets, and counting
/// them is cheap; only others are looked at closely.
pub fn is_too_deep(line: &[u8], most: usize) -> bool {
    if line.len() / 2 <= most || memchr2_iter(b'{', b'[', line).count() <= most {
        return false;
    }
    let (mut depth, mut inside, mut escaped) = (0_usize, false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b'{' | b'[' if !inside => {
                depth += 1;
                if most < depth {
                    return true;
                }
            }
            b'}' | b']' if !inside => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Whether a line that cannot be read means to be an answer: an object, and no request.
pub(crate) fn is_answer_like(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{")
        && !top_keys(head).any(|(key, rest)| key == b"\"method\"" && is_key(rest))
}

/// The id of an answer that cannot be read as a whole: the top-level `"id"` in its first bytes, or, for
/// servers that write it last, at its very end.
pub(crate) fn sniff_id(head: &[u8], tail: &[u8]) -> Option<u64> {
    id_at_start(head).or_else(|| id_at_end(tail))
}

/// The top-level strings of a line, with what follows each, as far as it can be read.
fn top_keys(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let (mut depth, mut at) = (0_usize, 0);
    std::iter::from_fn(move || {
        while let Some(byte) = head.get(at) {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                b'"' => {
                    let (from, end) = (at, string_end(head, at)?);
                    at = end + 1;
                    if depth == 1 {
                        return Some((&head[from..=end], &head[end + 1..]));
                    }
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        None
    })
}

fn id_at_start(head: &[u8]) -> Option<u64> {
    let (_, rest) = top_keys(head).find(|(key, rest)| *key == b"\"id\"" && is_key(rest))?;
    number_after_colon(rest)
}

fn is_key(rest: &[u8]) -> bool {
    rest.trim_ascii_start().starts_with(b":")
}

fn string_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

fn number_after_colon(rest: &[u8]) -> Option<u64> {
    let rest = rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // `1.5` is not 1, and `"1"` is not either.
    rest.get(digits)
        .is_none_or(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace())
        .then_some(())?;
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// `…,"jsonrpc":"2.0","id":7}`: the last key, or the last but the version.
fn id_at_end(tail: &[u8]) -> Option<u64> {
    let tail = tail.trim_ascii_end().strip_suffix(b"}")?;
    let at = memchr::memmem::rfind(tail, b"\"id\"")?;
    let after = &tail[at + 4..];
    let id = number_after_colon(after)?;
    let rest: Vec<u8> = after.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let rest = rest.strip_prefix(b":")?;
    let number = id.to_string();
    let rest = rest.strip_prefix(number.as_bytes())?;
    (rest.is_empty() || rest == b",\"jsonrpc\":\"2.0\"").then_some(id)
}
