//! What clients are told without asking: on the stream of a session, on a subscription, over stdio, and in the transport of
//! 2024-11-05.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use super::{LONG, Served, initialize, request, status};
use crate::house::Runs as _;

const CHANGED: &str = "notifications/tools/list_changed";
const QUICK: &str = "[limits]\nrefresh = \"20ms\"\nrestart_first = \"20ms\"\n";

/// A stream of events that a test reads one by one.
pub(super) struct Stream {
    lines: BufReader<TcpStream>,
    head: String,
}

impl Stream {
    #[track_caller]
    pub(super) fn open(address: &str, request: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        (&stream).write_all(request.as_bytes()).unwrap();
        let (mut lines, mut head) = (BufReader::new(stream), String::new());
        while lines.read_line(&mut head).unwrap() != 0 && !head.ends_with("\r\n\r\n") {}
        Self { lines, head }
    }

    /// The stream of a session.
    #[track_caller]
    pub(super) fn of(served: &Served<'_>, session: &str) -> Self {
        Self::open(served.address(), &get("/mcp", served.address(), &of_session(session)))
    }

    pub(super) fn status(&self) -> &str {
        status(&self.head)
    }

    /// The `data` of the next event; none at the end.
    #[track_caller]
    pub(super) fn data(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(data.trim_end().to_owned());
            }
        }
    }

    #[track_caller]
    pub(super) fn next(&mut self) -> Option<Value> {
        self.data().map(|data| serde_json::from_str(&data).unwrap())
    }

    #[track_caller]
    pub(super) fn rest(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next()).collect()
    }

    pub(super) fn leave(&self) {
        self.lines.get_ref().shutdown(Shutdown::Both).unwrap();
    }
}

pub(super) fn get(path: &str, host: &str, headers: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAccept: text/event-stream\r\n{headers}\r\n"
    )
}

pub(super) fn of_session(session: &str) -> String {
    format!("Mcp-Session-Id: {session}\r\n")
}

pub(super) fn modern(id: &Value, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The headers of a request of the newer era.
pub(super) fn modern_headers(method: &str, name: Option<&str>) -> String {
    let name = name.map_or_else(String::new, |name| format!("Mcp-Name: {name}\r\n"));
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

pub(super) fn subscribe(served: &Served<'_>, id: &str, filter: Value) -> Stream {
    let body = modern(&id.into(), "subscriptions/listen", json!({"notifications": filter}));
    let headers = modern_headers("subscriptions/listen", None);
    Stream::open(served.address(), &super::post(served.address(), &headers, &body.to_string()))
}

#[track_caller]
fn call(served: &Served<'_>, session: &str, tool: &str, arguments: Value) -> String {
    let body = request(9, "tools/call", &json!({"name": tool, "arguments": arguments}));
    served.post(&of_session(session), &body)
}

/// Its tools are there.
#[track_caller]
fn lists(served: &Served<'_>, session: &str, tool: &str) {
    let list = request(8, "tools/list", &json!({}));
    assert!(wait_until(LONG, || served.post(&of_session(session), &list).contains(tool)), "{tool}");
}

#[test]
fn t40_a_session_hears_of_its_own_lists_once_each_and_its_stream_ends_with_it() {
    let farm = Farm::of("x", &[]);
    farm.settings(QUICK);
    let served = Served::start(&farm, &[]);
    let (session, other) = (served.session(""), served.session(""));
    lists(&served, &session, "x_grow");
    let mut stream = Stream::of(&served, &session);
    assert_eq!(stream.status(), "200", "{}", stream.head);
    // One that comes and goes is no news.
    for round in 1..4 {
        call(&served, &session, "x_die", json!({"how": "exit"}));
        assert!(
            wait_until(LONG, || farm.count("x", "start") == 1 + round),
            "{:?}",
            farm.events("x", "start")
        );
        assert!(call(&served, &session, "x_echo", json!({"message": "hi"})).contains("hi"));
    }
    call(&served, &session, "x_grow", json!({}));
    assert_eq!(stream.next().unwrap()["method"], CHANGED);
    assert!(served.post(&of_session(&session), &request(7, "tools/list", &json!({}))).contains("x_grown"));
    let second = served.raw(&get("/mcp", served.address(), &of_session(&session)));
    assert_eq!(status(&second), "409", "{second}");
    let ended = served.raw(&format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}\r\n",
        served.address(),
        of_session(&session)
    ));
    assert_eq!(status(&ended), "204");
    assert_eq!(stream.rest(), Vec::<Value>::new(), "told once, and over with the session");
    assert!(call(&served, &other, "x_echo", json!({"message": "still"})).contains("still"));
    served.stop();
}

