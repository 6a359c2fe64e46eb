//! A client by hand over sockets, so that nothing stands between a test and the bytes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Http;

use crate::peer::Speech;

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// One server and how it is spoken to.
pub(crate) struct HttpPeer {
    pub(crate) server: Http,
    pub(crate) speech: Speech,
    pub(crate) session: Option<String>,
    /// Sent with every request.
    pub(crate) headers: Vec<(String, String)>,
    next: u64,
}

/// A head, and a body that is read when it is wanted.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    body: Body,
}

/// A socket on which waiting in vain is no error of the server's but the end of the test.
struct Patient {
    stream: TcpStream,
    patience: Duration,
}

struct Body {
    reader: BufReader<Patient>,
    length: Length,
    /// Of the chunk that is being read.
    left: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Known(usize),
    Chunked,
    Over,
}

/// One event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) retry: Option<String>,
    pub(crate) data: Option<String>,
}

impl HttpPeer {
    pub(crate) fn start(args: &[&str]) -> Self {
        let server = Http::start(args);
        Self { server, speech: Speech::Legacy, session: None, headers: Vec::new(), next: 0 }
    }

    /// Started and past the legacy handshake.
    pub(crate) fn legacy(args: &[&str]) -> Self {
        let mut peer = Self::start(args);
        peer.initialize();
        peer
    }

    pub(crate) fn modern(args: &[&str]) -> Self {
        Self { speech: Speech::Modern, ..Self::start(args) }
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let client = json!({ "name": "by hand", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        self.session = None;
        let incoming = self.ask("initialize", params);
        self.session = incoming.header("mcp-session-id").map(str::to_owned);
        let answer = incoming.answer().expect("an answer");
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&note, &[]).status, 202);
        answer
    }

    /// Sends a request; the head has come when it returns.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Incoming {
        self.try_ask(method, params).expect("a head")
    }

    pub(crate) fn try_ask(&mut self, method: &str, mut params: Value) -> io::Result<Incoming> {
        self.next += 1;
        if self.speech == Speech::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params });
        self.try_post(&message, &self.usual(&message))
    }

    pub(crate) fn try_call(&mut self, tool: &str, arguments: Value) -> io::Result<Incoming> {
        let meta = json!({ "progressToken": self.next + 1 });
        self.try_ask("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }))
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Incoming {
        self.try_call(tool, arguments).expect("a head")
    }

    /// The text of a call's result.
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        crate::peer::text(&self.call(tool, arguments).answer().expect("an answer"))
    }

    #[track_caller]
    pub(crate) fn is_usable(&mut self) {
        assert_eq!(self.text("add", json!({ "a": 1, "b": 2 })), "3");
    }

    pub(crate) fn listed(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).answer().expect("a list");
        let tools = answer["result"]["tools"].as_array().expect("tools");
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// What a client of the era sends beside a message.
    pub(crate) fn usual(&self, message: &Value) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        match self.speech {
            Speech::Legacy if message["method"] == "initialize" => {}
            Speech::Legacy => headers.push(("MCP-Protocol-Version".into(), "2025-11-25".into())),
            Speech::Modern => {
                headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
                headers.push(("Mcp-Method".into(), message["method"].as_str().unwrap_or_default().into()));
                if let Some(name) = message["params"]["name"].as_str() {
                    headers.push(("Mcp-Name".into(), name.into()));
                }
            }
        }
        headers
    }

    pub(crate) fn post(&self, message: &Value, headers: &[(String, String)]) -> Incoming {
        self.try_post(message, headers).expect("a head")
    }

    pub(crate) fn try_post(&self, message: &Value, headers: &[(String, String)]) -> io::Result<Incoming> {
        let mut all = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".into(), "application/json, text/event-stream".into()),
        ];
        all.extend(headers.iter().cloned());
        self.send("POST", "/mcp", &all, message.to_string().as_bytes())
    }

    /// The GET stream, or the rest of one that broke.
    pub(crate) fn listen(&self, last_event: Option<&str>) -> Incoming {
        let mut headers = vec![("Accept".to_owned(), "text/event-stream".to_owned())];
        headers.push(("MCP-Protocol-Version".into(), "2025-11-25".into()));
        headers.extend(last_event.map(|id| ("Last-Event-ID".to_owned(), id.to_owned())));
        self.send("GET", "/mcp", &headers, b"").expect("a head")
    }

    /// Anything, with the session and the headers that always go with it.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<Incoming> {
        let mut all = headers.to_vec();
        all.extend(self.session.iter().map(|id| ("Mcp-Session-Id".to_owned(), id.clone())));
        all.extend(self.headers.iter().cloned());
        send(self.server.address(), method, path, &all, body)
    }
}

