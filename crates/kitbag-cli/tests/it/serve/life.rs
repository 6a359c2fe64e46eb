//! How the endpoint begins, changes and ends: servers that join, files that change, signals, and a second run at the same
//! address.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use super::streams::{Started, Stream, modern, modern_headers, of_session};
use super::{LONG, Served, initialize, post, request, status};
use crate::house::Runs as _;

const CHANGED: &str = "notifications/tools/list_changed";

fn list(served: &Served<'_>, session: &str) -> String {
    served.post(&of_session(session), &request(8, "tools/list", &json!({})))
}

#[track_caller]
fn lists(served: &Served<'_>, session: &str, tool: &str) {
    assert!(wait_until(LONG, || list(served, session).contains(tool)), "{tool}");
}

/// Begins a call and does not wait for it.
#[track_caller]
fn begin(served: &Served<'_>, session: &str, tool: &str, arguments: Value) -> TcpStream {
    let body = request(2, "tools/call", &json!({"name": tool, "arguments": arguments}));
    let mut stream = TcpStream::connect(served.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(post(served.address(), &of_session(session), &body.to_string()).as_bytes()).unwrap();
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn terminate(child: &std::process::Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

#[test]
fn servers_join_while_it_listens() {
    let farm = Farm::of("x", &[]);
    farm.add("late", &["--start-delay", "1500"]);
    farm.settings("[wait]\nagent = \"10ms\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    let mut stream = Stream::of(&served, &session);
    assert!(!list(&served, &session).contains("late_echo"), "nobody waits for it");
    while !list(&served, &session).contains("late_echo") {
        assert_eq!(stream.next().unwrap()["method"], CHANGED);
    }
    served.stop();
}

#[test]
fn s1_11_files_that_change_are_followed_and_other_servers_run_on() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nwatch = \"20ms\"\n");
    let served = Served::start(&farm, &[]);
    let mut host = Started::start(&farm);
    host.greet("x_echo");
    let session = served.session("");
    lists(&served, &session, "x_echo");
    let mut stream = Stream::of(&served, &session);
    farm.add("y", &[]);
    assert_eq!(stream.next().unwrap()["method"], CHANGED);
    lists(&served, &session, "y_echo");
    host.until(|message| message["method"] == CHANGED);
    host.greet("y_echo");
    farm.settings("[limits]\nwatch = \"20ms\"\n[servers.y]\nexclude = [\"echo\"]\n");
    assert!(wait_until(LONG, || !list(&served, &session).contains("y_echo")), "{}", list(&served, &session));
    assert_eq!(stream.next().unwrap()["method"], CHANGED);
    host.until(|message| message["method"] == CHANGED);
    assert_eq!(
        farm.count("x", "start"),
        2,
        "one for each endpoint, and no other: {:?}",
        farm.events("x", "start")
    );
    assert_eq!(farm.count("y", "start"), 2);
    host.ends();
    served.stop();
}

#[test]
fn s1_11_files_of_other_users_are_followed_too() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n[limits]\nwatch = \"20ms\"\n");
    let token = farm.house.run(&["tokens", "add", "t", "--user", "ada"]).exits(0).out.trim().to_owned();
    let served = Served::start(&farm, &["--require-token"]);
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let headers = format!("{bearer}{}", of_session(&served.session(&bearer)));
    let list = || served.post(&headers, &request(8, "tools/list", &json!({})));
    assert!(wait_until(LONG, || list().contains("x_echo")));
    farm.add("y", &[]);
    assert!(wait_until(LONG, || list().contains("y_echo")), "{}", list());
    served.stop();
}

#[test]
fn a_signal_lets_calls_end_and_tells_whoever_comes_then() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\ndrain = \"60s\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    lists(&served, &session, "x_sleep");
    let call = begin(&served, &session, "x_sleep", json!({"ms": 2_000}));
    let stream = Stream::of(&served, &session);
    assert!(wait_until(LONG, || farm.count("x", "call sleep") == 1));
    terminate(&served.child);
    let mut refused = String::new();
    let is_refused = wait_until(LONG, || {
        refused = served.post(&of_session(&session), &request(3, "tools/list", &json!({})));
        status(&refused) == "503"
    });
    assert!(is_refused && refused.contains("\"error\"") && refused.contains("try again"), "{refused}");
    assert_eq!(stream.rest(), Vec::<Value>::new(), "streams end");
    assert!(answer(call).contains("slept 2000 ms"));
    served.has_ended();
}

#[test]
fn a_call_that_outlasts_the_end_is_cut_off_and_its_server_gone() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\ndrain = \"200ms\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    lists(&served, &session, "x_sleep");
    let call = begin(&served, &session, "x_sleep", json!({"ms": 600_000}));
    assert!(wait_until(LONG, || farm.count("x", "call sleep") == 1));
    served.stop();
    assert!(!answer(call).contains("slept"));
}

