//! Good answers, delivered badly.

use std::thread;
use std::time::Duration;

use super::connection::{Connection, Reply, Written, head};
use super::gzip;
use crate::cut::How;

#[derive(Clone, Copy, Default)]
pub(crate) enum Shape {
    #[default]
    Good,
    /// Head and body one byte at a time.
    Drip(Duration),
    /// A stream of events that goes on for ever and never says anything.
    Endless(Duration),
    /// Nothing is written; the call was executed.
    Lost(How),
    /// The head and the first bytes, then nothing.
    Torn(How),
    /// A stream of events that ends before anything was said.
    Brief,
    /// The length that is told is not the length.
    Lengths(Lie),
    /// Compressed, whether or not the client can read it.
    Gzip,
}

#[derive(Clone, Copy)]
pub(crate) enum Lie {
    /// More than comes.
    Long,
    /// Less than comes.
    Short,
    /// A chunk that says it is longer than it is.
    Chunk,
    /// A size of a chunk that is no number.
    Junk,
    /// Two lengths, one of them right.
    Twice,
    Negative,
}

/// An answer that is known as a whole.
pub(crate) fn reply(connection: &mut Connection<'_>, reply: &Reply, shape: &Shape) -> Written {
    match *shape {
        Shape::Torn(how) => {
            let bytes = head(reply.status, &reply.headers, &format!("Content-Length: {}", reply.body.len()));
            connection.write(&[&*bytes, &reply.body[..reply.body.len() / 2]].concat())?;
            connection.sever(how)
        }
        Shape::Lengths(lie) => lying(connection, reply, lie),
        Shape::Gzip => {
            let mut headers = reply.headers.clone();
            headers.push(("Content-Encoding".into(), "gzip".into()));
            connection.reply(&Reply { status: reply.status, headers, body: gzip::packed(&reply.body) })
        }
        _ => {
            before(connection, shape)?;
            connection.reply(reply)
        }
    }
}

/// Before the head.
pub(crate) fn before(connection: &mut Connection<'_>, shape: &Shape) -> Written {
    match *shape {
        Shape::Drip(pause) => {
            connection.drip(pause);
            Ok(())
        }
        Shape::Lost(how) => connection.sever(how),
        _ => Ok(()),
    }
}

/// A stream of events stands, with nothing said yet.
pub(crate) fn opened(connection: &mut Connection<'_>, shape: &Shape) -> Written {
    match *shape {
        Shape::Torn(how) => connection.sever(how),
        Shape::Brief => {
            connection.last_chunk()?;
            connection.sever(How::Close)
        }
        Shape::Endless(pause) => loop {
            connection.chunk(b": still here\n\n")?;
            thread::sleep(pause);
        },
        _ => Ok(()),
    }
}

/// Events on their way.
pub(crate) fn events(connection: &mut Connection<'_>, bytes: &[u8], shape: &Shape) -> Written {
    match *shape {
        Shape::Lengths(_) => {
            connection.write(format!("{:x}\r\n", bytes.len() + 9).as_bytes())?;
            connection.write(bytes)?;
            connection.write(b"\r\n")?;
            connection.sever(How::Close)
        }
        _ => connection.chunk(bytes),
    }
}

fn lying(connection: &mut Connection<'_>, reply: &Reply, lie: Lie) -> Written {
    let size = reply.body.len();
    let (length, body) = match lie {
        Lie::Long => (format!("Content-Length: {}", size + 100), reply.body.clone()),
        Lie::Short => (format!("Content-Length: {}", size / 2), reply.body.clone()),
        Lie::Negative => ("Content-Length: -1".to_owned(), reply.body.clone()),
        Lie::Twice => (format!("Content-Length: {size}\r\nContent-Length: 7"), reply.body.clone()),
        Lie::Chunk => chunked(&format!("{:x}", size + 100), &reply.body),
        Lie::Junk => chunked("zz", &reply.body),
    };
    let mut bytes = head(reply.status, &reply.headers, &length);
    bytes.extend_from_slice(&body);
    connection.write(&bytes)?;
    connection.sever(How::Close)
}

fn chunked(size: &str, body: &[u8]) -> (String, Vec<u8>) {
    let chunk = [size.as_bytes(), b"\r\n", body, b"\r\n0\r\n\r\n"].concat();
    ("Transfer-Encoding: chunked".to_owned(), chunk)
}
