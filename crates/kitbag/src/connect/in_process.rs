//! A server inside this process, spoken to through memory: for tests, and for programs that bring a server along.

use std::future::Future;
use std::pin::Pin;

use kitbag_core::model::{InProcess, ServerTarget};
use kitbag_core::{ServerName, ServerSpec};
use tokio::io::{DuplexStream, ReadHalf, WriteHalf};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::channel::{Incoming, LineSource, Outgoing, Sink, Unsent};
use super::lines::{self, Lines};
use super::reason::{Reason, ReasonClass};

type Serving = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How the program serves one connection.
struct Serve(Box<dyn Fn(DuplexStream) -> Serving + Send + Sync>);

/// A server inside this process. `serve` is run for every connection, at first and after each end, with a stream that
/// carries one JSON-RPC message a line, as over stdio; it ends when the connection does.
///
/// With the official SDK: `in_process(name, |io| async move { … server.serve(io).await … .waiting().await … })`; see
/// `examples/unit_test.rs`.
///
/// Handles never share such a server unless they are given the same spec.
pub fn in_process<F, S>(name: ServerName, serve: S) -> ServerSpec
where
    F: Future<Output = ()> + Send + 'static,
    S: Fn(DuplexStream) -> F + Send + Sync + 'static,
{
    let serve = Serve(Box::new(move |io| Box::pin(serve(io))));
    ServerSpec::new(name, ServerTarget::InProcess(InProcess::new(serve)))
}

/// Memory between the two sides of a connection.
const BUFFER: usize = 64 << 10;

/// Connects to a server inside this process; it is dropped when `stop` is cancelled.
pub(super) fn connect(
    server: &InProcess,
    longest: usize,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) -> Result<(Writer, Reader), Reason> {
    let Some(Serve(serve)) = server.downcast() else {
        return Err(Reason::new(ReasonClass::Config, "not a server inside this process"));
    };
    let (ours, theirs) = tokio::io::duplex(BUFFER);
    let (serving, stop) = (serve(theirs), stop.clone());
    tasks.spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = serving => {}
        }
    });
    let (read, write) = tokio::io::split(ours);
    Ok((Writer { pipe: write, joined: Vec::new() }, Reader(Lines::new(read, longest))))
}

pub(super) struct Writer {
    pipe: WriteHalf<DuplexStream>,
    joined: Vec<u8>,
}

impl Sink for Writer {
    async fn send(&mut self, batch: &mut Vec<Outgoing>) -> Result<(), Unsent> {
        lines::write(&mut self.pipe, &mut self.joined, batch).await
    }
}

pub(super) struct Reader(Lines<ReadHalf<DuplexStream>>);

impl LineSource for Reader {
    async fn next(&mut self) -> Incoming<'_> {
        let ended = || Incoming::Closed(Reason::new(ReasonClass::Closed, "ended its connection").into());
        self.0.next().await.unwrap_or_else(ended)
    }
}
