//! The server behind everything that `bench-serve` measures: as little work for a call as a server can do, over pipes or over
//! HTTP, in the protocol of 2025-11-25. What it is called with comes back, so that a wrong answer is seen.
//!
//! `bench-upstream [--tools N]`, or `bench-upstream --http [--tools N]`, which prints its address. With `--list FILE` the bytes
//! of the file are what it answers to `tools/list`.
#![expect(clippy::unwrap_used, reason = "a program of a benchmark: what cannot go on stops")]

use std::io::{BufRead as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::rc::Rc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A message, as far as it is looked at.
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
    #[serde(borrow)]
    arguments: Arguments<'a>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    /// As it was written: nothing in it is unescaped and escaped again.
    #[serde(borrow)]
    message: &'a RawValue,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let value = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        args.get(at + 1).cloned()
    };
    let tools = value("--tools").map_or(1, |count| count.parse().unwrap());
    let list = value("--list").map_or_else(|| list(tools), |file| std::fs::read_to_string(file).unwrap());
    if args.iter().any(|arg| arg == "--http") { serve(list) } else { pipes(&list) }
}

/// The tool that is called, and others that are only listed.
fn list(count: usize) -> String {
    let tool = |number: usize| {
        let name = if number == 0 { "echo".to_owned() } else { format!("echo_{number}") };
        json!({
            "name": name,
            "description": "Gives back the message it is called with, as it is.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "message": {"type": "string", "description": "What is to come back", "maxLength": 1000},
                    "times": {"type": "integer", "minimum": 1, "maximum": 10},
                },
                "required": ["message"],
                "additionalProperties": false,
            },
        })
    };
    let tools: Vec<_> = (0..count).map(tool).collect();
    json!({ "tools": tools }).to_string()
}

/// The answer to a message; none to what is no request.
fn answer(bytes: &[u8], list: &str) -> Option<String> {
    let message: Message<'_> = serde_json::from_slice(bytes).unwrap();
    let id = message.id?;
    let result = match message.method {
        "tools/call" => {
            let call: Call<'_> = serde_json::from_str(message.params.unwrap().get()).unwrap();
            let text = call.arguments.message;
            return Some(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}],"isError":false}}}}"#
            ));
        }
        "tools/list" => list,
        "ping" => "{}",
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"upstream","version":"1"}}"#
        }
        method => {
            let error = json!({"code": -32601, "message": format!("method not found: {method}")});
            return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#));
        }
    };
    Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

/// Answers what has come together, together.
fn pipes(list: &str) {
    let mut input = std::io::BufReader::with_capacity(1 << 16, std::io::stdin().lock());
    let mut output = std::io::stdout().lock();
    let (mut line, mut answers) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line).unwrap() != 0 {
        if let Some(answer) = answer(&line, list) {
            answers.extend_from_slice(answer.as_bytes());
            answers.push(b'\n');
        }
        line.clear();
        if !input.buffer().contains(&b'\n') {
            output.write_all(&answers).unwrap();
            output.flush().unwrap();
            answers.clear();
        }
    }
}

fn serve(list: String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let list = Rc::new(list);
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::task::spawn_local(connection(stream, list.clone()));
        }
    });
}

/// One connection until its client leaves it.
async fn connection(mut stream: TcpStream, list: Rc<String>) {
    let mut bytes = Vec::with_capacity(1 << 14);
    loop {
        let Some((head, length)) = head(&bytes) else {
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
            continue;
        };
        if bytes.len() < head + length {
            bytes.reserve(head + length - bytes.len());
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
            continue;
        }
        let answer = match bytes.starts_with(b"POST ") {
            false => "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_owned(),
            true => match answer(&bytes[head..head + length], &list) {
                Some(body) => format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: one\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                ),
                None => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
            },
        };
        bytes.drain(..head + length);
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Where the head of a request ends, once all of it is there, and how long its body is.
fn head(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let lines = bytes[..end].split(|byte| *byte == b'\n');
    let length =
        lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':')).find_map(|(name, value)| {
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
        });
    Some((end + 4, length.unwrap_or(0)))
}