/// Proxies and clients end a connection on which nothing comes for long.
#[test]
fn a_call_that_takes_long_gives_signs_of_life() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nserve_alive = \"50ms\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    lists(&served, &session, "x_sleep");
    let older = answer(begin(&served, &session, "x_sleep", json!({"ms": 1_000})));
    let params = json!({"name": "x_sleep", "arguments": {"ms": 1_000}});
    let body = modern(&json!(2), "tools/call", params);
    let newer = served.post(&modern_headers("tools/call", Some("x_sleep")), &body);
    for answer in [older, newer] {
        assert_eq!(status(&answer), "200", "{answer}");
        assert!(answer.contains("text/event-stream"), "{answer}");
        let (before, last) = answer.split_once("data: ").unwrap();
        assert!(2 < before.matches("\n:\n").count(), "{answer}");
        assert!(last.contains("slept 1000 ms"), "{answer}");
    }
    // What is answered at once is one message.
    let quick = served.post(&of_session(&session), &request(3, "ping", &json!({})));
    assert!(quick.contains("application/json"), "{quick}");
    served.stop();
}

/// What became of each call of a client that goes on whatever happens.
fn goes_on(address: &str, is_over: &AtomicBool) -> HashMap<String, String> {
    let mut outcomes = HashMap::new();
    for number in 0.. {
        if is_over.load(Ordering::Acquire) {
            break;
        }
        let token = format!("t{number}");
        let params = json!({"name": "x_count", "arguments": {"token": token}});
        let body = modern(&number.into(), "tools/call", params).to_string();
        let text = post(address, &modern_headers("tools/call", Some("x_count")), &body);
        let outcome = TcpStream::connect(address).and_then(|mut stream| {
            stream.set_read_timeout(Some(LONG))?;
            stream.write_all(text.as_bytes())?;
            std::io::read_to_string(stream)
        });
        outcomes.insert(token, outcome.unwrap_or_default());
    }
    outcomes
}

#[test]
fn after_a_restart_clients_go_on_and_no_call_ran_twice_or_half() {
    let farm = Farm::of("x", &[]);
    let first = Served::start(&farm, &[]);
    let session = first.session("");
    lists(&first, &session, "x_count");
    let (address, is_over) = (first.address().to_owned(), AtomicBool::new(false));
    let outcomes = std::thread::scope(|scope| {
        let client = scope.spawn(|| goes_on(&address, &is_over));
        let runs = |least: usize| assert!(wait_until(LONG, || least < farm.count("x", "exec")));
        runs(20);
        first.stop();
        let done = farm.count("x", "exec");
        let second = Served::start_at(&farm, &["--listen", &address], None);
        runs(done + 20);
        is_over.store(true, Ordering::Release);
        let outcomes = client.join().unwrap();
        // Of the older era: the session is over, and a new one begins.
        assert_eq!(status(&list(&second, &session)), "404");
        let again = second.session("");
        lists(&second, &again, "x_count");
        second.stop();
        outcomes
    });
    let mut runs: HashMap<String, usize> = HashMap::new();
    for event in farm.events("x", "exec") {
        *runs.entry(event.split(' ').nth(1).unwrap().to_owned()).or_default() += 1;
    }
    for (token, outcome) in &outcomes {
        let is_done = outcome.contains("\"isError\":false") || outcome.contains("\"content\":[{");
        let expected = usize::from(is_done && !outcome.contains("\"isError\":true"));
        assert_eq!(runs.get(token).copied().unwrap_or(0), expected, "{token}: {outcome}");
    }
    assert!(
        outcomes.values().any(|outcome| outcome.is_empty() || status(outcome) == "503"),
        "there was a gap"
    );
}

#[test]
fn a_signal_lets_the_calls_of_a_host_end() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\ndrain = \"60s\"\n");
    let mut host = Started::start(&farm);
    host.greet("x_sleep");
    host.say(&request(2, "tools/call", &json!({"name": "x_sleep", "arguments": {"ms": 1_000}})));
    assert!(wait_until(LONG, || farm.count("x", "call sleep") == 1));
    terminate(&host.child);
    assert!(host.until(|message| message["id"] == 2).to_string().contains("slept 1000 ms"));
    assert_eq!(host.next(), None);
    assert_eq!(host.child.wait().unwrap().code(), Some(0));
    farm.is_empty();
}

