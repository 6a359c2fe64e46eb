//! Takes an answer out of its stream and puts it on a connection, well or badly.

use std::io;
use std::time::Duration;

use super::connection::{Connection, Reply, Written};
use super::shape::{self, Shape};
use super::sse::Framer;
use super::stream::{Found, Opening, Stream};
use crate::cut::How;
use crate::options::Form;

/// How often a connection looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(10);

/// What is the same for the whole of one delivery.
pub(crate) struct Delivery<'a> {
    pub(crate) stream: &'a Stream,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) events: EventStyle,
    pub(crate) shape: Shape,
    /// What a stream of events begins with.
    pub(crate) preface: Vec<u8>,
}

/// What the events of a stream carry besides their data.
#[derive(Clone, Copy)]
pub(crate) struct EventStyle {
    pub(crate) ids: Ids,
    pub(crate) retry: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    None,
    /// Only on messages.
    Messages,
    /// Also on an empty event at the start.
    Primed,
}

/// Why a delivery ended before its time.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The client is gone.
    HungUp,
    /// We broke it.
    Broken,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => Self::HungUp,
            _ => Self::Broken,
        }
    }
}

impl Delivery<'_> {
    /// The answer to a request, whatever its form, to its end.
    pub(crate) fn answer(mut self, connection: &mut Connection<'_>, reader: u64) -> Result<(), Failed> {
        let opening = loop {
            if let Some(opening) = self.stream.opening(LOOK) {
                break opening;
            }
            if connection.hung_up() {
                return Err(Failed::HungUp);
            }
        };
        if let Opening { severed: Some(how), unsaid: true, .. } = opening {
            return Ok(connection.sever(how)?);
        }
        if opening.form == Form::Sse {
            return self.stream_of_events(connection, reader, 0);
        }
        self.headers.push(("Content-Type".into(), "application/json".into()));
        match opening {
            Opening { whole: Some(body), status, severed, .. } => {
                let headers = std::mem::take(&mut self.headers);
                self.whole(connection, &Reply { status, headers, body })?;
                severed.map_or(Ok(()), |how| Ok(connection.sever(how)?))
            }
            opening => self.in_parts(connection, reader, &opening),
        }
    }

    /// Events from `from` on, until the stream ends.
    pub(crate) fn events(
        self,
        connection: &mut Connection<'_>,
        reader: u64,
        from: usize,
    ) -> Result<(), Failed> {
        self.stream_of_events(connection, reader, from)
    }

    fn whole(&self, connection: &mut Connection<'_>, reply: &Reply) -> Written {
        if reply.body.is_empty() && reply.status == 200 {
            // Cancelled: there is nothing to say.
            return connection.sever(How::Close);
        }
        shape::reply(connection, reply, &self.shape)
    }

    /// JSON whose end is not written yet.
    fn in_parts(
        &self,
        connection: &mut Connection<'_>,
        reader: u64,
        opening: &Opening,
    ) -> Result<(), Failed> {
        shape::before(connection, &self.shape)?;
        connection.open(opening.status, &self.headers)?;
        let mut from = 0;
        loop {
            match self.stream.next(reader, from, LOOK) {
                Found::Bytes(bytes, to) => {
                    from = to;
                    connection.chunk(&bytes)?;
                }
                Found::End(how) => return ended(connection, how),
                Found::Replaced => return Ok(()),
                Found::Nothing if connection.hung_up() => return Err(Failed::HungUp),
                Found::Nothing => {}
            }
        }
    }

    fn stream_of_events(
        mut self,
        connection: &mut Connection<'_>,
        reader: u64,
        mut from: usize,
    ) -> Result<(), Failed> {
        for (name, value) in [
            ("Content-Type", "text/event-stream"),
            ("Cache-Control", "no-cache"),
            ("X-Accel-Buffering", "no"),
        ] {
            self.headers.push((name.into(), value.into()));
        }
        shape::before(connection, &self.shape)?;
        connection.open(200, &self.headers)?;
        connection.chunk(&self.preface)?;
        let EventStyle { ids, retry } = self.events;
        let ids_of = (ids != Ids::None).then_some(self.stream.number);
        let mut framer = Framer::new(ids_of, self.stream.lines_before(from));
        if ids == Ids::Primed || retry.is_some() {
            connection.chunk(&framer.priming(retry))?;
        }
        shape::opened(connection, &self.shape)?;
        loop {
            match self.stream.next(reader, from, LOOK) {
                Found::Bytes(bytes, to) => {
                    from = to;
                    shape::events(connection, &framer.frame(&bytes), &self.shape)?;
                }
                Found::End(how) => return ended(connection, how),
                Found::Replaced => return Ok(connection.last_chunk()?),
                Found::Nothing if connection.hung_up() => return Err(Failed::HungUp),
                Found::Nothing => {}
            }
        }
    }
}

/// All was said: the end of the body, unless the connection is to break here.
fn ended(connection: &mut Connection<'_>, how: Option<How>) -> Result<(), Failed> {
    match how {
        None => Ok(connection.last_chunk()?),
        Some(how) => Ok(connection.sever(how)?),
    }
}
