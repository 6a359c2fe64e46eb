//! Messages as lines on a stream of bytes: a child's pipes, or a stream inside this process.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::channel::{Incoming, Outgoing, Unsent};
use super::frame::{Frame, Framer};
use super::reason::{Reason, ReasonClass};

/// One read at most.
pub(super) const CHUNK: usize = 64 << 10;

/// Writes a batch in one piece. `joined` is kept between batches.
pub(super) async fn write(
    pipe: &mut (impl AsyncWrite + Unpin),
    joined: &mut Vec<u8>,
    batch: &[Outgoing],
) -> Result<(), Unsent> {
    let mut starts = Vec::new();
    let bytes = match batch {
        [one] => &one.line.bytes,
        many => {
            joined.clear();
            for outgoing in many {
                starts.push(joined.len());
                joined.extend_from_slice(&outgoing.line.bytes);
            }
            &*joined
        }
    };
    let mut written = 0;
    while written < bytes.len() {
        match pipe.write(&bytes[written..]).await {
            Ok(more) if 0 < more => written += more,
            failed => {
                let why = failed.err().map_or_else(no_longer_reads, |error| input_closed(&error));
                let starts = starts.into_iter().chain([0]);
                let unsent = batch
                    .iter()
                    .zip(starts)
                    .filter(|(_, start)| written <= *start)
                    .filter_map(|(out, _)| out.id);
                return Err(Unsent { ids: unsent.collect(), closed: why.into() });
            }
        }
    }
    if CHUNK * 4 < joined.capacity() {
        *joined = Vec::new();
    }
    Ok(())
}

/// The server closed its input.
pub(crate) fn no_longer_reads() -> Reason {
    Reason::new(ReasonClass::Closed, "closed its input")
}

fn input_closed(error: &io::Error) -> Reason {
    match error.kind() {
        io::ErrorKind::BrokenPipe => no_longer_reads(),
        _ => Reason::new(ReasonClass::Closed, format!("cannot be written to: {error}")).caused_by(error),
    }
}

/// Lines of bounded length from a stream.
pub(super) struct Lines<R> {
    pipe: R,
    framer: Framer,
    over: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(pipe: R, longest: usize) -> Self {
        Self { pipe, framer: Framer::new(longest), over: false }
    }

    /// The next line; none at the end of the stream. Cancel-safe.
    pub(super) async fn next(&mut self) -> Option<Incoming<'_>> {
        let mut rest = false;
        while !self.framer.advance() {
            if self.over {
                return None;
            }
            let read = self.pipe.read_buf(self.framer.room(CHUNK)).await;
            if !matches!(read, Ok(1..)) {
                self.over = true;
                rest = self.framer.finish();
                if rest {
                    break;
                }
            }
        }
        Some(match self.framer.frame() {
            Frame::Line(line) if rest => Incoming::Rest(line),
            Frame::Line(line) => Incoming::Line(line),
            Frame::Oversized(head) => Incoming::Oversized(head),
        })
    }
}
