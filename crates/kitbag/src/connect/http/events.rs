//! A stream of events taken apart as its bytes come in, never holding more than one event of bounded size.

use std::time::Duration;

use memchr::memchr2;

#[cfg(test)]
mod tests;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its kind; none means `message`.
    pub(crate) kind: Option<String>,
    /// What it carries.
    pub(crate) data: Vec<u8>,
}

impl Event {
    /// Whether it carries a message of the protocol.
    pub(crate) fn is_message(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "message") && !self.data.is_empty()
    }
}

/// An event that is longer than the limit, by what was read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong(pub(crate) usize);

/// Takes bytes in and gives events out.
#[derive(Debug)]
pub(crate) struct Events {
    /// The line that is not at its end yet.
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    /// A carriage return ended the line; a line feed right behind it belongs to it.
    after_return: bool,
    fresh: bool,
    limit: usize,
    /// The id of the event that is not at its end yet.
    id: Option<String>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Events {
    /// At most this many bytes an event.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            after_return: false,
            fresh: true,
            limit,
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// The id to go on from after a break: that of the last event that was whole.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long the server wants us to wait before that.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Forgets what a stream that broke off left half said; where to go on stays.
    pub(crate) fn restart(&mut self) {
        self.line.clear();
        self.event = Event::default();
        self.id = None;
        self.has_data = false;
        self.after_return = false;
        self.fresh = true;
    }

    /// Takes bytes from the front until an event is whole; none when more bytes are needed.
    pub(crate) fn take(&mut self, bytes: &mut &[u8]) -> Result<Option<Event>, TooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                *bytes = &bytes[1..];
                continue;
            }
            let end = memchr2(b'\n', b'\r', bytes);
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let size = self.line.len() + self.event.data.len() + part.len();
            // The word in front of the data is not part of it.
            if self.limit + 64 < size {
                return Err(TooLong(size));
            }
            self.line.extend_from_slice(part);
            let Some(end) = end else {
                *bytes = &[];
                return Ok(None);
            };
            self.after_return = bytes[end] == b'\r';
            *bytes = &bytes[end + 1..];
            if let Some(event) = self.end_of_line() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn end_of_line(&mut self) -> Option<Event> {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.fresh) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        let event = if line.is_empty() { self.end_of_event() } else { self.field(&line) };
        // The room of an ordinary line is used again.
        if line.capacity() <= 64 << 10 {
            line.clear();
            self.line = line;
        }
        event
    }

    fn end_of_event(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        self.last_id = self.id.take().or(self.last_id.take());
        std::mem::take(&mut self.has_data).then_some(event)
    }

    fn field(&mut self, line: &[u8]) -> Option<Event> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], line[at + 1..].strip_prefix(b" ").unwrap_or(&line[at + 1..])),
            None => (line, &b""[..]),
        };
        match name {
            b"data" => {
                if self.has_data {
                    self.event.data.push(b'\n');
                }
                self.has_data = true;
                self.event.data.extend_from_slice(value);
            }
            b"event" => self.event.kind = Some(String::from_utf8_lossy(value).into_owned()),
            // It goes back in a header: what cannot stand there is not kept.
            b"id" if value.len() <= 1024 && value.iter().all(|byte| (0x20..0x7f).contains(byte)) => {
                self.id = String::from_utf8(value.to_vec()).ok();
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let ms = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry = Some(Duration::from_millis(ms.unwrap_or(u64::MAX)));
            }
            _ => {}
        }
        None
    }
}
