//! Stdout. Messages are held until the reader has nothing more to read, then leave in one write; a fault may
//! reshape each of them on its way.

use std::fs::File;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use crate::faults::Fault;

/// What a message is, for faults that pick.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An answer to `tools/call`.
    CallAnswer,
    /// An answer to anything else.
    Answer,
    /// A notification or a request of our own.
    Note,
}

pub(crate) struct Out {
    pipe: Mutex<Pipe>,
    fault: Option<Arc<dyn Fault>>,
}

/// The bytes on their way.
#[derive(Default)]
pub(crate) struct Pipe(Vec<u8>);

/// Held bytes beyond this leave even if there is more to read.
const FULL: usize = 64 * 1024;

impl Out {
    pub(crate) fn new(fault: Option<Arc<dyn Fault>>) -> Self {
        Self { pipe: Mutex::default(), fault }
    }

    /// Takes one whole line. It leaves with the next [`Out::flush`] at the latest.
    pub(crate) fn put(&self, kind: Kind, line: &[u8]) {
        self.with(|pipe| match &self.fault {
            None => pipe.hold(line),
            Some(fault) => fault.emit(pipe, kind, line),
        });
    }

    pub(crate) fn flush(&self) {
        self.with(Pipe::flush);
    }

    /// Writes bytes as they are, past the fault's `emit`.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        self.with(|pipe| pipe.write_now(bytes));
    }

    /// For what must not be interleaved with other messages.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Pipe) -> T) -> T {
        act(&mut self.pipe.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Pipe {
    pub(crate) fn hold(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        if FULL <= self.0.len() {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        write_all(&self.0);
        self.0.clear();
        // One huge answer must not stay in memory for ever.
        self.0.shrink_to(2 * FULL);
    }

    pub(crate) fn write_now(&mut self, bytes: &[u8]) {
        self.flush();
        write_all(bytes);
    }
}

/// Ends the process if nobody reads any more, as most real servers do.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(_) => process::exit(0),
        }
    }
}

/// Closes our end of the pipe: the reader gets its end. What is written later goes nowhere.
pub(crate) fn close() {
    if let Ok(null) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(null);
    }
}
