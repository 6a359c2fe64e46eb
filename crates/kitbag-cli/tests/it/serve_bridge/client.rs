//! Clients of the endpoint as hosts have them, in both eras, over HTTP and over pipes: they answer what they are asked and
//! keep what they hear.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Farm;

use crate::house::Runs as _;

pub(super) const LONG: Duration = Duration::from_secs(60);
pub(super) const MODERN: &str = "2026-07-28";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    Older,
    Newer,
}

pub(super) const ERAS: [Era; 2] = [Era::Older, Era::Newer];

/// `kitbag serve`, running.
pub(super) struct Served {
    child: Child,
    pub(super) address: String,
}

impl Served {
    #[track_caller]
    pub(super) fn start(farm: &Farm, args: &[&str]) -> Self {
        let mut command = farm.house.ask(&[&["serve", "--listen", "127.0.0.1:0"], args].concat()).command();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        assert!(address.contains(':'), "no address: {url:?}");
        Self { child, address }
    }

    /// Ends it as a service manager does.
    #[track_caller]
    pub(super) fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What came back for one request.
#[derive(Debug)]
pub(super) struct Reply {
    /// The whole answer, as it was written.
    pub(super) text: String,
    /// Notifications and questions before it, in order.
    pub(super) heard: Vec<Value>,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The text of the result of a tool.
    #[track_caller]
    pub(super) fn said(&self) -> String {
        let json = self.json();
        let text = json["result"]["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text: {self:?}")).to_owned()
    }

    pub(super) fn error(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_default()
    }

    /// What it heard of this method.
    pub(super) fn heard(&self, method: &str) -> Vec<Value> {
        self.heard.iter().filter(|heard| heard["method"] == method).cloned().collect()
    }
}

/// How a client reaches Kitbag.
enum Way {
    Http { address: String, session: Option<String> },
    Pipe(Arc<Pipe>, Mutex<Child>),
}

/// One client.
pub(super) struct Client {
    pub(super) era: Era,
    pub(super) name: String,
    pub(super) capabilities: Value,
    token: Option<String>,
    way: Way,
    next: AtomicU64,
    /// Everything it was ever asked.
    pub(super) asked: Arc<Mutex<Vec<Value>>>,
}

/// All that a client can be asked.
pub(super) fn everything() -> Value {
    json!({"sampling": {}, "elicitation": {"form": {}}, "roots": {}})
}

impl Client {
    /// Over HTTP.
    #[track_caller]
    pub(super) fn http(served: &Served, name: &str, era: Era, capabilities: Value) -> Self {
        Self::http_as(served, name, era, capabilities, None)
    }

    /// The same with a token.
    #[track_caller]
    pub(super) fn http_as(
        served: &Served,
        name: &str,
        era: Era,
        capabilities: Value,
        token: Option<&str>,
    ) -> Self {
        let way = Way::Http { address: served.address.clone(), session: None };
        let mut client = Self::new(name, era, capabilities, way);
        client.token = token.map(str::to_owned);
        if era == Era::Older {
            let body = client.initialize();
            let mut stream = client.post(&served.address, None, &body);
            let session = read_head(&mut stream).remove("mcp-session-id").unwrap();
            client.way = Way::Http { address: served.address.clone(), session: Some(session) };
        }
        client
    }

    /// As a host starts `kitbag stdio`.
    #[track_caller]
    pub(super) fn pipe(farm: &Farm, name: &str, era: Era, capabilities: Value) -> Self {
        let mut command = farm.house.ask(&["stdio"]).command();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let asked = Arc::new(Mutex::default());
        let pipe = Arc::new(Pipe {
            name: name.to_owned(),
            input: Mutex::new(child.stdin.take()),
            waiting: Mutex::default(),
            heard: Mutex::default(),
            asked: Arc::clone(&asked),
        });
        let (own, output) = (Arc::clone(&pipe), BufReader::new(child.stdout.take().unwrap()));
        std::thread::spawn(move || own.read(output));
        let mut client = Self::new(name, era, capabilities, Way::Pipe(pipe, Mutex::new(child)));
        client.asked = asked;
        if era == Era::Older {
            assert_eq!(
                client.exchange(&client.initialize()).json()["result"]["protocolVersion"],
                "2025-11-25"
            );
            client.tell("notifications/initialized", &json!({}));
        }
        client
    }

    fn new(name: &str, era: Era, capabilities: Value, way: Way) -> Self {
        let (next, asked, token) = (AtomicU64::new(1), Arc::default(), None);
        Self { era, name: name.to_owned(), capabilities, token, way, next, asked }
    }