/// Kitbag cannot know whether a host that says nothing more still reads.
#[test]
fn a_host_that_ends_its_input_ends_its_calls() {
    let farm = Farm::of("x", &[]);
    let mut host = Started::start(&farm);
    host.greet("x_sleep");
    host.say(&request(2, "tools/call", &json!({"name": "x_sleep", "arguments": {"ms": 600_000}})));
    assert!(wait_until(LONG, || farm.count("x", "call sleep") == 1));
    host.ends();
    farm.is_empty();
}

#[test]
fn a_host_that_writes_and_never_reads_can_still_cancel() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nqueue = 8\n[servers.x]\nconcurrency = 4\n");
    let mut host = Started::start(&farm);
    host.greet("x_sleep");
    host.say(&request(2, "tools/call", &json!({"name": "x_sleep", "arguments": {"ms": 600_000}})));
    assert!(wait_until(LONG, || farm.count("x", "call sleep") == 1));
    // More than fits into the pipe, the queue and what is being written.
    for id in 1_000..1_400 {
        host.say(
            &json!({"jsonrpc": "2.0", "id": format!("{id}{}", "x".repeat(1_000)), "method": "no/method"}),
        );
        host.say(&json!("no message"));
    }
    host.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
    assert!(wait_until(LONG, || farm.count("x", "cancelled") == 1));
    // All of it is answered once it is read.
    let mut refused = 0;
    while refused < 800 {
        let message = host.next().unwrap();
        refused += usize::from(message["error"]["code"] == -32601 || message["error"]["code"] == -32700);
    }
    host.ends();
    farm.is_empty();
}

#[test]
fn a_host_that_never_reads_is_not_read_on_for_ever() {
    let farm = Farm::new();
    farm.settings("[limits]\nqueue = 8\nserve_backlog = \"2MiB\"\n");
    let mut host = Started::start(&farm);
    let mut input = host.input.take().unwrap();
    let written = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = written.clone();
    let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": "x".repeat(10_000), "method": "ping"}));
    let writer = std::thread::spawn(move || {
        while input.write_all(line.as_bytes()).is_ok() {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    // It stands still: nothing more is taken over many looks.
    let mut last = (0, 0);
    let stands = wait_until(LONG, || {
        let now = written.load(Ordering::Relaxed);
        last = if now == last.0 { (now, last.1 + 1) } else { (now, 0) };
        now != 0 && 200 < last.1
    });
    assert!(stands, "it reads on: {last:?}");
    assert!(last.0 < 1_000, "10 kB each: {last:?}");
    host.child.kill().unwrap();
    writer.join().unwrap();
}

impl<'f> Served<'f> {
    /// It was told to, and nothing is left.
    #[track_caller]
    fn has_ended(mut self) {
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        self.farm.is_empty();
    }
}

#[test]
fn what_is_not_said_in_either_era_is_refused_with_a_reason() {
    let farm = Farm::new();
    let served = Served::start(&farm, &[]);
    let check = |headers: &str, expected: &str, word: &str| {
        let answer = served.post(headers, &initialize());
        assert_eq!(status(&answer), expected, "{headers}: {answer}");
        assert!(answer.contains(word), "{headers}: {answer}");
    };
    check("", "200", "protocolVersion");
    check("Accept: application/json, text/event-stream\r\n", "200", "protocolVersion");
    check("Accept: */*\r\n", "200", "protocolVersion");
    check("Accept: text/html\r\n", "406", "application/json and text/event-stream");
    check("Accept: application/json\r\n", "406", "text/event-stream");
    served.stop();
}

#[test]
fn batches_are_answered_as_the_revision_that_has_them_says() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    lists(&served, &session, "x_echo");
    let echo = |id: u64, text: &str| {
        request(id, "tools/call", &json!({"name": "x_echo", "arguments": {"message": text}}))
    };
    let note = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let ask = |headers: &str, body: Value| served.post(&format!("{}{headers}", of_session(&session)), &body);
    let all =
        ask("", json!([echo(1, "one"), note, echo(2, "two"), "none", request(3, "initialize", &json!({}))]));
    let body = all.split("\r\n\r\n").nth(1).unwrap();
    let answers: Vec<Value> = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {all}"));
    let words: Vec<String> = answers.iter().map(Value::to_string).collect();
    assert!(words[0].contains("one") && words[1].contains("two") && words[2].contains("-32600"), "{words:?}");
    assert!(words[3].contains("must not be part"), "{words:?}");
    assert_eq!(status(&ask("", json!([note]))), "202");
    assert_eq!(status(&ask("", json!([]))), "400");
    assert_eq!(status(&ask("", vec![note.clone(); 1_000].into())), "400");
    assert_eq!(status(&ask("MCP-Protocol-Version: 2025-11-25\r\n", json!([echo(1, "one")]))), "400");
    served.stop();
}
