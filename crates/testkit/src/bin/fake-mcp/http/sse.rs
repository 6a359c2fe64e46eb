//! Lines as server-sent events, also in parts, so that a line that drips drips as an event too.

/// Turns the bytes of one stream into events.
pub(crate) struct Framer {
    /// With ids a client can come back for the rest.
    ids: Option<u64>,
    /// Lines so far.
    line: usize,
    within: bool,
}

impl Framer {
    /// `ids` is the number of the stream, `line` how many of its lines the client has already.
    pub(crate) fn new(ids: Option<u64>, line: usize) -> Self {
        Self { ids, line, within: false }
    }

    /// An event without data, whose id a client can come back with.
    pub(crate) fn priming(&self, retry: Option<u64>) -> Vec<u8> {
        let retry = retry.map_or_else(String::new, |ms| format!("retry: {ms}\n"));
        let id = self.ids.map_or_else(String::new, |stream| format!("id: {stream}-{}\n", self.line));
        if retry.is_empty() && id.is_empty() {
            return Vec::new();
        }
        format!("{retry}{id}data: \n\n").into_bytes()
    }

    pub(crate) fn frame(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut events = Vec::with_capacity(bytes.len() + 64);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if !self.within {
                self.begin(part[0], &mut events);
            }
            events.extend_from_slice(part);
            self.within = part.last() != Some(&b'\n');
            if !self.within {
                events.push(b'\n');
            }
        }
        events
    }

    /// What is no message goes out as what servers put between their messages: comments and other events.
    fn begin(&mut self, first: u8, events: &mut Vec<u8>) {
        self.line += 1;
        if first == b'{' || first == b'[' {
            if let Some(stream) = self.ids {
                events.extend_from_slice(format!("id: {stream}-{}\n", self.line).as_bytes());
            }
            events.extend_from_slice(b"event: message\ndata: ");
        } else if self.line.is_multiple_of(2) {
            events.extend_from_slice(b": ");
        } else {
            events.extend_from_slice(b"event: noise\ndata: ");
        }
    }
}

/// The stream and the line that a `Last-Event-ID` names.
pub(crate) fn position(id: &str) -> Option<(u64, usize)> {
    let (stream, line) = id.split_once('-')?;
    Some((stream.parse().ok()?, line.parse().ok()?))
}
