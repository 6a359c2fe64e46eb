//! The least that can stand between hosts and one server: each request is read, its tool's prefix taken off, its id replaced,
//! it is sent on, and the answer goes back under the id it was asked with. No policy, no checks, no records, one server: what
//! a gateway that does something is measured beside.
//!
//! `bench-relay PORT PREFIX http://HOST:PORT/PATH` or `bench-relay PORT PREFIX PROGRAM [ARGS…]`. HTTP by hyper on both sides and
//! one thread, as anybody would begin; requests to a program that come together are written together, and so are its answers.
#![expect(clippy::unwrap_used, reason = "a program of a benchmark: what cannot go on stops")]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::process::Stdio;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    name: &'a str,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

#[derive(Deserialize)]
struct Answer<'a> {
    id: u64,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (port, prefix, server) = (args[1].parse::<u16>().unwrap(), args[2].clone(), args[3..].to_vec());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let server = Rc::new(Server::start(&server).await);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let (server, prefix) = (server.clone(), prefix.clone());
            let service = service_fn(move |request| {
                let (server, prefix) = (server.clone(), prefix.clone());
                async move { Ok::<_, hyper::Error>(relayed(&server, &prefix, request).await) }
            });
            let http = hyper::server::conn::http1::Builder::new();
            tokio::task::spawn_local(http.serve_connection(TokioIo::new(stream), service));
        }
    });
}

async fn relayed(server: &Server, prefix: &str, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let Ok(message) = serde_json::from_slice::<Message<'_>>(&body) else {
        return empty(StatusCode::METHOD_NOT_ALLOWED);
    };
    let Some(asked) = message.id else { return empty(StatusCode::ACCEPTED) };
    let id = server.ids.replace(server.ids.get() + 1);
    let method = message.method;
    let line = match message.params {
        Some(params) if method == "tools/call" => {
            let call: Call<'_> = serde_json::from_str(params.get()).unwrap();
            let (name, arguments) = (call.name.strip_prefix(prefix).unwrap(), call.arguments);
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
            )
        }
        Some(params) => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
        None => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#),
    };
    let bytes = server.ask(id, line).await;
    let answer: Answer<'_> = serde_json::from_slice(&bytes).unwrap();
    let body = match (answer.result, answer.error) {
        // A list has its names prefixed; calls are what is measured.
        (Some(result), _) if method == "tools/list" => {
            let result = result.get().replace(r#""name":""#, &format!(r#""name":"{prefix}"#));
            format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{result}}}"#)
        }
        (Some(result), _) => format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{result}}}"#),
        (None, error) => format!(r#"{{"jsonrpc":"2.0","id":{asked},"error":{}}}"#, error.unwrap()),
    };
    let answer = Response::builder().header(CONTENT_TYPE, "application/json").header("mcp-session-id", "one");
    answer.body(Full::new(body.into())).unwrap()
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    Response::builder().status(status).body(Full::default()).unwrap()
}

struct Server {
    ids: Cell<u64>,
    way: Way,
}

enum Way {
    Pipes(Rc<Pipes>),
    Http { uri: Uri, idle: RefCell<Vec<SendRequest<Full<Bytes>>>> },
}

#[derive(Default)]
struct Pipes {
    waiting: RefCell<HashMap<u64, oneshot::Sender<Vec<u8>>>>,
    out: RefCell<Vec<u8>>,
    more: Notify,
}

impl Server {
    async fn start(words: &[String]) -> Self {
        let way = if words[0].starts_with("http://") {
            Way::Http { uri: words[0].parse().unwrap(), idle: RefCell::default() }
        } else {
            Way::Pipes(Pipes::start(words))
        };
        let server = Self { ids: Cell::new(1), way };
        let begin = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"relay","version":"1"}}}"#;
        server.ask(0, begin.to_owned()).await;
        server
    }

    /// The answer to a request, as it was written.
    async fn ask(&self, id: u64, line: String) -> Bytes {
        match &self.way {
            Way::Pipes(pipes) => pipes.ask(id, &line).await.into(),
            Way::Http { uri, idle } => {
                let kept = idle.borrow_mut().pop();
                let mut connection = match kept {
                    Some(kept) => kept,
                    None => connect(uri).await,
                };
                let request = Request::post(uri.path())
                    .header(HOST, uri.authority().unwrap().as_str())
                    .header(CONTENT_TYPE, "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-session-id", "one")
                    .body(Full::new(line.into()));
                let answer = connection.send_request(request.unwrap()).await.unwrap();
                let bytes = answer.into_body().collect().await.unwrap().to_bytes();
                connection.ready().await.unwrap();
                idle.borrow_mut().push(connection);
                bytes
            }
        }
    }
}

async fn connect(uri: &Uri) -> SendRequest<Full<Bytes>> {
    let stream = TcpStream::connect(uri.authority().unwrap().as_str()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::task::spawn_local(connection);
    sender
}

impl Pipes {
    fn start(words: &[String]) -> Rc<Self> {
        let mut command = tokio::process::Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let pipes = Rc::new(Self::default());
        let writing = pipes.clone();
        tokio::task::spawn_local(async move {
            loop {
                writing.more.notified().await;
                let bytes = std::mem::take(&mut *writing.out.borrow_mut());
                input.write_all(&bytes).await.unwrap();
            }
        });
        let reading = pipes.clone();
        tokio::task::spawn_local(async move {
            // Ends with this task, that is, with the relay.
            let _child = child;
            let mut bytes = Vec::with_capacity(1 << 16);
            while output.read_buf(&mut bytes).await.unwrap() != 0 {
                let mut taken = 0;
                while let Some(end) = memchr::memchr(b'\n', &bytes[taken..]) {
                    reading.answered(&bytes[taken..taken + end]);
                    taken += end + 1;
                }
                bytes.drain(..taken);
            }
        });
        pipes
    }

    fn answered(&self, line: &[u8]) {
        let answer: Answer<'_> = serde_json::from_slice(line).unwrap();
        if let Some(waiting) = self.waiting.borrow_mut().remove(&answer.id) {
            // Whoever left needs no answer.
            let _ = waiting.send(line.to_vec());
        }
    }

    async fn ask(&self, id: u64, line: &str) -> Vec<u8> {
        let (sender, answer) = oneshot::channel();
        self.waiting.borrow_mut().insert(id, sender);
        {
            let mut out = self.out.borrow_mut();
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
        self.more.notify_one();
        answer.await.unwrap()
    }
}