/// One request on a connection of its own.
pub(crate) fn send(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> io::Result<Incoming> {
    let mut stream = TcpStream::connect(address)?;
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(&[head.as_bytes(), body].concat())?;
    Incoming::read(stream)
}

impl Incoming {
    pub(crate) fn read(stream: TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(Patient { stream, patience: PATIENCE });
        let first = line(&mut reader)?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status: {first:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = line(&mut reader)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut incoming = Self { status, headers, body: Body { reader, length: Length::Over, left: 0 } };
        let length = incoming.header("content-length").and_then(|length| length.parse().ok());
        incoming.body.length = match length {
            Some(length) => Length::Known(length),
            None if incoming.header("transfer-encoding") == Some("chunked") => Length::Chunked,
            None => Length::Over,
        };
        Ok(incoming)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    pub(crate) fn is_events(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The whole body; an error if the connection ends before it.
    pub(crate) fn whole(mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        self.body.read_to_end(&mut body)?;
        Ok(body)
    }

    /// The body as it comes.
    pub(crate) fn into_body(self) -> impl Read {
        self.body
    }

    pub(crate) fn json(self) -> io::Result<Value> {
        serde_json::from_slice(&self.whole()?).map_err(io::Error::other)
    }

    /// The JSON-RPC answer, out of whatever form it came in.
    pub(crate) fn answer(self) -> io::Result<Value> {
        self.messages().map(|(_, answer)| answer)
    }

    /// The messages before the answer, and the answer.
    pub(crate) fn messages(mut self) -> io::Result<(Vec<Value>, Value)> {
        if !self.is_events() {
            return Ok((Vec::new(), self.json()?));
        }
        let mut before = Vec::new();
        loop {
            let event = self.event()?.ok_or_else(|| io::Error::other("no answer"))?;
            let message = event.data.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok());
            match message {
                Some(message) if message.get("result").or(message.get("error")).is_some() => {
                    return Ok((before, message));
                }
                other => before.extend(other),
            }
        }
    }

    /// The next event; nothing at a clean end.
    pub(crate) fn event(&mut self) -> io::Result<Option<Event>> {
        let mut event = Event::default();
        let mut any = false;
        loop {
            let mut line = Vec::new();
            loop {
                let mut byte = [0];
                if self.body.read(&mut byte)? == 0 {
                    return Ok(None);
                }
                if byte[0] == b'\n' {
                    break;
                }
                line.push(byte[0]);
            }
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.is_empty() && any {
                return Ok(Some(event));
            }
            any = any || !line.is_empty();
            match line.split_once(": ").map(|(name, value)| (name, value.to_owned())) {
                Some(("id", value)) => event.id = Some(value),
                Some(("event", value)) => event.name = Some(value),
                Some(("retry", value)) => event.retry = Some(value),
                Some(("data", value)) => event.data = Some(value),
                _ => {}
            }
        }
    }

    /// The next event that holds a message.
    pub(crate) fn message(&mut self) -> Value {
        loop {
            let event = self.event().unwrap().expect("an event");
            if let Some(message) = event.data.and_then(|data| serde_json::from_str(&data).ok()) {
                return message;
            }
        }
    }

    /// Whether nothing comes for that long.
    pub(crate) fn is_silent_for(&mut self, time: Duration) -> bool {
        self.body.reader.get_mut().patience = time;
        let read = self.body.read(&mut [0]);
        self.body.reader.get_mut().patience = PATIENCE;
        read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.patience))?;
        let read = self.stream.read(buffer);
        let in_vain = read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock);
        assert!(!in_vain || self.patience < PATIENCE, "nothing came for {PATIENCE:?}");
        read
    }
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = match self.length {
            Length::Over => return Ok(0),
            Length::Known(0) => return Ok(0),
            Length::Known(left) => left,
            Length::Chunked => {
                if self.left == 0 {
                    let size = line(&mut self.reader)?;
                    self.left = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
                    if self.left == 0 {
                        self.length = Length::Over;
                        return Ok(0);
                    }
                }
                self.left
            }
        };
        let most = most.min(buffer.len());
        let count = self.reader.read(&mut buffer[..most])?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match &mut self.length {
            Length::Known(left) => *left -= count,
            _ => {
                self.left -= count;
                if self.left == 0 {
                    line(&mut self.reader)?;
                }
            }
        }
        Ok(count)
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    if reader.read_until(b'\n', &mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}
