//! Messages on their way out. They are held until the reader has nothing more to read, then leave in one write;
//! a fault may reshape each of them on its way. Where they go in the end is the transport's business.

use std::sync::{Arc, Mutex, PoisonError};

use crate::cut::How;
use crate::faults::Fault;

/// What a message is, for faults that pick and for transports that answer each request apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An answer to `tools/call`.
    CallAnswer,
    /// An answer to anything else.
    Answer,
    /// A notification or a request of our own.
    Note,
}

/// One end of a transport: all of stdout, or the answer to one HTTP request.
pub(crate) trait Sink: Send {
    fn write(&mut self, bytes: &[u8]);

    /// What was written has to leave now, whole or not.
    fn push(&mut self) {}

    /// A message of this kind begins.
    fn begin(&mut self, _: Kind) {}

    /// It was written to its end.
    fn end(&mut self, _: Kind) {}

    /// The status for what comes, where the transport has one.
    fn status(&mut self, _: u16) {}

    /// The next answer is the last thing that leaves.
    fn doom(&mut self, _: How) {}

    /// Ends the connection, or the process with it, after what was written.
    fn sever(&mut self, _: How);

    /// Whether each message leaves on its own, so that it is wanted whole and at once.
    fn is_message_wise(&self) -> bool {
        false
    }

    /// Nothing more will come.
    fn finish(&mut self) {}

    /// Whether nobody will ever read what is written.
    fn is_gone(&self) -> bool {
        false
    }
}

pub(crate) struct Out {
    pipe: Mutex<Pipe>,
    fault: Option<Arc<dyn Fault>>,
}

/// The bytes on their way.
pub(crate) struct Pipe {
    held: Vec<u8>,
    sink: Box<dyn Sink>,
}

/// Held bytes beyond this leave even if there is more to read.
const FULL: usize = 64 * 1024;

impl Out {
    pub(crate) fn new(sink: impl Sink + 'static, fault: Option<Arc<dyn Fault>>) -> Self {
        Self { pipe: Mutex::new(Pipe { held: Vec::new(), sink: Box::new(sink) }), fault }
    }

    /// Takes one whole line. It leaves with the next [`Out::flush`] at the latest.
    pub(crate) fn put(&self, kind: Kind, line: &[u8]) {
        self.during(kind, |pipe| self.shaped(pipe, kind, line));
    }

    /// An answer that says no, with the status that goes with it.
    pub(crate) fn refuse(&self, status: u16, line: &[u8]) {
        self.with(|pipe| pipe.sink.status(status));
        self.put(Kind::Answer, line);
    }

    /// The last line before the end.
    pub(crate) fn put_and_sever(&self, kind: Kind, line: &[u8], how: How) {
        self.with(|pipe| pipe.sink.doom(how));
        self.put(kind, line);
        self.sever(how);
    }

    pub(crate) fn flush(&self) {
        self.with(Pipe::flush);
    }

    /// Writes bytes as they are, past the fault's `emit`.
    pub(crate) fn raw(&self, bytes: &[u8]) {
        self.with(|pipe| pipe.write_now(bytes));
    }

    /// A line that breaks off in the middle. Where one can come back, the rest waits there.
    pub(crate) fn tear(&self, kind: Kind, line: &[u8], at: usize, how: How) {
        self.during(kind, |pipe| {
            pipe.write_now(&line[..at]);
            pipe.sink.sever(how);
            pipe.write_now(&line[at..]);
        });
    }

    /// A whole message that `act` writes.
    pub(crate) fn during(&self, kind: Kind, act: impl FnOnce(&mut Pipe)) {
        self.with(|pipe| {
            pipe.sink.begin(kind);
            act(pipe);
            pipe.end(kind);
        });
    }

    pub(crate) fn sever(&self, how: How) {
        self.with(|pipe| {
            pipe.flush();
            pipe.sink.sever(how);
        });
    }

    /// No answer will come.
    pub(crate) fn finish(&self) {
        self.with(|pipe| {
            pipe.flush();
            pipe.sink.finish();
        });
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.with(|pipe| pipe.sink.is_gone())
    }

    /// For what must not be interleaved with other messages.
    fn with<T>(&self, act: impl FnOnce(&mut Pipe) -> T) -> T {
        act(&mut self.pipe.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn shaped(&self, pipe: &mut Pipe, kind: Kind, line: &[u8]) {
        match &self.fault {
            None => pipe.hold(line),
            Some(fault) => fault.emit(pipe, kind, line),
        }
    }
}

impl Pipe {
    pub(crate) fn hold(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        if FULL <= self.held.len() {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        if !self.held.is_empty() {
            self.sink.write(&self.held);
        }
        self.held.clear();
        // One huge answer must not stay in memory for ever.
        self.held.shrink_to(2 * FULL);
    }

    pub(crate) fn write_now(&mut self, bytes: &[u8]) {
        self.flush();
        self.sink.write(bytes);
        self.sink.push();
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.sink.is_gone()
    }

    /// A sink that needs the end of a message gets all of it first.
    fn end(&mut self, kind: Kind) {
        if self.sink.is_message_wise() {
            self.flush();
        }
        self.sink.end(kind);
    }
}
