//! The load client. Every call carries a token of its own that must come back under the call's id: a wrong answer ends the run.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::http::{self, Answer};

/// Calls that are in flight at once where the rate is measured.
pub const IN_FLIGHT: usize = 64;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// An address with a session there, and the tool that is called.
#[derive(Clone, Debug)]
pub struct Target {
    to: SocketAddr,
    path: &'static str,
    session: Option<String>,
    tool: String,
    /// How many tools it lists.
    pub tools: usize,
}

#[derive(Deserialize)]
struct Listed {
    result: Tools,
}

#[derive(Deserialize)]
struct Tools {
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
}

impl Target {
    /// Begins a session and looks for the tool; none while nobody listens or the tool is not there.
    pub fn try_open(to: SocketAddr, path: &'static str) -> Option<Self> {
        let mut post = Posts::connect(to)?;
        let begun = post.send(&http::post(to, path, None, INITIALIZE))?;
        let session = begun.session.filter(|_| begun.status == 200);
        post.send(&http::post(to, path, session.as_deref(), INITIALIZED))?;
        let mut target = Self { to, path, session, tool: String::new(), tools: 0 };
        let listed = post.send(&target.request(LIST))?;
        let listed: Listed = serde_json::from_slice(&listed.body).ok()?;
        let names = listed.result.tools.iter().map(|tool| &tool.name);
        target.tool.clone_from(names.filter(|name| name.ends_with("echo")).min()?);
        target.tools = listed.result.tools.len();
        Some(target)
    }

    fn request(&self, body: &str) -> Vec<u8> {
        http::post(self.to, self.path, self.session.as_deref(), body)
    }

    /// One call after the other, and how long each took.
    pub fn latencies(&self, calls: usize) -> Vec<Duration> {
        let mut post = Posts::connect(self.to).unwrap();
        let once = |number: u64| {
            let call = Call::new(number);
            let request = self.request(&call.body(&self.tool));
            let began = Instant::now();
            let answer = post.send(&request).unwrap();
            let took = began.elapsed();
            call.check(&answer.body);
            took
        };
        (2..).take(calls).map(once).collect()
    }

    /// How long it takes to get the list, again and again.
    pub fn lists(&self, times: usize) -> Vec<Duration> {
        let mut post = Posts::connect(self.to).unwrap();
        let request = self.request(LIST);
        let once = || {
            let began = Instant::now();
            let answer = post.send(&request).unwrap();
            assert!(200 < answer.body.len(), "a list");
            began.elapsed()
        };
        std::iter::repeat_with(once).take(times).collect()
    }

    /// The list as it comes.
    pub fn list(&self) -> Vec<u8> {
        Posts::connect(self.to).unwrap().send(&self.request(LIST)).unwrap().body
    }

    /// Calls as many as are asked for, always with as many in flight; how many a second. Each has a connection of its own.
    pub fn rate(&self, calls: usize) -> f64 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tasks = tokio::task::LocalSet::new();
        let each = calls / IN_FLIGHT;
        let began = Instant::now();
        tasks.block_on(&runtime, async {
            let started: Vec<_> = (0..IN_FLIGHT)
                .map(|lane| tokio::task::spawn_local(self.clone().lane((lane * each + 2) as u64, each)))
                .collect();
            for lane in started {
                lane.await.unwrap();
            }
        });
        (each * IN_FLIGHT) as f64 / began.elapsed().as_secs_f64()
    }

    async fn lane(self, first: u64, calls: usize) {
        let mut stream = tokio::net::TcpStream::connect(self.to).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut bytes = Vec::with_capacity(1 << 14);
        for number in (first..).take(calls) {
            let call = Call::new(number);
            stream.write_all(&self.request(&call.body(&self.tool))).await.unwrap();
            let answer = loop {
                assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "the connection was closed");
                if let Some(answer) = http::answer(&bytes) {
                    break answer;
                }
            };
            bytes.drain(..answer.length);
            call.check(&answer.body);
        }
    }
}

/// One connection, one request after the other.
struct Posts {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Posts {
    fn connect(to: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(to).ok()?;
        stream.set_nodelay(true).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        Some(Self { stream, bytes: Vec::with_capacity(1 << 14) })
    }

    fn send(&mut self, request: &[u8]) -> Option<Answer> {
        self.stream.write_all(request).ok()?;
        let mut part = [0; 1 << 14];
        loop {
            let read = self.stream.read(&mut part).ok().filter(|read| 0 < *read)?;
            self.bytes.extend_from_slice(&part[..read]);
            if let Some(answer) = http::answer(&self.bytes) {
                self.bytes.drain(..answer.length);
                return Some(answer);
            }
        }
    }
}

/// The server itself, over pipes.
pub struct Pipe {
    child: Child,
    bytes: Vec<u8>,
}

impl Pipe {
    /// Starts it and begins.
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut pipe = Self { child, bytes: Vec::new() };
        pipe.send(INITIALIZE);
        pipe
    }

    /// One call after the other, and how long each took.
    pub fn latencies(&mut self, calls: usize) -> Vec<Duration> {
        let once = |number: u64| {
            let call = Call::new(number);
            let request = call.body("echo");
            let began = Instant::now();
            let answer = self.send(&request);
            let took = began.elapsed();
            call.check(&answer);
            took
        };
        (2..).take(calls).map(once).collect()
    }

    fn send(&mut self, line: &str) -> Vec<u8> {
        let line = format!("{line}\n");
        self.child.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        let output = self.child.stdout.as_mut().unwrap();
        let mut part = [0; 1 << 12];
        while !self.bytes.ends_with(b"\n") {
            let read = output.read(&mut part).unwrap();
            assert_ne!(read, 0, "the server ended");
            self.bytes.extend_from_slice(&part[..read]);
        }
        std::mem::take(&mut self.bytes)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// One call and the token it carries.
struct Call {
    id: u64,
    token: String,
}

#[derive(Deserialize)]
struct Reply<'a> {
    id: u64,
    #[serde(borrow)]
    result: ReplyResult<'a>,
}

#[derive(Deserialize)]
struct ReplyResult<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    text: &'a str,
}

impl Call {
    fn new(id: u64) -> Self {
        // 32 characters that no other call has.
        Self { id, token: format!("{:016x}{id:016x}", id.wrapping_mul(0x9e37_79b9_7f4a_7c15)) }
    }

    fn body(&self, tool: &str) -> String {
        let Self { id, token } = self;
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"message":"{token}"}}}}}}"#
        )
    }

    #[track_caller]
    fn check(&self, body: &[u8]) {
        let reply: Result<Reply<'_>, _> = serde_json::from_slice(body);
        let is_right = reply.is_ok_and(|reply| {
            reply.id == self.id && reply.result.content.iter().any(|block| block.text == self.token)
        });
        assert!(is_right, "call {} was answered {}", self.id, String::from_utf8_lossy(body));
    }
}
