//! As much of HTTP as a load client needs, with as little work as can be: what is measured is the other side.

use std::net::SocketAddr;

/// One answer, found in what came of a connection.
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The session it begins, if it does.
    pub session: Option<String>,
    /// The message in it: the body, or what the last event in it says.
    pub body: Vec<u8>,
    /// How many of the bytes are its own.
    pub length: usize,
}

/// The bytes of a POST.
pub fn post(to: SocketAddr, path: &str, session: Option<&str>, body: &str) -> Vec<u8> {
    let session = session.map_or_else(String::new, |id| {
        format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n")
    });
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n{session}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The first answer in what came; none while a part of it is missing.
pub fn answer(bytes: &[u8]) -> Option<Answer> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut head = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(start) = head.parse(bytes).ok()? else { return None };
    let header = |name: &str| {
        let header = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    let (body, length) = match header("content-length") {
        Some(length) => {
            let end = start + length.trim().parse::<usize>().ok()?;
            (bytes.get(start..end)?.to_vec(), end)
        }
        None if header("transfer-encoding").is_some() => chunks(bytes, start)?,
        None => (Vec::new(), start),
    };
    let is_events = header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let body = if is_events { last_event(&body) } else { body };
    Some(Answer { status: head.code?, session: header("mcp-session-id").map(str::to_owned), body, length })
}

/// A body in parts, and where it ends.
fn chunks(bytes: &[u8], mut at: usize) -> Option<(Vec<u8>, usize)> {
    let mut body = Vec::new();
    loop {
        let httparse::Status::Complete((start, length)) = httparse::parse_chunk_size(&bytes[at..]).ok()?
        else {
            return None;
        };
        let start = at + start;
        let end = start + usize::try_from(length).ok()?;
        body.extend_from_slice(bytes.get(start..end)?);
        at = end + 2;
        if bytes.len() < at {
            return None;
        }
        if length == 0 {
            return Some((body, at));
        }
    }
}

fn last_event(body: &[u8]) -> Vec<u8> {
    let lines = body.split(|byte| *byte == b'\n').rev();
    let data = lines.filter_map(|line| line.strip_prefix(b"data:")).map(<[u8]>::trim_ascii);
    data.map(<[u8]>::to_vec).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_in_what_came() {
        let plain = b"HTTP/1.1 200 OK\r\nMcp-Session-Id: a\r\nContent-Length: 2\r\n\r\n{}HTTP";
        let found = answer(plain).unwrap();
        assert_eq!((found.status, found.session.as_deref(), &found.body[..]), (200, Some("a"), &b"{}"[..]));
        assert_eq!(found.length, plain.len() - 4);
        assert!(answer(&plain[..plain.len() - 5]).is_none());
        let events =
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
            19\r\nevent: message\ndata: {}\n\n\r\n0\r\n\r\n";
        let found = answer(events).unwrap();
        assert_eq!((&found.body[..], found.length), (&b"{}"[..], events.len()));
        assert!(answer(&events[..events.len() - 2]).is_none());
    }
}
