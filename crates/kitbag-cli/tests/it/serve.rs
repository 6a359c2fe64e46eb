//! `kitbag serve` and `kitbag stdio` as a host uses them: a real process, looked at by Kitbag itself in both eras of the
//! protocol, and by clients that mean no good.

mod hosts;
mod joining;
mod screen;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use crate::house::{BINARY, Ran, Runs as _};

mod attacks;
mod follow;
mod held;
mod life;
mod offered;
mod streams;

const LONG: Duration = Duration::from_secs(30);
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"];

/// A served farm.
pub(crate) struct Served<'f> {
    farm: &'f Farm,
    child: Child,
    pub(crate) url: String,
}

impl<'f> Served<'f> {
    #[track_caller]
    pub(crate) fn start(farm: &'f Farm, args: &[&str]) -> Self {
        Self::start_to(farm, args, None)
    }

    /// The same with its stderr in a file.
    #[track_caller]
    fn start_to(farm: &'f Farm, args: &[&str], told: Option<&Path>) -> Self {
        Self::start_at(farm, &[&["--listen", "127.0.0.1:0"], args].concat(), told)
    }

    /// The same where the settings say.
    #[track_caller]
    fn start_at(farm: &'f Farm, args: &[&str], told: Option<&Path>) -> Self {
        let mut command = farm.house.ask(&[&["serve"], args].concat()).command();
        if let Some(told) = told {
            command.stderr(std::fs::File::create(told).unwrap());
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.ends_with("/mcp\n"), "no address: {url:?}");
        Self { farm, child, url: url.trim().to_owned() }
    }

    /// Kitbag as a client, which has no configuration of its own.
    #[track_caller]
    fn asked(&self, revision: &str, args: &[&str]) -> Ran {
        let house = testkit::House::new();
        house.run(&[args, &["--server", &self.url, "--protocol", revision, "--json"]].concat())
    }

    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp")
    }

    /// Sends a request as it is written and reads the whole answer.
    #[track_caller]
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    #[track_caller]
    fn post(&self, headers: &str, body: &Value) -> String {
        self.raw(&post(self.address(), headers, &body.to_string()))
    }

    /// A session of the older era: its id.
    #[track_caller]
    fn session(&self, headers: &str) -> String {
        let answer = self.post(headers, &initialize());
        let line = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.unwrap_or_else(|| panic!("no session: {answer}")).trim().to_owned()
    }

    /// Ends it as a service manager does; nothing is left.
    #[track_caller]
    pub(crate) fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{status}");
        self.farm.is_empty();
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn post(host: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n{headers}\r\n{body}"
    )
}

fn initialize() -> Value {
    request(1, "initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}}))
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

#[test]
fn one_address_serves_every_tool_in_both_eras() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &["--era", "modern"]);
    let served = Served::start(&farm, &[]);
    for revision in REVISIONS {
        let tools = served.asked(revision, &["tools"]).exits(0).json();
        let names: Vec<&str> =
            tools.as_array().unwrap().iter().filter_map(|tool| tool["tool"].as_str()).collect();
        assert!(names.contains(&"x_echo") && names.contains(&"y_echo"), "{revision}: {names:?}");
        for server in ["x", "y"] {
            let tool = format!("{server}_echo");
            let done = served.asked(revision, &["call", &tool, "message=hello"]).exits(0).json();
            assert_eq!(done["content"][0]["text"], "hello", "{revision} {tool}");
            let tool = format!("{server}_progress");
            let done = served.asked(revision, &["call", &tool, "n=3", "ms=1"]).exits(0).json();
            assert_eq!(done["is_error"], false, "{revision} {tool}");
        }
        // A result of the other era carries nothing that this one does not know.
        let wrong = served.asked(revision, &["call", "x_sleep", "{\"ms\": \"soon\"}"]);
        assert_ne!(wrong.code, Some(0), "{revision}: {wrong:?}");
    }
    served.stop();
}

#[test]
fn names_are_as_asked_for() {
    for (form, name) in [("bare", "echo"), ("short", "x_echo"), ("full", "mcp_x_echo")] {
        let farm = Farm::of("x", &[]);
        let served = Served::start(&farm, &["--names", form]);
        let tools = served.asked("2025-11-25", &["tools"]).exits(0).json();
        assert!(tools.as_array().unwrap().iter().any(|tool| tool["tool"] == name), "{form}: {tools}");
        served.stop();
    }
}

#[test]
fn a_host_starts_kitbag_as_its_one_server() {
    let farm = Farm::of("x", &[]);
    let stdio = format!("{BINARY} stdio --config {}", farm.house.at("kit/config/mcp.json"));
    for revision in REVISIONS {
        let args = ["call", "x_echo", "message=hi", "--server", &stdio, "--protocol", revision, "--json"];
        let done = farm.house.run(&args).exits(0).json();
        assert_eq!(done["content"][0]["text"], "hi", "{revision}");
    }
    farm.is_empty();
}