#[test]
fn a_session_that_is_ended_cancels_its_calls_and_no_other() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let (leaver, stayer) = (served.session(""), served.session(""));
    lists(&served, &leaver, "x_sleep");
    let nap = |session: &str, ms: u64| {
        let body = request(2, "tools/call", &json!({"name": "x_sleep", "arguments": {"ms": ms}}));
        let stream = TcpStream::connect(served.address()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let text = super::post(served.address(), &of_session(session), &body.to_string());
        (&stream).write_all(text.as_bytes()).unwrap();
        stream
    };
    let (left, stays) = (nap(&leaver, 60_000), nap(&stayer, 2_000));
    assert!(wait_until(LONG, || farm.count("x", "call") == 2), "{:?}", farm.events("x", "call"));
    let host = served.address();
    let delete = format!("DELETE /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    served.raw(&format!("{delete}{}\r\n", of_session(&leaver)));
    assert!(wait_until(LONG, || farm.count("x", "cancelled") == 1));
    let answer = |stream: TcpStream| std::io::read_to_string(stream).unwrap();
    assert_eq!(status(&answer(left)), "404");
    assert!(answer(stays).contains("slept 2000 ms"));
    served.stop();
}

#[test]
fn a_subscription_tells_what_it_was_opened_for_and_ends_with_the_endpoint() {
    let farm = Farm::of("x", &[]);
    farm.settings(QUICK);
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    lists(&served, &session, "x_grow");
    let all = json!({"toolsListChanged": true, "promptsListChanged": false, "unheardOf": true});
    let mut tools = subscribe(&served, "all \"of it\"", all);
    let mut none = subscribe(&served, "none", json!({"toolsListChanged": false}));
    let id = "io.modelcontextprotocol/subscriptionId";
    let first = tools.next().unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["_meta"][id], "all \"of it\"");
    assert_eq!(first["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(none.next().unwrap()["params"]["notifications"], json!({}));
    call(&served, &session, "x_grow", json!({}));
    let told = tools.next().unwrap();
    assert_eq!((&told["method"], &told["params"]["_meta"][id]), (&json!(CHANGED), &json!("all \"of it\"")));
    let wrong = subscribe(&served, "wrong", json!("everything"));
    assert_eq!(wrong.status(), "400");
    served.stop();
    for (stream, name) in [(tools, "all \"of it\""), (none, "none")] {
        let rest = stream.rest();
        assert_eq!(rest.len(), 1, "{rest:?}");
        assert_eq!((&rest[0]["id"], &rest[0]["result"]["resultType"]), (&json!(name), &json!("complete")));
        assert_eq!(rest[0]["result"]["_meta"][id], name);
    }
}

#[test]
fn t17_a_user_has_so_many_streams_and_another_user_their_own() {
    let farm = Farm::new();
    farm.settings("[users.ada]\n[users.bob]\n[limits]\nserve_streams = 2\n");
    let token =
        |user: &str| farm.house.run(&["tokens", "add", "t", "--user", user]).exits(0).out.trim().to_owned();
    let (ada, bob) = (token("ada"), token("bob"));
    let served = Served::start(&farm, &["--require-token"]);
    let open = |token: &str| {
        let body = modern(&json!(1), "subscriptions/listen", json!({"notifications": {}}));
        let headers =
            format!("Authorization: Bearer {token}\r\n{}", modern_headers("subscriptions/listen", None));
        Stream::open(served.address(), &super::post(served.address(), &headers, &body.to_string()))
    };
    let (first, _second) = (open(&ada), open(&ada));
    assert_eq!(first.status(), "200", "{}", first.head);
    assert_eq!(open(&ada).status(), "429");
    assert_eq!(open(&bob).status(), "200");
    first.leave();
    assert!(wait_until(LONG, || open(&ada).status() == "200"), "a place is free again");
    served.stop();
}

/// A host that starts Kitbag, with its end of the pipes.
pub(super) struct Started {
    pub(super) child: Child,
    pub(super) input: Option<ChildStdin>,
    pub(super) lines: BufReader<ChildStdout>,
}

impl Started {
    #[track_caller]
    pub(super) fn start(farm: &Farm) -> Self {
        let mut child = farm.house.ask(&["stdio"]).command();
        let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, lines) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, lines }
    }

    #[track_caller]
    pub(super) fn say(&mut self, message: &Value) {
        self.input.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// The next message; none at the end.
    #[track_caller]
    pub(super) fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        (self.lines.read_line(&mut line).unwrap() != 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Reads on to the message that fits.
    #[track_caller]
    pub(super) fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().unwrap();
            if fits(&message) {
                return message;
            }
        }
    }

    #[track_caller]
    pub(super) fn ends(mut self) -> Vec<Value> {
        drop(self.input.take());
        let rest = std::iter::from_fn(|| self.next()).collect();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        rest
    }

    /// Greets, and waits for the tools of a server.
    #[track_caller]
    pub(super) fn greet(&mut self, tool: &str) {
        self.say(&initialize());
        self.until(|message| message["id"] == 1);
        for id in 100.. {
            self.say(&request(id, "tools/list", &json!({})));
            if self.until(|message| message["id"] == id).to_string().contains(tool) {
                break;
            }
        }
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_host_that_starts_kitbag_is_told_and_ends_its_subscriptions() {
    let farm = Farm::of("x", &[]);
    farm.settings(QUICK);
    let mut host = Started::start(&farm);
    host.greet("x_grow");
    let listen = |id: &str| {
        modern(&id.into(), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}))
    };
    let id = |message: &Value| message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"].clone();
    for name in ["kept", "cancelled"] {
        host.say(&listen(name));
        let first = host.next().unwrap();
        assert_eq!(
            (first["method"].as_str(), id(&first)),
            (Some("notifications/subscriptions/acknowledged"), json!(name))
        );
    }
    let grow = |host: &mut Started, number: u64| {
        host.say(&request(number, "tools/call", &json!({"name": "x_grow", "arguments": {}})));
        // The answer, the client that greeted, and the subscription that is open in any case.
        let mut told = Vec::new();
        while told.len() < 3 || !told.contains(&json!("kept")) || !told.contains(&Value::Null) {
            let message = host.next().unwrap();
            assert!(message["id"] == number || message["method"] == CHANGED, "{message}");
            told.push(if message["id"] == number { json!("answer") } else { id(&message) });
        }
        told
    };
    let told = grow(&mut host, 2);
    if !told.contains(&json!("cancelled")) {
        host.until(|message| id(message) == "cancelled");
    }
    host.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "cancelled"}}),
    );
    host.say(&request(3, "ping", &json!({})));
    host.until(|message| message["id"] == 3);
    let told = grow(&mut host, 4);
    assert!(!told.contains(&json!("cancelled")), "{told:?}");
    let rest = host.ends();
    assert!(
        rest.iter().all(|message| message["id"] != "cancelled" && id(message) != "cancelled"),
        "{rest:?}"
    );
    farm.is_empty();
}

