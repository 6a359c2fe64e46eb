//! Lines out of a stream of bytes. A line that is too long is not kept, only its two ends: enough to tell
//! which call it answered. The next line is read as if nothing had happened.

use std::ops::Range;

use memchr::memchr;

#[cfg(test)]
mod tests;

/// How much of the ends of an oversized line is kept for finding its id.
const HEAD: usize = 4096;
const TAIL: usize = 512;
/// A buffer larger than this is given back when it is empty.
const KEEP: usize = 4 << 20;

/// What the framer found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    /// A whole line, without its end.
    Line(&'a [u8]),
    /// A line longer than the limit: its beginning, its end, and how long it was.
    Oversized {
        /// The first bytes.
        head: &'a [u8],
        /// The last bytes.
        tail: &'a [u8],
        /// All of it.
        length: usize,
    },
}

/// Cuts a stream into lines of bounded length.
#[derive(Debug)]
pub(crate) struct Framer {
    limit: usize,
    buffer: Vec<u8>,
    /// Everything before this was handed out.
    start: usize,
    /// Everything before this was searched for a line end.
    searched: usize,
    /// The line being skipped, if it is too long.
    skipping: Option<Skipped>,
    current: Current,
}

/// What [`Framer::advance`] found last.
#[derive(Debug)]
enum Current {
    Line(Range<usize>),
    Skipped(Skipped),
}

#[derive(Debug, Default)]
struct Skipped {
    head: Vec<u8>,
    tail: Vec<u8>,
    length: usize,
}

impl Framer {
    /// Lines of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: None,
            current: Current::Line(0..0),
        }
    }

    /// The buffer to read into, with room for at least `size` bytes more.
    pub(crate) fn room(&mut self, size: usize) -> &mut Vec<u8> {
        self.compact();
        self.buffer.reserve(size);
        &mut self.buffer
    }

    /// Goes on to the next line, if a whole one is there.
    pub(crate) fn advance(&mut self) -> bool {
        let Some(end) = memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at) else {
            self.searched = self.buffer.len();
            if self.limit < self.buffer.len() - self.start || self.skipping.is_some() {
                self.skip_rest();
            }
            return false;
        };
        let line = self.start..end;
        self.start = end + 1;
        self.searched = self.start;
        self.current = match self.skipping.take() {
            None if line.len() <= self.limit => Current::Line(line),
            skipped => {
                let mut skipped = skipped.unwrap_or_default();
                skipped.add(&self.buffer[line]);
                Current::Skipped(skipped)
            }
        };
        true
    }

    /// The line [`Framer::advance`] went on to.
    pub(crate) fn frame(&self) -> Frame<'_> {
        match &self.current {
            Current::Line(line) => {
                let line = &self.buffer[line.clone()];
                Frame::Line(line.strip_suffix(b"\r").unwrap_or(line))
            }
            Current::Skipped(skipped) => {
                Frame::Oversized { head: &skipped.head, tail: &skipped.tail, length: skipped.length }
            }
        }
    }

    /// The stream has ended; a last line without an end counts as one.
    pub(crate) fn finish(&mut self) -> bool {
        let rest = self.start < self.buffer.len() || self.skipping.is_some();
        if rest {
            self.buffer.push(b'\n');
        }
        rest && self.advance()
    }

    /// Bytes of memory held.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.buffer.capacity()
    }

    /// Moves what is buffered into the skipped line and forgets it.
    fn skip_rest(&mut self) {
        let mut skipped = self.skipping.take().unwrap_or_default();
        skipped.add(&self.buffer[self.start..]);
        self.skipping = Some(skipped);
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
    }

    /// Forgets what was handed out; what is left moves to the front.
    fn compact(&mut self) {
        self.current = Current::Line(0..0);
        if self.start == self.buffer.len() {
            self.buffer.clear();
            if KEEP < self.buffer.capacity() {
                self.buffer = Vec::new();
            }
        } else if 0 < self.start {
            self.buffer.drain(..self.start);
        }
        self.searched -= self.start;
        self.start = 0;
    }
}

impl Skipped {
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        let room = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        let last = &bytes[bytes.len().saturating_sub(TAIL)..];
        let keep = TAIL.saturating_sub(last.len()).min(self.tail.len());
        self.tail.drain(..self.tail.len() - keep);
        self.tail.extend_from_slice(last);
    }
}
