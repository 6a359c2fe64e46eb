//! Stdout as the end of a transport.

use std::fs::File;
use std::process;

use rustix::io::Errno;

use crate::cut::{self, How};
use crate::out::Sink;

pub(crate) struct Stdout;

impl Sink for Stdout {
    /// Ends the process if nobody reads any more, as most real servers do.
    fn write(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match rustix::io::write(rustix::stdio::stdout(), bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(_) => process::exit(0),
            }
        }
    }

    fn sever(&mut self, how: How) {
        cut::end(how);
    }
}

/// Closes our end of the pipe: the reader gets its end. What is written later goes nowhere.
pub(crate) fn close() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(null);
    }
}
