//! What the HTTP form has besides the protocol: the older transport, credentials, the diary, restarts, cuts.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Http, proc};

use crate::http_peer::{HttpPeer, Incoming, PATIENCE, send};
use crate::peer::text;

fn pair(name: &str, value: &str) -> (String, String) {
    (name.into(), value.into())
}

/// The lines of a diary that begin with these words.
fn noted(events: &Path, words: &str) -> Vec<String> {
    let text = fs::read_to_string(events).unwrap();
    text.lines().filter(|line| line.starts_with(words)).map(str::to_owned).collect()
}

/// A conversation over the older transport: the stream, and where to post.
struct Old {
    server: Http,
    stream: Incoming,
    endpoint: String,
}

impl Old {
    fn start(args: &[&str]) -> Self {
        let server = Http::start(&[&["--sse"], args].concat());
        assert!(server.url().ends_with("/sse"));
        let accept = pair("Accept", "text/event-stream");
        let mut stream = send(server.address(), "GET", "/sse", &[accept], b"").unwrap();
        assert_eq!((stream.status, stream.is_events()), (200, true));
        let event = stream.event().unwrap().unwrap();
        assert_eq!(event.name.as_deref(), Some("endpoint"));
        Self { server, stream, endpoint: event.data.unwrap() }
    }

    fn post(&self, message: &Value) -> u16 {
        let kind = pair("Content-Type", "application/json");
        let body = message.to_string();
        send(self.server.address(), "POST", &self.endpoint, &[kind], body.as_bytes()).unwrap().status
    }
}

#[test]
fn the_older_transport_answers_on_its_stream() {
    let mut old = Old::start(&[]);
    assert!(old.endpoint.starts_with("/messages?sessionId="));
    let params = json!({ "protocolVersion": "2024-11-05" });
    assert_eq!(
        old.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })),
        202
    );
    assert_eq!(old.stream.message()["result"]["protocolVersion"], "2024-11-05");
    let params = json!({ "name": "echo", "arguments": { "message": "hi" } });
    assert_eq!(
        old.post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params })),
        202
    );
    assert_eq!(text(&old.stream.message()), "hi");
    let address = old.server.address();
    let json = pair("Content-Type", "application/json");
    assert_eq!(send(address, "POST", "/messages?sessionId=x", &[json], b"{}").unwrap().status, 404);
    assert_eq!(send(address, "POST", "/sse", &[], b"{}").unwrap().status, 405);
    assert_eq!(send(address, "POST", "/mcp", &[], b"{}").unwrap().status, 404);
}

