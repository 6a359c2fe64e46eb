//! Reading along: every message of every transport, in both directions, as whoever looks for a fault wants to see them.
//! It stands around the two halves of a channel, so nothing below or above knows of it, and without anybody who reads
//! along it is not there at all.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::SystemTime;

use kitbag_core::ServerName;
use kitbag_core::text::{Redactor, one_line};

use super::channel::{Incoming, LineSource, Outgoing, Sink, Unsent};

/// Is given every message that is exchanged with servers. See [`crate::OpenOptions::trace`].
///
/// It is called where messages are sent and received: one that takes long holds its server up.
pub trait Trace: Send + Sync + 'static {
    /// One message, or the end of a connection.
    fn trace(&self, line: &TraceLine);
}

/// What was sent or received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLine {
    /// By or from whom.
    pub server: ServerName,
    /// When.
    pub at: SystemTime,
    /// Which way it went.
    pub direction: TraceDirection,
    /// The message in one line, without the server's secrets; what came of a request or connection that failed.
    pub text: String,
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceDirection {
    /// To the server.
    Sent,
    /// From the server.
    Received,
    /// No message: a request that failed below the protocol, or the end of a connection.
    Event,
}

impl TraceDirection {
    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Received => "received",
            Self::Event => "event",
        }
    }
}

/// Somebody who reads along; two are the same when they are one.
#[derive(Clone)]
pub(crate) struct Tracer(Arc<dyn Trace>);

impl Tracer {
    pub(crate) fn new(trace: Arc<dyn Trace>) -> Self {
        Self(trace)
    }

    /// Both halves of a channel with this one reading along.
    pub(crate) fn over<S: Sink, L: LineSource>(
        &self,
        server: &ServerName,
        redactor: &Redactor,
        sink: S,
        source: L,
    ) -> (Traced<S>, Traced<L>) {
        let pen = Pen { tracer: self.clone(), server: server.clone(), redactor: redactor.clone() };
        (Traced { half: sink, pen: pen.clone() }, Traced { half: source, pen })
    }

    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>().addr()
    }
}

impl PartialEq for Tracer {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Tracer {}

impl Hash for Tracer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracer").field(&self.address()).finish()
    }
}

/// Writes the lines of one server.
#[derive(Clone)]
struct Pen {
    tracer: Tracer,
    server: ServerName,
    redactor: Redactor,
}

impl Pen {
    fn write(&self, direction: TraceDirection, line: &[u8]) {
        // Only known secrets: what merely looks like one in a log is a name in a schema here.
        let masked = self.redactor.mask_bytes(line.trim_ascii_end());
        let text = one_line(&String::from_utf8_lossy(&masked));
        let line = TraceLine { server: self.server.clone(), at: SystemTime::now(), direction, text };
        // Others' code: one that panics must not end the conversation.
        let _ = catch_unwind(AssertUnwindSafe(|| self.tracer.0.trace(&line)));
    }
}

/// One half of a channel, read along.
pub(crate) struct Traced<T> {
    half: T,
    pen: Pen,
}

/// There is no shortcut: it would run others' code under a lock.
impl<S: Sink> Sink for Traced<S> {
    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        for outgoing in batch.iter() {
            self.pen.write(TraceDirection::Sent, &outgoing.line.bytes);
        }
        self.half.send(batch).await
    }
}

impl<L: LineSource> LineSource for Traced<L> {
    async fn next(&mut self) -> Incoming<'_> {
        let incoming = self.half.next().await;
        let received = |line: &[u8]| self.pen.write(TraceDirection::Received, line);
        let event = |text: String| self.pen.write(TraceDirection::Event, text.as_bytes());
        match &incoming {
            Incoming::Line(line) | Incoming::Beside { line, .. } | Incoming::Rest(line) => received(line),
            Incoming::Oversized(head) => {
                received(self.pen.redactor.head(head, HEAD));
                event(
                    "the message before is longer than the limit \"line\"; this was its beginning".to_owned(),
                );
            }
            Incoming::Failed { id, error } => event(format!("request {id} failed: {error}")),
            Incoming::Closed(closed) => event(format!("connection closed: {closed}")),
        }
        incoming
    }
}

/// The most that is shown of a message that is too long.
const HEAD: usize = 4096;
