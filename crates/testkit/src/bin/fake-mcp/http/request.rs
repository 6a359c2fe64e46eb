//! Requests as they come over HTTP/1.1, read by hand: whoever writes broken answers byte by byte should not
//! have a library between itself and the socket.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// More than any test sends.
const MOST: usize = 256 * 1024 * 1024;
const MOST_HEAD: usize = 256 * 1024;

pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Names in lower case, in the order they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The value of `name` in the query.
    pub(crate) fn asked(&self, name: &str) -> Option<&str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    /// Whether the client takes this kind of answer.
    pub(crate) fn accepts(&self, kind: &str) -> bool {
        let group = kind.split_once('/').map_or("", |(group, _)| group);
        let fits = |range: &str| {
            let range = range.split(';').next().unwrap_or_default().trim();
            range == kind || range == "*/*" || range.strip_suffix("/*") == Some(group)
        };
        self.header("accept").is_some_and(|accept| accept.split(',').any(fits))
    }
}

/// One side of a connection, with what was read ahead.
pub(crate) struct Reader<'a> {
    stream: &'a TcpStream,
    ahead: Vec<u8>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(stream: &'a TcpStream) -> Self {
        Self { stream, ahead: Vec::new() }
    }

    /// Whether anything comes within this time.
    pub(crate) fn is_spoken_to(&self, within: Duration) -> bool {
        if !self.ahead.is_empty() {
            return true;
        }
        let _ = self.stream.set_read_timeout(Some(within));
        let is_silent = self
            .stream
            .peek(&mut [0])
            .is_err_and(|error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut));
        let _ = self.stream.set_read_timeout(None);
        !is_silent
    }

    /// The next request; nothing when the client has ended the connection between two of them.
    pub(crate) fn next(&mut self) -> io::Result<Option<HttpRequest>> {
        let Some(head) = self.head()? else { return Ok(None) };
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pair = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let mut request = HttpRequest {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: lines.filter_map(pair).collect(),
            body: Vec::new(),
        };
        if request.header("expect").is_some() {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        request.body = self.body(&request)?;
        Ok(Some(request))
    }

    fn head(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.ahead.windows(4).position(|four| four == b"\r\n\r\n") {
                let head = self.ahead.drain(..end + 4).take(end).collect();
                return String::from_utf8(head).map(Some).map_err(io::Error::other);
            }
            let before = self.ahead.len();
            if MOST_HEAD < before {
                return Err(io::Error::other("a head without end"));
            }
            match self.more() {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && before == 0 => return Ok(None),
                other => other?,
            }
        }
    }

    fn body(&mut self, request: &HttpRequest) -> io::Result<Vec<u8>> {
        if request.header("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            return self.chunks();
        }
        let length = request.header("content-length").map_or(Ok(0), str::parse);
        self.exactly(length.map_err(io::Error::other)?)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.line()?;
            let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16);
            match size.map_err(io::Error::other)? {
                0 => break,
                size => body.extend(self.exactly(size)?),
            }
            self.line()?;
        }
        while !self.line()?.is_empty() {}
        Ok(body)
    }

    fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(end) = self.ahead.windows(2).position(|two| two == b"\r\n") {
                let line = self.ahead.drain(..end + 2).take(end).collect();
                return String::from_utf8(line).map_err(io::Error::other);
            }
            self.more()?;
        }
    }

    fn exactly(&mut self, size: usize) -> io::Result<Vec<u8>> {
        if MOST < size {
            return Err(io::Error::other("a body without end"));
        }
        while self.ahead.len() < size {
            self.more()?;
        }
        Ok(self.ahead.drain(..size).collect())
    }

    fn more(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.ahead.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }
}
