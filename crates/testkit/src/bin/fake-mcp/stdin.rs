//! Lines from stdin, by large reads on the bare descriptor: std's own reader takes 8 KiB at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use rustix::io::Errno;

struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(rustix::stdio::stdin(), &mut *buffer) {
                Err(Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
}

pub(crate) struct Lines(BufReader<Stdin>);

impl Lines {
    pub(crate) fn new() -> Self {
        Self(BufReader::with_capacity(256 * 1024, Stdin))
    }

    /// The next line into `line`, without its end; false at the end of the stream.
    pub(crate) fn next_into(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        let read = self.0.read_until(b'\n', line).unwrap_or(0);
        while line.last().is_some_and(|end| matches!(end, b'\n' | b'\r')) {
            line.pop();
        }
        0 < read
    }

    /// Whether the next line is here already, so that reading it will not wait.
    pub(crate) fn has_more(&self) -> bool {
        self.0.buffer().contains(&b'\n')
    }
}

/// Closes our end of the pipe: the writer gets an error. Only the thread that reads may do so; a read in
/// progress would keep the pipe open.
pub(crate) fn close() {
    if let Ok(null) = File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(null);
    }
}