#[test]
fn stdio_survives_noise_and_ends_with_its_input() {
    let farm = Farm::of("x", &[]);
    let call = request(2, "tools/call", &json!({"name": "x_echo", "arguments": {"message": "hi"}}));
    let gone = request(3, "tools/call", &json!({"name": "x_ehco", "arguments": {}}));
    let mut child = farm.house.ask(&["stdio"]).command();
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answer = |line: String| {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap()
    };
    assert_eq!(answer("no JSON".to_owned())["error"]["code"], -32700);
    assert_eq!(answer(initialize().to_string())["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answer(call.to_string())["result"]["content"][0]["text"], "hi");
    let unknown = answer(gone.to_string());
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("x_echo"), "{unknown}");
    assert_eq!(answer(request(4, "no/method", &json!({})).to_string())["error"]["code"], -32601);
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    farm.is_empty();
}

#[test]
fn t39_pages_of_other_hosts_are_refused() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    for origin in
        ["http://evil.example", "https://127.0.0.1.evil.example", "null", "http://localhost.evil.example:80"]
    {
        let answer = served.post(&format!("Origin: {origin}\r\n"), &initialize());
        assert_eq!(status(&answer), "403", "{origin}: {answer}");
    }
    for host in ["evil.example", "127.0.0.1.evil.example", "169.254.169.254", ""] {
        let answer = served.raw(&post(host, "", &initialize().to_string()));
        assert_eq!(status(&answer), "403", "{host}: {answer}");
    }
    for good in ["Origin: http://localhost:3000\r\n", "Origin: http://[::1]:1\r\n", ""] {
        assert_eq!(status(&served.post(good, &initialize())), "200", "{good}");
    }
    served.stop();
}

#[test]
fn t39_t40_tokens_say_who_comes_in_and_sessions_are_their_users() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[users.ada]\n[users.bob]\n[groups.none]\ndeny = [\"*/*\"]\n[users.eve]\ngroups = [\"none\"]\n",
    );
    let token =
        |user: &str| farm.house.run(&["tokens", "add", "t", "--user", user]).exits(0).out.trim().to_owned();
    let (ada, bob, eve) = (token("ada"), token("bob"), token("eve"));
    let served = Served::start(&farm, &["--require-token"]);
    let bearer = |token: &str| format!("Authorization: Bearer {token}\r\n");
    assert_eq!(status(&served.post("", &initialize())), "401");
    assert_eq!(status(&served.post(&bearer("kb_wrong"), &initialize())), "401");
    let session = served.session(&bearer(&ada));
    let list = |token: &str, session: &str| {
        let headers = format!("{}mcp-session-id: {session}\r\n", bearer(token));
        served.post(&headers, &request(2, "tools/list", &json!({})))
    };
    assert!(list(&ada, &session).contains("x_echo"));
    assert_eq!(status(&list(&bob, &session)), "404", "another's session");
    let own = served.session(&bearer(&eve));
    assert!(!list(&eve, &own).contains("x_echo"), "what is denied is not there");
    let call = request(3, "tools/call", &json!({"name": "x_echo", "arguments": {"message": "hi"}}));
    let headers = format!("{}mcp-session-id: {own}\r\n", bearer(&eve));
    assert!(served.post(&headers, &call).contains("-32602"));
    farm.house.run(&["tokens", "revoke", "t", "--user", "ada"]).exits(0);
    assert_eq!(status(&list(&ada, &session)), "401", "a token that was revoked");
    served.stop();
}

#[test]
fn t17_large_and_slow_requests_are_cut_off() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nserve_headers = \"300ms\"\nserve_request = \"300ms\"\nserve_body = \"10KiB\"\n");
    let served = Served::start(&farm, &[]);
    let head = |length: usize| {
        format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n", served.address())
    };
    let large = format!("{}{}", head(20_000), " ".repeat(20_000));
    assert_eq!(status(&served.raw(&large)), "413");
    // Both say that more will come, and it never does.
    assert_eq!(status(&served.raw(&format!("{}{{", head(100)))), "408");
    let answer = served.raw("POST /mcp HTTP/1.1\r\nHost: lo");
    assert!(answer.is_empty() || status(&answer) == "408", "{answer}");
    assert_eq!(status(&served.post("", &initialize())), "200", "others are served");
    served.stop();
}

#[test]
fn a_client_that_leaves_cancels_its_call_and_no_other() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    let nap = |id: u64, ms: u64| {
        let body = request(id, "tools/call", &json!({"name": "x_sleep", "arguments": {"ms": ms}}));
        post(served.address(), &format!("mcp-session-id: {session}\r\n"), &body.to_string())
    };
    let (leaver, mut stayer) =
        (TcpStream::connect(served.address()).unwrap(), TcpStream::connect(served.address()).unwrap());
    (&leaver).write_all(nap(2, 60_000).as_bytes()).unwrap();
    stayer.write_all(nap(3, 2_000).as_bytes()).unwrap();
    assert!(wait_until(LONG, || farm.count("x", "call") == 2), "{:?}", farm.events("x", "call"));
    leaver.shutdown(Shutdown::Both).unwrap();
    assert!(wait_until(LONG, || farm.count("x", "cancelled") == 1));
    let mut answer = String::new();
    stayer.set_read_timeout(Some(LONG)).unwrap();
    stayer.read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), "200", "{answer}");
    served.stop();
}