    fn initialize(&self) -> Value {
        let client = json!({"name": self.name, "version": "1"});
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": self.capabilities, "clientInfo": client});
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
    }

    /// A request as this client writes it.
    pub(super) fn request(&self, id: Value, method: &str, mut params: Value) -> Value {
        if self.era == Era::Newer {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": self.name, "version": "1"});
        }
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }

    pub(super) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes a request and answers what is asked before its answer.
    #[track_caller]
    pub(super) fn send(&self, method: &str, params: Value) -> Reply {
        self.exchange(&self.request(self.next_id().into(), method, params))
    }

    /// Calls a tool, and comes back as often as that asks something.
    #[track_caller]
    pub(super) fn call(&self, tool: &str, arguments: &Value) -> Reply {
        self.call_with(json!({"name": tool, "arguments": arguments}))
    }

    #[track_caller]
    pub(super) fn call_with(&self, first: Value) -> Reply {
        let mut params = first.clone();
        let mut heard = Vec::new();
        loop {
            let mut reply = self.send("tools/call", params);
            heard.append(&mut reply.heard);
            let result = &reply.json()["result"];
            if result["resultType"] != "input_required" {
                return Reply { heard, ..reply };
            }
            params = self.further(&first, result);
            heard.extend(
                result["inputRequests"].as_object().into_iter().flat_map(|all| all.values().cloned()),
            );
        }
    }

    /// The same request with answers to what was asked.
    pub(super) fn further(&self, first: &Value, result: &Value) -> Value {
        let mut params = first.clone();
        for (key, question) in result["inputRequests"].as_object().into_iter().flatten() {
            self.asked.lock().unwrap().push(question.clone());
            params["inputResponses"][key] = answer(&self.name, question);
        }
        params["requestState"] = result["requestState"].clone();
        params
    }

    /// Sends a message as it is and waits for its answer.
    #[track_caller]
    pub(super) fn exchange(&self, request: &Value) -> Reply {
        match &self.way {
            Way::Http { address, session } => {
                self.take(&mut self.post(address, session.as_deref(), request), request)
            }
            Way::Pipe(pipe, _) => {
                let answer = pipe.begin(request);
                let text = answer.recv_timeout(LONG).unwrap_or_else(|_| panic!("no answer to {request}"));
                let heard = std::mem::take(&mut *pipe.heard.lock().unwrap());
                Reply { text, heard }
            }
        }
    }

    /// Sends a request whose answer nobody waits for; over HTTP dropping what is handed back leaves.
    #[track_caller]
    pub(super) fn begin(&self, request: &Value) -> Begun {
        match &self.way {
            Way::Http { address, session } => Begun::Http(self.post(address, session.as_deref(), request)),
            Way::Pipe(pipe, _) => Begun::Pipe(pipe.begin(request)),
        }
    }

    /// The answer to a request that was begun.
    #[track_caller]
    pub(super) fn finish(&self, begun: Begun, request: &Value) -> Reply {
        match begun {
            Begun::Http(mut stream) => self.take(&mut stream, request),
            Begun::Pipe(answer) => Reply { text: answer.recv_timeout(LONG).unwrap(), heard: Vec::new() },
        }
    }