#[test]
fn h05_and_h07_spoil_the_older_transport_too() {
    let mut old = Old::start(&["--fault", "h05:500"]);
    let params = json!({ "name": "echo", "arguments": { "message": "hi" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    assert_eq!(old.post(&call), 202);
    assert_eq!(text(&old.stream.message()), "hi");
    assert_eq!(old.post(&call), 500);
    assert_eq!(old.stream.event().unwrap(), None, "its stream ends with it");
    let server = Http::start(&["--sse", "--fault", "h07:same"]);
    let accept = [pair("Accept", "text/event-stream")];
    let refused = send(server.address(), "GET", "/sse", &accept, b"").unwrap();
    assert_eq!((refused.status, refused.header("location")), (307, Some("/moved")));
    let mut moved = send(server.address(), "GET", "/moved", &accept, b"").unwrap();
    assert_eq!(moved.event().unwrap().unwrap().name.as_deref(), Some("endpoint"));
}

/// The answer is cut, so the stream is, and with it the session.
#[test]
fn cuts_reach_the_older_transport() {
    for (cut, executed) in [("request:rst", 0), ("half:fin", 1), ("answer:rst", 1)] {
        let folder = TempDir::new().unwrap();
        let events = folder.path().join("events");
        let mut old = Old::start(&["--cut", cut, "--events", events.to_str().unwrap()]);
        let params = json!({ "name": "count", "arguments": { "token": "t" } });
        old.post(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }));
        while let Ok(event) = old.stream.event() {
            assert!(event.is_some(), "{cut}: a clean end");
        }
        assert_eq!(noted(&events, "exec t").len(), executed, "{cut}");
        assert!(!old.server.has_ended(), "{cut}");
    }
}

#[test]
fn h11_the_endpoint_lies_elsewhere() {
    let other = "http://127.0.0.1:4321/mcp";
    let endpoint = |mode: &str| Old::start(&["--fault", mode, "--elsewhere", other]).endpoint;
    assert_eq!(endpoint("h11"), other);
    assert_eq!(endpoint("h11:relative"), "//127.0.0.1:4321/mcp");
    let tricky = endpoint("h11:userinfo");
    assert!(tricky.starts_with("http://127.0.0.1:") && tricky.ends_with("@127.0.0.1:4321/mcp"), "{tricky}");
}

#[test]
fn every_request_needs_its_credential() {
    let mut peer = HttpPeer::start(&["--bearer", "s3cret", "--header", "X-Team=blue"]);
    let refused = peer.ask("initialize", json!({}));
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    peer.headers.push(pair("Authorization", "Bearer s3cret"));
    assert_eq!(peer.ask("initialize", json!({})).status, 401);
    peer.headers.push(pair("X-Team", "blue"));
    peer.initialize();
    peer.is_usable();
    peer.headers[0].1 = "Bearer wrong".into();
    assert_eq!(peer.call("add", json!({ "a": 1, "b": 1 })).status, 401);
    assert_eq!(peer.listen(None).status, 401);
    assert_eq!(peer.send("DELETE", "/mcp", &[], b"").unwrap().status, 401);
}

#[test]
fn the_diary_holds_requests_and_executions() {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events");
    let mut peer = HttpPeer::legacy(&["--events", events.to_str().unwrap()]);
    peer.headers.push(pair("Authorization", "Bearer abc"));
    assert_eq!(peer.text("count", json!({ "token": "t1" })), "t1");
    assert_eq!(noted(&events, "exec t1").len(), 1);
    assert_eq!(noted(&events, "call count t1").len(), 1);
    let requests = noted(&events, "http POST /mcp ");
    assert_eq!(requests.len(), 3);
    assert!(!requests[0].contains("authorization=") && requests[2].contains(" authorization=Bearer_abc"));
    let session = format!(" mcp-session-id={}", peer.session.as_ref().unwrap());
    assert!(!requests[0].contains("mcp-session-id") && requests[1].contains(&session));
    assert!(requests[2].contains(" mcp-protocol-version=2025-11-25"));
    drop(peer.listen(Some("9-9")));
    assert!(noted(&events, "http GET /mcp ")[0].contains(" last-event-id=9-9"));
}

#[test]
fn a_restart_forgets_the_sessions_and_keeps_the_address() {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events");
    let mut peer = HttpPeer::legacy(&["--events", events.to_str().unwrap()]);
    let (address, pid) = (peer.server.address().to_owned(), peer.server.pid());
    peer.server.start_again();
    assert_eq!(peer.server.address(), address);
    assert!(!proc::alive(pid));
    assert_eq!(peer.call("count", json!({ "token": "lost" })).status, 404);
    peer.initialize();
    assert_eq!(peer.text("count", json!({ "token": "new" })), "new");
    assert_eq!(noted(&events, "start").len(), 2);
    assert_eq!(noted(&events, "exec"), ["exec new"]);
    peer.server.stop();
    assert!(peer.try_call("pid", json!({})).is_err());
}

/// Two requests in one write, the second one in chunks and with a question before its body.
#[test]
fn one_connection_takes_many_requests() {
    let server = Http::start(&["--stateless", "--era", "legacy"]);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: */*\r\n";
    let ping = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }).to_string();
    let (first, second) = (ping(1), ping(2));
    let (a, b) = second.split_at(10);
    let chunks = format!("{:x}\r\n{a}\r\n{:X};x=y\r\n{b}\r\n0\r\n\r\n", a.len(), b.len());
    let first = format!("{head}Content-Length: {}\r\n\r\n{first}", first.len());
    let second = format!("{head}Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n{chunks}");
    stream.write_all(format!("{first}{second}").as_bytes()).unwrap();
    let mut text = String::new();
    while text.matches("\"result\"").count() < 2 {
        let mut buffer = [0; 1024];
        let count = stream.read(&mut buffer).unwrap();
        assert_ne!(count, 0, "closed after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
    assert_eq!(text.matches("HTTP/1.1 100 Continue").count(), 1, "{text}");
    let last = ping(3);
    let close = format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n{last}", last.len());
    stream.write_all(close.as_bytes()).unwrap();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"id\":3"), "{rest}");
}

#[test]
fn it_ends_with_its_stdin() {
    let mut command = std::process::Command::new(testkit::bin("fake-mcp"));
    let command = command.args(["--http", "0"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp\n"), "{url:?}");
    drop(child.stdin.take());
    let mut status = None;
    let ended = testkit::wait_until(PATIENCE, || {
        status = child.try_wait().unwrap();
        status.is_some()
    });
    assert!(ended && status.unwrap().success());
}

#[test]
fn the_handle_leaves_no_process() {
    let server = Http::start(&[]);
    let pid = server.pid();
    drop(server);
    assert!(!proc::alive(pid));
}

#[test]
fn a_canary_notes_whatever_comes() {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events");
    let canary = Http::start(&["--canary", "--events", events.to_str().unwrap()]);
    let secret = pair("Authorization", "Bearer leaked");
    assert_eq!(send(canary.address(), "PUT", "/any/where", &[secret], b"x").unwrap().status, 200);
    let noted = noted(&events, "http ");
    assert!(noted[0].starts_with("http PUT /any/where ") && noted[0].contains("authorization=Bearer_leaked"));
}

/// What a client sees of a call, and whether it was executed.
#[track_caller]
fn check_cut(step: &str, how: &str, form: &str, seen: &[&str], executed: usize) {
    let folder = TempDir::new().unwrap();
    let [events, once] = ["events", "once"].map(|name| folder.path().join(name));
    let cut = format!("{step}:{how}");
    fs::write(&once, "not yet").unwrap();
    let args = ["--cut", &cut, "--once", once.to_str().unwrap(), "--answer", form];
    let mut peer = HttpPeer::legacy(&[&args[..], &["--events", events.to_str().unwrap()]].concat());
    fs::remove_file(&once).unwrap();
    let outcome = match peer.try_call("count", json!({ "token": "t" })) {
        Err(_) => "nothing",
        Ok(incoming) => match incoming.answer() {
            Ok(_) => "answer",
            Err(_) => "part",
        },
    };
    let place = format!("{cut} {form}");
    assert!(seen.contains(&outcome), "{place}: {outcome}");
    assert!(testkit::wait_until(Duration::from_secs(10), || once.exists()), "{place}: not cut");
    assert_eq!(noted(&events, "exec t").len(), executed, "{place}");
    if matches!(how, "kill" | "eof") {
        let ended = testkit::wait_until(Duration::from_secs(10), || peer.server.has_ended());
        assert!(ended, "{place}: it lives");
        peer.server.start_again();
        peer.initialize();
    }
    peer.is_usable();
}

#[test]
fn cuts_happen_at_their_step_over_http() {
    for form in ["json", "sse"] {
        for how in ["rst", "fin", "kill", "eof"] {
            if matches!(how, "rst" | "fin") {
                check_cut("start", how, form, &["nothing"], 0);
            }
            check_cut("request", how, form, &["nothing"], 0);
            check_cut("head", how, form, &["nothing", "part"], 1);
            check_cut("half", how, form, &["nothing", "part"], 1);
            // A reset may overtake what was sent before it.
            let answered: &[&str] = if how == "rst" { &["answer", "part", "nothing"] } else { &["answer"] };
            check_cut("answer", how, form, answered, 1);
        }
    }
}

#[test]
fn handshakes_lists_and_streams_are_cut_too() {
    let mut peer = HttpPeer::start(&["--cut", "handshake:rst"]);
    assert!(peer.try_ask("initialize", json!({})).is_err());
    assert!(peer.try_ask("initialize", json!({})).is_err());
    let mut peer = HttpPeer::legacy(&["--cut", "list:fin"]);
    assert!(peer.try_ask("tools/list", json!({})).is_err());
    peer.is_usable();
    let mut peer = HttpPeer::legacy(&["--cut", "listen:rst"]);
    let mut stream = peer.listen(None);
    assert!(loop {
        match stream.event() {
            Ok(Some(_)) => {}
            Ok(None) => break false,
            Err(_) => break true,
        }
    });
    peer.is_usable();
}
