//! A connection over HTTP that writes requests and reads answers, and nothing else.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

pub(crate) struct Client {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    /// Who it says it is, as a header.
    pub(crate) token: String,
    /// The header of its session.
    pub(crate) session: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Answer {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Client {
    pub(crate) async fn new(address: SocketAddr, token: Option<&String>) -> Self {
        let stream = BufReader::new(TcpStream::connect(address).await.unwrap());
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        Self { stream, address, token, session: String::new() }
    }

    /// Writes a request and waits for nothing.
    pub(crate) async fn send(&mut self, method: &str, path: &str, headers: &str, body: &str) {
        let (address, token, session, length) = (self.address, &self.token, &self.session, body.len());
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n{token}{session}{headers}\r\n{body}"
        );
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The head of an answer, and all of it where its length is told.
    pub(crate) async fn answer(&mut self) -> Answer {
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") {
            assert_ne!(self.stream.read_line(&mut headers).await.unwrap(), 0, "cut off after {headers:?}");
        }
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        let headers = headers.replace("\r\n", "\n");
        let mut answer = Answer { status, headers, body: String::new() };
        let length = answer.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await.unwrap();
        answer.body = String::from_utf8(body).unwrap();
        answer
    }

    /// The next line of a stream that says something; none at its end.
    pub(crate) async fn event(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).await.unwrap_or(0) == 0 || line == "0\r\n" {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(data.trim().to_owned());
            }
        }
    }

    pub(crate) async fn get(&mut self, path: &str, headers: &str) -> Answer {
        self.send("GET", path, headers, "").await;
        self.answer().await
    }

    /// A request of the newer era.
    pub(crate) async fn ask(&mut self, path: &str, method: &str, params: Value) -> Answer {
        self.tell(path, method, params).await;
        self.answer().await
    }

    /// The same, waiting for nothing.
    pub(crate) async fn tell(&mut self, path: &str, method: &str, mut params: Value) {
        let name = params["name"].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let headers = format!(
            "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{name}"
        );
        self.send("POST", path, &headers, &body).await;
    }

    /// A request of the older era.
    pub(crate) async fn old(&mut self, method: &str, params: Value) -> Answer {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}).to_string();
        let accept = "Accept: application/json, text/event-stream\r\n";
        self.send("POST", "/mcp", accept, &body).await;
        self.answer().await
    }

    /// Begins a session of the older era.
    pub(crate) async fn begin(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = self.old("initialize", params).await;
        let id = answer.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {answer:?}"));
        self.session = format!("Mcp-Session-Id: {id}\r\n");
    }

    /// The names that are listed.
    pub(crate) async fn listed(&mut self, path: &str) -> Vec<String> {
        names(&self.ask(path, "tools/list", json!({})).await)
    }
}

/// The names in a list of tools.
#[track_caller]
pub(crate) fn names(answer: &Answer) -> Vec<String> {
    let tools = answer.json()["result"]["tools"].clone();
    let tools = tools.as_array().unwrap_or_else(|| panic!("no list: {answer:?}")).clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}