/// A client of 2024-11-05 by hand.
struct OldClient<'s> {
    served: &'s Served<'s>,
    stream: Stream,
    messages: String,
}

impl<'s> OldClient<'s> {
    #[track_caller]
    fn open(served: &'s Served<'s>, path: &str) -> Self {
        let mut stream = Stream::open(served.address(), &get(path, served.address(), ""));
        assert_eq!(stream.status(), "200", "{}", stream.head);
        let messages = stream.data().unwrap();
        Self { served, stream, messages }
    }

    #[track_caller]
    fn say(&self, message: &Value) -> String {
        let body = message.to_string();
        let text = super::post(self.served.address(), "", &body);
        self.served.raw(&text.replacen("/mcp", &self.messages, 1))
    }

    #[track_caller]
    fn ask(&mut self, message: &Value) -> Value {
        let said = self.say(message);
        assert_eq!(status(&said), "202", "{said}");
        loop {
            let answer = self.stream.next().unwrap();
            if answer["id"] == message["id"] {
                return answer;
            }
        }
    }
}

#[test]
fn hosts_of_2024_are_served_over_http_and_sse() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.settings(QUICK);
    let served = Served::start(&farm, &[]);
    // Kitbag itself knows this transport.
    let host = Farm::new();
    let sse = served.url.replace("/mcp", "/sse");
    host.enter("old", json!({"type": "sse", "url": &sse}));
    let done = host.house.run(&["call", "old/x_echo", "message=hi", "--json"]).exits(0).json();
    assert_eq!(done["content"][0]["text"], "hi");
    let done = host.house.run(&["call", "old/x_progress", "n=3", "ms=1", "--json"]).exits(0).json();
    assert_eq!(done["is_error"], false);
    // By hand: one server, a broken message, news, and a session that nobody guesses.
    let mut old = OldClient::open(&served, "/sse/s/y");
    assert!(old.messages.starts_with("/messages?sessionId="), "{}", old.messages);
    assert_eq!(old.ask(&initialize())["result"]["protocolVersion"], "2025-11-25");
    let list = request(2, "tools/list", &json!({}));
    assert!(wait_until(LONG, || old.ask(&list).to_string().contains("y_echo")));
    assert!(!old.ask(&list).to_string().contains("x_echo"));
    assert_eq!(status(&old.say(&json!("no message"))), "400");
    old.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    old.ask(&request(3, "ping", &json!({})));
    let grow = request(4, "tools/call", &json!({"name": "y_grow", "arguments": {}}));
    assert_eq!(status(&old.say(&grow)), "202");
    assert!((0..2).any(|_| old.stream.next().unwrap()["method"] == CHANGED), "it is told");
    let nobodys = served.raw(&super::post(served.address(), "", "{}").replacen("/mcp", "/messages", 1));
    assert_eq!(status(&nobodys), "400");
    // Whoever leaves cancels its calls.
    old.say(&request(5, "tools/call", &json!({"name": "y_sleep", "arguments": {"ms": 60_000}})));
    assert!(wait_until(LONG, || farm.count("y", "call sleep") == 1));
    old.stream.leave();
    assert!(wait_until(LONG, || farm.count("y", "cancelled") == 1));
    assert!(wait_until(LONG, || status(&old.say(&list)) == "404"), "its session is over");
    served.stop();
}

#[test]
fn t40_a_session_of_2024_is_its_users() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let token =
        |user: &str| farm.house.run(&["tokens", "add", "t", "--user", user]).exits(0).out.trim().to_owned();
    let (ada, bob) = (token("ada"), token("bob"));
    let served = Served::start(&farm, &["--require-token"]);
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(
        status(&served.raw(&format!("GET /sse HTTP/1.1\r\nHost: {}\r\n\r\n", served.address()))),
        "401"
    );
    let mut stream = Stream::open(served.address(), &get("/sse", served.address(), &bearer(&ada)));
    let messages = stream.data().unwrap();
    let say = |headers: &str| {
        let text = super::post(served.address(), headers, &initialize().to_string());
        status(&served.raw(&text.replacen("/mcp", &messages, 1))).to_owned()
    };
    assert_eq!(say(""), "401");
    assert_eq!(say(&bearer(&bob)), "404");
    assert_eq!(say(&bearer(&ada)), "202");
    assert_eq!(stream.next().unwrap()["id"], 1);
    served.stop();
}
