//! The writing side of one connection: whole answers, streams in chunks, and the ways to break off.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Duration;

use rustix::net::RecvFlags;
use rustix::net::sockopt::set_socket_linger;

use crate::cut::{self, How};

/// What happens to the connection after an answer.
pub(crate) type Written = io::Result<()>;

pub(crate) struct Connection<'a> {
    stream: &'a TcpStream,
    /// The pause after each byte, for answers that drip.
    pause: Option<Duration>,
}

/// An answer that is known as a whole.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(self, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut reply = self.header("Content-Type", kind);
        reply.body = body.into();
        reply
    }

    pub(crate) fn json(self, body: impl Into<Vec<u8>>) -> Self {
        self.body("application/json", body)
    }
}

impl<'a> Connection<'a> {
    pub(crate) fn new(stream: &'a TcpStream) -> Self {
        Self { stream, pause: None }
    }

    /// From here on each byte goes alone.
    pub(crate) fn drip(&mut self, pause: Duration) {
        self.pause = Some(pause);
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Written {
        let Some(pause) = self.pause else { return self.stream.write_all(bytes) };
        for byte in bytes {
            self.stream.write_all(&[*byte])?;
            thread::sleep(pause);
        }
        Ok(())
    }

    pub(crate) fn reply(&mut self, reply: &Reply) -> Written {
        let mut bytes = head(reply.status, &reply.headers, &format!("Content-Length: {}", reply.body.len()));
        bytes.extend_from_slice(&reply.body);
        self.write(&bytes)
    }

    /// The head of an answer whose end is not known yet.
    pub(crate) fn open(&mut self, status: u16, headers: &[(String, String)]) -> Written {
        self.write(&head(status, headers, "Transfer-Encoding: chunked"))
    }

    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> Written {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.write(&chunk)
    }

    pub(crate) fn last_chunk(&mut self) -> Written {
        self.write(b"0\r\n\r\n")
    }

    /// Whether the client has ended the connection. What it may have sent ahead stays where it is.
    pub(crate) fn hung_up(&self) -> bool {
        let mut byte = [0];
        let peeked = rustix::net::recv(self.stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        match peeked {
            Ok((count, _)) => count == 0,
            Err(error) => error != rustix::io::Errno::AGAIN && error != rustix::io::Errno::INTR,
        }
    }

    /// Breaks off; always an error, so that nothing is written any more.
    pub(crate) fn sever(&mut self, how: How) -> Written {
        match how {
            How::Kill | How::Eof => cut::end(how),
            How::Reset => {
                // Closing then throws away what was not sent and says so.
                let _ = set_socket_linger(self.stream, Some(Duration::ZERO));
            }
            How::Close => {
                let _ = self.stream.shutdown(Shutdown::Write);
            }
        }
        Err(io::Error::other("severed"))
    }
}

/// A whole head, with the line that says how long the body is.
pub(crate) fn head(status: u16, headers: &[(String, String)], length: &str) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    // Such answers have no body, and say nothing of its length.
    if status != 204 && 200 <= status && !length.is_empty() {
        head.push_str(&format!("{length}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
