//! Lines out of a stream of bytes. A line that is too long is told as soon as it is, by its beginning, and what is
//! left of it is passed over. The next line is read as if nothing had happened.

use std::ops::Range;

use memchr::memchr;

#[cfg(test)]
mod tests;

/// How much of the beginning of an oversized line is kept for finding its id.
const HEAD: usize = 4096;
/// A buffer larger than this is given back when it is empty.
const KEEP: usize = 4 << 20;

/// What the framer found.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// A whole line, without its end.
    Line(&'a [u8]),
    /// The first bytes of a line that is longer than the limit.
    Oversized(&'a [u8]),
}

/// Cuts a stream into lines of bounded length.
#[derive(Debug)]
pub struct Framer {
    limit: usize,
    buffer: Vec<u8>,
    /// Everything before this was handed out.
    start: usize,
    /// Everything before this was searched for a line end.
    searched: usize,
    /// Whether what comes belongs to a line that is too long.
    skipping: bool,
    current: Current,
}

/// What [`Framer::advance`] found last.
#[derive(Debug)]
enum Current {
    Line(Range<usize>),
    Oversized(Vec<u8>),
}

impl Framer {
    /// Lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipping: false,
            current: Current::Line(0..0),
        }
    }

    /// The buffer to read into, with room for at least `size` bytes more.
    pub fn room(&mut self, size: usize) -> &mut Vec<u8> {
        self.compact();
        self.buffer.reserve(size);
        &mut self.buffer
    }

    /// Goes on to the next line, if a whole one is there, or one that is too long already.
    pub fn advance(&mut self) -> bool {
        while let Some(at) = memchr(b'\n', &self.buffer[self.searched..]) {
            let line = self.start..self.searched + at;
            self.start = line.end + 1;
            self.searched = self.start;
            if !std::mem::take(&mut self.skipping) {
                let is_short = line.len() <= self.limit;
                self.current = if is_short { Current::Line(line) } else { self.oversized(line.start) };
                return true;
            }
        }
        let is_new = !self.skipping && self.limit < self.buffer.len() - self.start;
        if is_new {
            self.current = self.oversized(self.start);
            self.skipping = true;
        }
        if self.skipping {
            self.buffer.clear();
            self.start = 0;
        }
        self.searched = self.buffer.len();
        is_new
    }

    fn oversized(&self, start: usize) -> Current {
        let line = &self.buffer[start..];
        Current::Oversized(line[..line.len().min(HEAD)].to_vec())
    }

    /// The line [`Framer::advance`] went on to.
    pub fn frame(&self) -> Frame<'_> {
        match &self.current {
            Current::Line(line) => {
                let line = &self.buffer[line.clone()];
                Frame::Line(line.strip_suffix(b"\r").unwrap_or(line))
            }
            Current::Oversized(head) => Frame::Oversized(head),
        }
    }

    /// The stream has ended; a last line without an end counts as one.
    pub fn finish(&mut self) -> bool {
        let rest = self.start < self.buffer.len() && !self.skipping;
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
