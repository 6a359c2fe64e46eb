//! `kitbag serve` for whoever runs it: what it writes down, what it never writes down or hands on, and who comes in.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Farm, Hosted, wait_until};

use crate::house::Runs as _;

const LONG: Duration = Duration::from_secs(30);

/// A served farm whose log is read.
struct Served<'f> {
    farm: &'f Farm,
    child: Child,
    address: String,
    log: Option<JoinHandle<String>>,
    /// Whether its servers are not its own and live on.
    is_hosted: bool,
}

impl<'f> Served<'f> {
    #[track_caller]
    fn start(farm: &'f Farm, args: &[&str], level: &str) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        let mut command = farm.house.ask(&all).env("KITBAG_LOG", level).command();
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = child.stderr.take().unwrap();
        let log = std::thread::spawn(move || {
            let mut text = String::new();
            err.read_to_string(&mut text).unwrap();
            text
        });
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let address = url.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
        Self { farm, child, address, log: Some(log), is_hosted: false }
    }

    /// Sends a request and reads the whole answer.
    #[track_caller]
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let host =
            if headers.contains("Host:") { String::new() } else { format!("Host: {}\r\n", self.address) };
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\n{host}Connection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Calls a tool as a client of the newer era does.
    #[track_caller]
    fn call(&self, headers: &str, tool: &str, arguments: &Value) -> String {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let headers = format!(
            "{headers}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        );
        self.send("POST", "/mcp", &headers, &body.to_string())
    }

    /// Ends it as a service manager does; what it wrote on stderr.
    #[track_caller]
    fn stop(mut self) -> String {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        if !self.is_hosted {
            self.farm.is_empty();
        }
        self.log.take().unwrap().join().unwrap()
    }
}

impl Drop for Served<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

fn body(answer: &str) -> Value {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1)
        .unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[track_caller]
fn token(farm: &Farm, args: &[&str]) -> String {
    farm.house.run(&[&["tokens", "add"], args].concat()).exits(0).out.trim().to_owned()
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

#[test]
fn t31_each_call_is_a_line_with_the_id_that_its_caller_is_told_and_nothing_secret() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n");
    let ada = token(&farm, &["t", "--user", "ada"]);
    let served = Served::start(&farm, &["--log-format", "json"], "");
    let planted =
        ["ghp_PlantedPlantedPlantedPlanted0001", "PLANTED-in-arguments-2", "kb_PLANTED-wrong-token-3"];
    let secrets = json!({"message": planted[1], "api_key": planted[0]});
    assert_eq!(status(&served.call(&bearer(&ada), "x_echo", &secrets)), "200");
    let failed = body(&served.call(&bearer(&ada), "x_sleep", &json!({"ms": planted[1]})));
    let unknown = body(&served.call(&bearer(&ada), planted[0], &json!({})));
    assert_eq!(status(&served.call(&bearer(planted[2]), "x_echo", &json!({}))), "401");
    let log = served.stop();
    for secret in planted.iter().copied().chain([ada.as_str()]) {
        assert!(!log.contains(&secret[3..]), "{secret} in {log}");
    }
    let lines: Vec<Value> = log
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["target"] == "kitbag::call")
        .collect();
    assert_eq!(lines.len(), 3, "{log}");
    let told = |line: &Value| {
        ["user", "server", "tool", "outcome"].map(|key| line[key].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(told(&lines[0]), ["ada", "x", "echo", "ok"]);
    assert!(lines[0]["took_ms"].is_u64() && lines[0]["result_bytes"].as_u64() > Some(0), "{}", lines[0]);
    assert_eq!(told(&lines[1]), ["ada", "x", "sleep", "invalid_arguments"]);
    assert_eq!(told(&lines[2]), ["ada", "", "", "not_found"]);
    assert_eq!(failed["result"]["_meta"]["kitbag/call"], lines[1]["call"]);
    assert_eq!(unknown["error"]["data"]["kitbag/call"], lines[2]["call"]);
    let rows = farm.house.run(&["audit", "--json"]).exits(0).json();
    let ids: Vec<&Value> = rows.as_array().unwrap().iter().rev().map(|row| &row["call"]).collect();
    assert_eq!(ids, lines.iter().map(|line| &line["call"]).collect::<Vec<_>>());
    assert!(log.contains(r#""reason":"wrong_token""#) && log.contains(r#""address":"127.0.0.1""#), "{log}");
}

#[test]
fn the_log_is_as_much_as_it_is_asked_for() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[], "warn");
    assert_eq!(status(&served.call("", "x_echo", &json!({"message": "hi"}))), "200");
    assert!(!served.stop().contains("outcome"), "calls are told at info");
    let served = Served::start(&farm, &[], "");
    assert_eq!(status(&served.call("", "x_echo", &json!({"message": "hi"}))), "200");
    let log = served.stop();
    let line =
        log.lines().find(|line| line.contains(" info call ")).unwrap_or_else(|| panic!("no line: {log}"));
    assert!(line.contains(" user=local server=x tool=echo outcome=ok took_ms="), "{line}");
    let loud = farm.house.ask(&["serve", "--listen", "127.0.0.1:0"]).env("KITBAG_LOG", "loud").run();
    loud.fails(2, "KITBAG_LOG");
}

#[test]
fn t35_no_token_of_a_caller_reaches_a_server() {
    let hosted = Hosted::of("x", &[]);
    let farm = &hosted.farm;
    farm.settings("[users.ada]\n");
    let ada = token(farm, &["t", "--user", "ada"]);
    let mut served = Served::start(farm, &["--require-token"], "");
    served.is_hosted = true;
    let headers = format!("{}Cookie: session=PLANTED-cookie\r\nX-Api-Key: PLANTED-key\r\n", bearer(&ada));
    let answer = served.call(&headers, "x_echo", &json!({"message": "hi"}));
    assert_eq!(body(&answer)["result"]["content"][0]["text"], "hi", "{answer}");
    let requests = farm.events("x", "http");
    assert!(requests.len() > 1, "{requests:?}");
    let diary = std::fs::read_to_string(farm.diary("x")).unwrap();
    for word in [&ada[3..], "authorization", "PLANTED"] {
        assert!(!diary.contains(word), "{word} came upstream: {diary}");
    }
    served.stop();
}

#[test]
fn t39_names_of_a_proxy_are_let_in_by_the_settings() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[serve]\nallowed_hosts = [\"tools.example\"]\nallowed_origins = [\"https://chat.example\"]\n",
    );
    let served = Served::start(&farm, &[], "");
    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let ask = |headers: &str| status(&served.send("POST", "/mcp", headers, &begin.to_string())).to_owned();
    assert_eq!(ask("Host: tools.example\r\n"), "200");
    assert_eq!(ask("Host: tools.example\r\nOrigin: https://chat.example\r\n"), "200");
    assert_eq!(ask("Host: other.example\r\n"), "403");
    assert_eq!(ask("Host: tools.example\r\nOrigin: https://other.example\r\n"), "403");
    served.stop();
}

#[test]
fn t39_an_address_for_others_is_not_served_before_somebody_has_a_token() {
    let farm = Farm::of("x", &[]);
    farm.house.run(&["serve", "--listen", "0.0.0.0:0"]).fails(3, "kitbag tokens add");
    token(&farm, &["old", "--expires", "1ms"]);
    assert!(wait_until(LONG, || farm.house.run(&["tokens"]).exits(0).out.contains("expired")));
    farm.house.run(&["serve", "--listen", "0.0.0.0:0"]).fails(3, "kitbag tokens add");
}

#[test]
fn t40_tokens_run_out_and_say_when_they_were_used() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[limits]\nserve_tokens = \"50ms\"\n");
    let (short, ada) = (token(&farm, &["short", "--expires", "1ms"]), token(&farm, &["t", "--user", "ada"]));
    let list = || farm.house.run(&["tokens", "--json"]).exits(0).json();
    assert_eq!(list()[0]["user"], "ada", "everybody's");
    assert_eq!(list()[0]["last_used"], Value::Null);
    assert!(list()[1]["expires"].is_string());
    assert_eq!(farm.house.run(&["tokens", "--json", "--user", "ada"]).json().as_array().unwrap().len(), 1);
    assert!(wait_until(LONG, || farm.house.run(&["tokens"]).exits(0).out.contains("expired")));
    let served = Served::start(&farm, &["--require-token"], "");
    let refused = served.call(&bearer(&short), "x_echo", &json!({"message": "hi"}));
    assert_eq!(status(&refused), "401");
    assert!(refused.contains("has expired"), "{refused}");
    assert_eq!(status(&served.call(&bearer(&ada), "x_echo", &json!({"message": "hi"}))), "200");
    assert!(wait_until(LONG, || list()[0]["last_used"].is_string()), "{}", list());
    farm.house.run(&["tokens", "revoke", "t", "--user", "ada"]).exits(0);
    assert_eq!(status(&served.call(&bearer(&ada), "x_echo", &json!({"message": "hi"}))), "401");
    served.stop();
}