    /// Sends a notification.
    #[track_caller]
    pub(super) fn tell(&self, method: &str, params: &Value) {
        self.give(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends what has no answer.
    #[track_caller]
    pub(super) fn give(&self, message: &Value) {
        match &self.way {
            Way::Http { address, session } => {
                let head = read_head(&mut self.post(address, session.as_deref(), message));
                assert_eq!(head["status"], "202", "{message}");
            }
            Way::Pipe(pipe, _) => pipe.write(message),
        }
    }

    /// Leaves, as a host that is closed: a pipe ends. Over HTTP there is nothing to close but requests.
    pub(super) fn leave(self) {
        if let Way::Pipe(pipe, child) = &self.way {
            drop(pipe.input.lock().unwrap().take());
            assert_eq!(child.lock().unwrap().wait().unwrap().code(), Some(0));
        }
    }

    fn post(&self, address: &str, session: Option<&str>, body: &Value) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut headers = String::new();
        let mut header = |name: &str, value: &str| headers.push_str(&format!("{name}: {value}\r\n"));
        session.into_iter().for_each(|session| header("Mcp-Session-Id", session));
        self.token.iter().for_each(|token| header("Authorization", &format!("Bearer {token}")));
        if self.era == Era::Newer {
            header("MCP-Protocol-Version", MODERN);
            header("Mcp-Method", body["method"].as_str().unwrap_or_default());
            body["params"]["name"].as_str().into_iter().for_each(|name| header("Mcp-Name", name));
        }
        let body = body.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Reads an answer, be it one document or a stream, and answers questions in it.
    #[track_caller]
    fn take(&self, stream: &mut BufReader<TcpStream>, request: &Value) -> Reply {
        let head = read_head(stream);
        if head.get("content-type").is_none_or(|kind| !kind.starts_with("text/event-stream")) {
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            return Reply { text, heard: Vec::new() };
        }
        let (mut heard, mut lines) = (Vec::new(), Chunks { stream, rest: Vec::new() });
        while let Some(line) = lines.next() {
            let Some(text) = line.strip_prefix("data: ") else { continue };
            let message: Value = serde_json::from_str(text).unwrap();
            if message.get("method").is_none() {
                assert_eq!(message["id"], request["id"], "somebody else's answer: {message}");
                return Reply { text: text.to_owned(), heard };
            }
            heard.push(message.clone());
            if message.get("id").is_some() {
                self.asked.lock().unwrap().push(message.clone());
                if let Some(answer) = answer_to(&self.name, &message) {
                    self.give(&answer);
                }
            }
        }
        panic!("the stream ended before its answer to {request}: {heard:?}");
    }
}

/// A request that was sent.
pub(super) enum Begun {
    Http(BufReader<TcpStream>),
    Pipe(Receiver<String>),
}

/// The answer of a client to a question; none where it is told to keep silent.
fn answer_to(name: &str, question: &Value) -> Option<Value> {
    let result = answer(name, question);
    let is_silent = question.to_string().contains("keep-silent");
    (!is_silent).then(|| json!({"jsonrpc": "2.0", "id": question["id"], "result": result}))
}

/// What a client answers: its name, and the token it was asked with.
fn answer(name: &str, question: &Value) -> Value {
    let token = token(question);
    match question["method"].as_str().unwrap_or_default() {
        "elicitation/create" => json!({"action": "accept", "content": {"name": format!("{name}:{token}")}}),
        "sampling/createMessage" => {
            let content = json!({"type": "text", "text": format!("{name}:{token}")});
            json!({"role": "assistant", "model": "m", "content": content})
        }
        _ => json!({"roots": [{"uri": "file:///work", "name": format!("{name}:{token}")}]}),
    }
}

/// The token in a question.
pub(super) fn token(question: &Value) -> String {
    let params = &question["params"];
    let all = [&params["message"], &params["messages"][0]["content"]["text"], &params["_meta"]["token"]];
    all.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
}

/// Status and headers, by their names in lower case.
fn read_head(stream: &mut BufReader<TcpStream>) -> HashMap<String, String> {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status: {line:?}")).to_owned();
    let mut head = HashMap::from([("status".to_owned(), status)]);
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.split_once(':') else { return head };
        head.insert(name.to_lowercase(), value.trim().to_owned());
    }
}

/// The lines of a chunked body, as they come.
struct Chunks<'a> {
    stream: &'a mut BufReader<TcpStream>,
    rest: Vec<u8>,
}

impl Chunks<'_> {
    fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Some(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
            let mut size = String::new();
            self.stream.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok().filter(|size| 0 < *size)?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).ok()?;
            self.rest.extend_from_slice(&chunk[..size]);
        }
    }
}

/// A process that is spoken to by lines.
struct Pipe {
    name: String,
    input: Mutex<Option<ChildStdin>>,
    waiting: Mutex<HashMap<String, Sender<String>>>,
    heard: Mutex<Vec<Value>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Pipe {
    fn write(&self, message: &Value) {
        let mut input = self.input.lock().unwrap();
        let Some(input) = input.as_mut() else { return };
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn begin(&self, request: &Value) -> Receiver<String> {
        let (sender, answer) = channel();
        self.waiting.lock().unwrap().insert(request["id"].to_string(), sender);
        self.write(request);
        answer
    }

    fn read(&self, output: impl BufRead) {
        for line in output.lines().map_while(Result::ok) {
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("method").is_none() {
                let waiting = self.waiting.lock().unwrap().remove(&message["id"].to_string());
                let _ = waiting.map(|waiting| waiting.send(line));
                continue;
            }
            self.heard.lock().unwrap().push(message.clone());
            if message.get("id").is_some() {
                self.asked.lock().unwrap().push(message.clone());
                answer_to(&self.name, &message).iter().for_each(|answer| self.write(answer));
            }
        }
    }
}
