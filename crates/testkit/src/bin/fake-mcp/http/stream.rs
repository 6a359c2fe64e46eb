//! What becomes the answer to one request, or one stream of events: the conversation writes lines into it, a
//! connection takes them out. The two do not wait for each other, except that nobody piles up without end.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cut::{self, How};
use crate::options::Form;
use crate::out::{Kind, Sink};

/// Bytes that may lie here before the writer has to wait.
const PILE: usize = 4 * 1024 * 1024;
/// Bytes that stay for a client that comes back, once they were taken.
const KEPT: usize = 1024 * 1024;

pub(crate) struct Stream {
    /// Part of the ids of its events.
    pub(crate) number: u64,
    inner: Mutex<Inner>,
    changed: Condvar,
}

struct Inner {
    form: Form,
    status: u16,
    /// The lines; the first byte has the offset `base`.
    bytes: Vec<u8>,
    base: usize,
    /// The offset behind each line.
    ends: Vec<usize>,
    /// How far the connection has taken them.
    taken: usize,
    accepted: bool,
    pushed: bool,
    finished: bool,
    /// The connection breaks off at this offset.
    severed: Option<(How, usize)>,
    /// The same, once the answer is whole.
    doomed: Option<How>,
    attached: bool,
    /// Which connection may take from it: the newest.
    reader: u64,
    gone: bool,
}

/// What a connection finds.
pub(crate) enum Found {
    /// Lines or parts of them, and the offset behind them.
    Bytes(Vec<u8>, usize),
    /// All has been taken, and this is why there will be no more.
    End(Option<How>),
    /// Another connection has taken over.
    Replaced,
    /// Nothing yet.
    Nothing,
}

/// What is known before the first byte of the body.
pub(crate) struct Opening {
    pub(crate) status: u16,
    pub(crate) form: Form,
    /// The whole body, if it is there already.
    pub(crate) whole: Option<Vec<u8>>,
    pub(crate) severed: Option<How>,
    /// Nothing was said, not even that something will be.
    pub(crate) unsaid: bool,
}

impl Stream {
    pub(crate) fn new(number: u64, form: Form) -> Arc<Self> {
        let inner = Inner {
            form,
            status: 200,
            bytes: Vec::new(),
            base: 0,
            ends: Vec::new(),
            taken: 0,
            accepted: false,
            pushed: false,
            finished: false,
            severed: None,
            doomed: None,
            attached: false,
            reader: 0,
            gone: false,
        };
        Arc::new(Self { number, inner: Mutex::new(inner), changed: Condvar::new() })
    }

    /// The request was dealt with; its answer may come later.
    pub(crate) fn accepted(&self) {
        self.lock().accepted = true;
        self.changed.notify_all();
    }

    /// A new reader: its number, and where the last one stopped.
    pub(crate) fn attach(&self) -> (u64, usize) {
        let mut inner = self.lock();
        inner.reader += 1;
        inner.attached = true;
        self.changed.notify_all();
        (inner.reader, inner.taken)
    }

    /// The offset behind the line of this number, as far as it is still there.
    pub(crate) fn behind(&self, line: usize) -> usize {
        let inner = self.lock();
        let end = line.checked_sub(1).and_then(|at| inner.ends.get(at).copied()).unwrap_or(0);
        end.max(inner.base)
    }

    /// How many lines end at or before the offset.
    pub(crate) fn lines_before(&self, offset: usize) -> usize {
        self.lock().ends.iter().take_while(|end| **end <= offset).count()
    }

    /// What the head needs, if it is known within `wait`.
    pub(crate) fn opening(&self, wait: Duration) -> Option<Opening> {
        let ready = |inner: &Inner| {
            let sse = inner.form == Form::Sse && (inner.accepted || !inner.bytes.is_empty());
            inner.finished || inner.pushed || inner.severed.is_some() || sse
        };
        let mut inner = self.lock();
        if !ready(&inner) {
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        ready(&inner).then(|| Opening {
            status: inner.status,
            form: inner.form,
            whole: (inner.finished && inner.severed.is_none()).then(|| inner.bytes.clone()),
            severed: inner.severed.map(|(how, _)| how).or(inner.doomed.filter(|_| inner.finished)),
            unsaid: !inner.pushed && inner.severed.is_some_and(|(_, at)| at == 0),
        })
    }

    /// What stands behind `from`, after at most `wait`.
    pub(crate) fn next(&self, reader: u64, from: usize, wait: Duration) -> Found {
        let ready = |inner: &Inner| {
            inner.reader != reader
                || from < inner.base + inner.bytes.len()
                || inner.finished
                || inner.severed.is_some()
        };
        let mut inner = self.lock();
        if !ready(&inner) {
            inner = self.changed.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        if inner.reader != reader {
            return Found::Replaced;
        }
        let at = from.saturating_sub(inner.base);
        let all = inner.base + inner.bytes.len();
        let to = inner.severed.map_or(all, |(_, to)| to);
        if at + inner.base < to {
            let bytes = inner.bytes[at..to - inner.base].to_vec();
            inner.take_up_to(to);
            self.changed.notify_all();
            return Found::Bytes(bytes, to);
        }
        match inner.severed.take() {
            // Whoever comes back gets the rest.
            Some((how, _)) => Found::End(Some(how)),
            None if inner.finished => Found::End(inner.doomed),
            None => Found::Nothing,
        }
    }

    /// This reader has left; another may come.
    pub(crate) fn detach(&self, reader: u64) {
        self.change(|inner| inner.attached &= inner.reader != reader);
    }

    /// Nobody will ever read it again.
    pub(crate) fn abandon(&self) {
        self.change(|inner| inner.gone = true);
    }

    /// Ends it for good: who reads it is sent away.
    pub(crate) fn close(&self) {
        self.change(|inner| {
            inner.finished = true;
            inner.gone = true;
        });
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.lock().finished
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, act: impl FnOnce(&mut Inner)) {
        act(&mut self.lock());
        self.changed.notify_all();
    }

    fn write(&self, bytes: &[u8]) {
        let mut inner = self.lock();
        while inner.is_full() && inner.attached && !inner.gone {
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
        if inner.finished || inner.is_full() {
            return;
        }
        let start = inner.base + inner.bytes.len();
        inner.bytes.extend_from_slice(bytes);
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        inner.ends.extend(ends.map(|(at, _)| start + at + 1));
        self.changed.notify_all();
    }
}

impl Inner {
    /// An answer in JSON leaves as a whole, so its reader takes nothing before.
    fn is_full(&self) -> bool {
        PILE < self.waiting() && (self.form == Form::Sse || self.pushed)
    }

    fn waiting(&self) -> usize {
        self.base + self.bytes.len() - self.taken.max(self.base)
    }

    fn take_up_to(&mut self, offset: usize) {
        self.taken = self.taken.max(offset);
        let old = (self.taken - self.base).saturating_sub(KEPT);
        if KEPT < old {
            self.bytes.drain(..old);
            self.base += old;
        }
    }
}

/// A stream as the end of a transport.
pub(crate) struct Answers {
    pub(crate) stream: Arc<Stream>,
    /// Where notes go that an answer in JSON has no room for.
    pub(crate) aside: Option<Arc<Stream>>,
    pub(crate) last: Last,
    to_aside: bool,
}

/// Whether an answer ends the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Last {
    Answer,
    Never,
}

impl Answers {
    pub(crate) fn new(stream: Arc<Stream>, aside: Option<Arc<Stream>>, last: Last) -> Self {
        Self { stream, aside, last, to_aside: false }
    }
}

impl Sink for Answers {
    fn write(&mut self, bytes: &[u8]) {
        if !self.to_aside {
            self.stream.write(bytes);
        } else if let Some(aside) = &self.aside {
            aside.write(bytes);
        }
    }

    fn push(&mut self) {
        if !self.to_aside {
            self.stream.change(|inner| inner.pushed = true);
        }
    }

    /// The first message decides the form, where that is open.
    fn begin(&mut self, kind: Kind) {
        let mut inner = self.stream.lock();
        if inner.form == Form::Auto {
            inner.form = if kind == Kind::Note { Form::Sse } else { Form::Json };
        }
        self.to_aside = kind == Kind::Note && inner.form == Form::Json;
    }

    fn end(&mut self, kind: Kind) {
        if kind != Kind::Note && self.last == Last::Answer {
            self.finish();
        }
    }

    fn is_message_wise(&self) -> bool {
        true
    }

    /// A refusal is never a stream of events.
    fn status(&mut self, status: u16) {
        self.stream.change(|inner| {
            inner.status = status;
            if status != 200 && self.last == Last::Answer {
                inner.form = Form::Json;
            }
        });
    }

    fn doom(&mut self, how: How) {
        self.stream.change(|inner| inner.doomed = Some(how));
    }

    fn sever(&mut self, how: How) {
        let mut inner = self.stream.lock();
        if inner.gone && matches!(how, How::Kill | How::Eof) {
            cut::end(how);
        }
        if !inner.finished {
            inner.severed = Some((how, inner.base + inner.bytes.len()));
        }
        drop(inner);
        self.stream.changed.notify_all();
    }

    fn finish(&mut self) {
        // A stream of many answers goes on without this one.
        if self.last == Last::Answer {
            self.stream.change(|inner| inner.finished = true);
        }
    }

    fn is_gone(&self) -> bool {
        let inner = self.stream.lock();
        inner.gone || inner.finished || inner.is_full() && !inner.attached
    }
}
