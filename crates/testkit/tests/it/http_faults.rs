//! Each fault of HTTP does what its label says, and the server can still be used beside it.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Http;

use crate::http_peer::HttpPeer;
use crate::peer::{Speech, text};

const MIB: usize = 1024 * 1024;

/// Started with a fault and a diary, past the handshake.
struct Faulty {
    peer: HttpPeer,
    folder: TempDir,
}

impl Faulty {
    fn new(fault: &str) -> Self {
        Self::with(fault, &[])
    }

    fn with(fault: &str, args: &[&str]) -> Self {
        let mut faulty = Self::silent(fault, args);
        faulty.peer.initialize();
        faulty
    }

    /// Before the handshake.
    fn silent(fault: &str, args: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let events = folder.path().join("events").display().to_string();
        let peer = HttpPeer::start(&[&["--fault", fault, "--events", &events], args].concat());
        Self { peer, folder }
    }

    fn noted(&self, words: &str) -> usize {
        let text = std::fs::read_to_string(self.folder.path().join("events")).unwrap();
        text.lines().filter(|line| line.starts_with(words)).count()
    }
}

fn echo() -> Value {
    json!({ "message": "x" })
}

#[test]
fn h01_drips_heads_and_bodies() {
    let mut faulty = Faulty::new("h01:1");
    let before = testkit::Since::now();
    assert_eq!(faulty.peer.text("echo", echo()), "x");
    before.at_least(Duration::from_millis(150));
    faulty.peer.is_usable();
}

#[test]
fn h02_drips_for_ever() {
    let mut faulty = Faulty::new("h02:1");
    let mut call = faulty.peer.call("echo", echo());
    for _ in 0..50 {
        let event = call.event().unwrap().unwrap();
        assert!(event.data.is_none_or(|data| data.is_empty()));
    }
    drop(call);
    faulty.peer.is_usable();
}

#[test]
fn h03_and_h08_answer_hugely() {
    for (fault, events) in [("h03:8", false), ("h08:8", true)] {
        let mut faulty = Faulty::new(fault);
        let call = faulty.peer.call("echo", echo());
        assert_eq!(call.is_events(), events, "{fault}");
        assert_eq!(text(&call.answer().unwrap()).len(), 8 * MIB, "{fault}");
        faulty.peer.is_usable();
    }
}

#[test]
fn h03_and_h08_never_end() {
    for fault in ["h03:endless", "h08:endless"] {
        let mut faulty = Faulty::new(fault);
        let call = faulty.peer.call("echo", echo());
        let mut most = std::io::Read::take(call.into_body(), 16 * MIB as u64);
        assert_eq!(std::io::copy(&mut most, &mut std::io::sink()).unwrap(), 16 * MIB as u64, "{fault}");
        drop(most);
        faulty.peer.is_usable();
        let held = testkit::proc::vm_hwm_kb(faulty.peer.server.pid()).unwrap();
        assert!(held < 64 * 1024, "{fault}: {held} KiB in the fake itself");
    }
}

#[test]
fn h04_the_stream_ends_before_the_answer() {
    for fault in ["h04", "h04:rst"] {
        let mut faulty = Faulty::new(fault);
        let mut call = faulty.peer.call("count", json!({ "token": "t" }));
        let id = call.event().unwrap().unwrap().id;
        assert!(call.event().is_err(), "{fault}");
        assert_eq!(text(&faulty.peer.listen(id.as_deref()).answer().unwrap()), "t", "{fault}");
        assert_eq!(faulty.noted("exec t"), 1, "{fault}");
        faulty.peer.is_usable();
    }
    let mut faulty = Faulty::new("h04:json");
    let call = faulty.peer.call("count", json!({ "token": "t" }));
    assert!(!call.is_events() && call.whole().is_err());
    faulty.peer.speech = Speech::Modern;
    assert!(faulty.peer.call("count", json!({ "token": "t" })).whole().is_err());
    assert_eq!(faulty.noted("exec t"), 2);
}

#[test]
fn h05_sessions_are_lost() {
    let cases = [("h05", 404), ("h05:400", 400), ("h05:401", 401), ("h05:500", 500), ("h05:503", 503)];
    for (fault, status) in cases {
        let mut faulty = Faulty::new(fault);
        for round in 1..=2 {
            assert_eq!(faulty.peer.text("count", json!({ "token": "t" })), "t", "{fault}");
            for _ in 0..2 {
                let lost = faulty.peer.call("count", json!({ "token": "t" }));
                assert_eq!(lost.status, status, "{fault}");
                let body = String::from_utf8(lost.whole().unwrap()).unwrap();
                assert!(body.to_lowercase().contains("session"), "{fault}: {body}");
            }
            assert_eq!(faulty.noted("exec t"), round, "{fault}");
            faulty.peer.initialize();
        }
        assert_eq!(faulty.noted("session-lost"), 2, "{fault}");
    }
    let mut faulty = Faulty::new("h05:3,500");
    (0..3).for_each(|_| faulty.peer.is_usable());
    assert_eq!(faulty.peer.ask("tools/list", json!({})).status, 500);
}

#[test]
fn h07_redirects() {
    let other = "http://127.0.0.1:4321/mcp";
    for (fault, status, to) in [
        ("h07", 307, other),
        ("h07:308", 308, other),
        ("h07:same,302", 302, "/moved"),
        ("h07:loop,301", 301, "/mcp"),
    ] {
        let mut faulty = Faulty::silent(fault, &["--elsewhere", other]);
        let refused = faulty.peer.ask("initialize", json!({}));
        assert_eq!((refused.status, refused.header("location")), (status, Some(to)), "{fault}");
    }
    let mut faulty = Faulty::with("h07:call", &["--elsewhere", other]);
    faulty.peer.is_usable();
    assert_eq!(faulty.peer.call("count", json!({})).status, 307);
    assert_eq!(faulty.noted("exec"), 0);
    // The place of its own serves.
    let faulty = Faulty::silent("h07:same", &[]);
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    let headers =
        [("Content-Type", "application/json"), ("Accept", "*/*")].map(|(a, b)| (a.into(), b.into()));
    let moved = faulty.peer.send("POST", "/moved", &headers, message.to_string().as_bytes()).unwrap();
    assert_eq!(moved.status, 200);
}

#[test]
fn h09_is_not_mcp() {
    let cases = [
        ("h09", "text/html; charset=utf-8", "<!DOCTYPE html>"),
        ("h09:empty", "", ""),
        ("h09:xml", "application/xml", "<?xml"),
        ("h09:text", "text/plain", "It works"),
    ];
    for (fault, kind, start) in cases {
        let mut faulty = Faulty::silent(fault, &[]);
        let answer = faulty.peer.ask("initialize", json!({}));
        assert_eq!((answer.status, answer.header("content-type").unwrap_or("")), (200, kind), "{fault}");
        let body = String::from_utf8(answer.whole().unwrap()).unwrap();
        assert!(body.starts_with(start) && body.is_empty() == start.is_empty(), "{fault}: {body}");
    }
}

#[test]
fn h10_and_h13_reset() {
    for (fault, executed) in [("h10", 1), ("h10:fin", 1), ("h13", 0), ("h13:ran", 1)] {
        for speech in [Speech::Legacy, Speech::Modern] {
            let mut faulty = Faulty::new(fault);
            faulty.peer.speech = speech;
            let error = faulty.peer.try_call("count", json!({ "token": "t" })).map(|_| ()).unwrap_err();
            let reset = error.kind() == std::io::ErrorKind::ConnectionReset;
            assert_eq!(reset, fault != "h10:fin", "{fault}: {error}");
            let ran = || faulty.noted("exec t") == executed;
            assert!(testkit::wait_until(Duration::from_secs(10), ran), "{fault}");
            faulty.peer.is_usable();
        }
    }
}

#[test]
fn h12_marks_that_are_not_allowed() {
    let mut faulty = Faulty::silent("h12", &[]);
    faulty.peer.speech = Speech::Modern;
    let names = faulty.peer.listed();
    assert_eq!(names.len(), 7);
    assert_eq!(names.last().unwrap(), "marked");
    let arguments =
        json!({ "region": "Zürich", "limit": 42, "dry": true, "place": { "zone": "b" }, "query": "q" });
    let right = [
        ("Mcp-Param-Region", "=?base64?WsO8cmljaA==?="),
        ("Mcp-Param-Limit", "42"),
        ("Mcp-Param-Dry-Run", "true"),
        ("Mcp-Param-Zone", "b"),
    ];
    let right = right.map(|(name, value)| (name.to_owned(), value.to_owned()));
    faulty.peer.headers = right.to_vec();
    assert_eq!(faulty.peer.call("marked", arguments.clone()).status, 200);
    for at in 0..right.len() {
        faulty.peer.headers = right.to_vec();
        faulty.peer.headers[at].1 = "7".into();
        let refused = faulty.peer.call("marked", arguments.clone());
        assert_eq!(refused.status, 400, "{}", right[at].0);
        assert_eq!(refused.json().unwrap()["error"]["code"], -32020);
        faulty.peer.headers.remove(at);
        assert_eq!(faulty.peer.call("marked", arguments.clone()).status, 400, "{}", right[at].0);
    }
    assert_eq!(faulty.noted("exec marked"), 1);
}

#[test]
fn h14_baits_reconnections() {
    let mut faulty = Faulty::new("h14");
    for _ in 0..3 {
        let mut stream = faulty.peer.listen(None);
        assert_eq!(stream.event().unwrap().unwrap().retry.as_deref(), Some("0"));
        assert_eq!(stream.event().unwrap(), None);
    }
    assert_eq!(faulty.noted("http GET"), 3);
    faulty.peer.is_usable();
    let mut faulty = Faulty::new("h14:post");
    let mut call = faulty.peer.call("count", json!({ "token": "t" }));
    let first = call.event().unwrap().unwrap();
    assert_eq!(call.event().unwrap(), None);
    assert_eq!(text(&faulty.peer.listen(first.id.as_deref()).answer().unwrap()), "t");
}

#[test]
fn h15_lies_about_lengths() {
    for fault in ["h15", "h15:long", "h15:chunk", "h15:junk", "h15:sse"] {
        let mut faulty = Faulty::new(fault);
        let call = faulty.peer.call("echo", echo());
        let whole = if fault == "h15:sse" { call.whole() } else { call.json().map(|_| Vec::new()) };
        assert!(whole.is_err(), "{fault}");
        faulty.peer.is_usable();
    }
    let mut faulty = Faulty::new("h15:short");
    assert!(faulty.peer.call("echo", echo()).json().is_err());
    let mut faulty = Faulty::new("h15:twice");
    let call = faulty.peer.call("echo", echo());
    assert_eq!(call.headers.iter().filter(|(name, _)| name == "content-length").count(), 2);
    let mut faulty = Faulty::new("h15:negative");
    assert_eq!(faulty.peer.call("echo", echo()).header("content-length"), Some("-1"));
}

#[test]
fn h16_each_credential_has_its_list() {
    for (fault, scope) in [("h16", "private"), ("h16:public", "public")] {
        let mut faulty = Faulty::new(fault);
        assert_eq!(faulty.peer.listed(), ["private_nobody"]);
        faulty.peer.speech = Speech::Modern;
        for user in ["alice", "bob"] {
            faulty.peer.headers = vec![("Authorization".into(), format!("Bearer {user}"))];
            let own = format!("private_{user}");
            assert_eq!(faulty.peer.listed(), [&*own]);
            let list = faulty.peer.ask("tools/list", json!({})).answer().unwrap();
            assert_eq!(list["result"]["cacheScope"], scope);
            assert_eq!(faulty.peer.text(&own, json!({})), own);
        }
        let other = faulty.peer.call("private_alice", json!({})).answer().unwrap();
        assert_eq!(other["error"]["code"], -32602);
    }
}

#[test]
fn h17_challenges() {
    for (fault, status, challenge) in [
        ("h17", 401, Some("invalid_token")),
        ("h17:bare", 401, None),
        ("h17:forbidden", 403, None),
        ("h17:scope", 403, Some("tools:call")),
    ] {
        let mut faulty = Faulty::silent(fault, &[]);
        let refused = faulty.peer.ask("initialize", json!({}));
        assert_eq!(refused.status, status, "{fault}");
        match challenge {
            Some(part) => assert!(refused.header("www-authenticate").unwrap().contains(part), "{fault}"),
            None => assert_eq!(refused.header("www-authenticate"), None),
        }
    }
    let mut faulty = Faulty::new("h17:call");
    assert_eq!(faulty.peer.call("echo", echo()).status, 401);
    faulty.peer.is_usable();
}

#[test]
fn h18_compresses_unasked() {
    let mut faulty = Faulty::new("h18");
    let call = faulty.peer.call("big", json!({ "bytes": 100_000 }));
    assert_eq!(call.header("content-encoding"), Some("gzip"));
    let packed = call.whole().unwrap();
    assert!(packed.starts_with(&[0x1f, 0x8b, 8]) && 100_000 < packed.len());
    faulty.peer.is_usable();
}

#[test]
fn h19_is_busy_for_a_while() {
    let mut faulty = Faulty::silent("h19", &[]);
    for _ in 0..2 {
        let refused = faulty.peer.ask("initialize", json!({}));
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    }
    faulty.peer.initialize();
    let mut faulty = Faulty::new("h19:1,429,date,call");
    let refused = faulty.peer.call("echo", echo());
    assert_eq!((refused.status, refused.header("retry-after").unwrap().ends_with("GMT")), (429, true));
    assert_eq!(faulty.peer.text("echo", echo()), "x");
    let mut faulty = Faulty::new("h19:1,junk,list");
    let refused = faulty.peer.ask("tools/list", json!({}));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("soon")));
    assert_eq!(faulty.peer.ask("tools/list", json!({})).status, 200);
}

#[test]
fn h20_spoils_the_first_probe() {
    for fault in ["h20:500", "h20:503,error", "h20", "h20:fin", "h20:half"] {
        let mut faulty = Faulty::silent(fault, &["--era", "both"]);
        faulty.peer.speech = Speech::Modern;
        let first = faulty.peer.try_ask("server/discover", json!({}));
        let spoilt = first.map_or(true, |first| 500 <= first.status || first.whole().is_err());
        assert!(spoilt, "{fault}");
        let second = faulty.peer.ask("server/discover", json!({})).answer().unwrap();
        assert_eq!(second["result"]["supportedVersions"], json!(["2026-07-28"]), "{fault}");
    }
}

#[test]
fn faults_of_the_wire_have_their_form_over_http() {
    let mut noise = Faulty::with("s01", &["--answer", "sse"]);
    let mut call = noise.peer.call("echo", echo());
    let mut others = 0;
    let answer = loop {
        let event = call.event().unwrap().unwrap();
        let own = event.name.as_deref() == Some("noise");
        match event.data.filter(|data| data.starts_with("{\"jsonrpc\"")) {
            Some(data) => break serde_json::from_str::<Value>(&data).unwrap(),
            None => others += usize::from(own),
        }
    };
    assert!(text(&answer) == "x" && 0 < others, "{others}");
    let mut mute = Faulty::silent("s05", &[]);
    let params = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    let mut stream = std::net::TcpStream::connect(mute.peer.server.address()).unwrap();
    let head = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: ";
    let body = params.to_string();
    std::io::Write::write_all(&mut stream, format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(std::io::Read::read(&mut stream, &mut [0]).is_err(), "it says something");
    assert!(!mute.peer.server.has_ended());
    let mut twice = Faulty::with("s14", &["--answer", "sse"]);
    let mut call = twice.peer.call("echo", echo());
    assert_eq!(call.message(), call.message());
    for (fault, form) in
        [("s02:8", "sse"), ("s02:8", "json"), ("s03:8", "sse"), ("s19", "json"), ("s28:1", "json")]
    {
        let mut faulty = Faulty::with(fault, &["--answer", form]);
        let body = faulty.peer.call("echo", echo()).whole().unwrap();
        assert!(100 < body.len(), "{fault}");
        faulty.peer.is_usable();
    }
    let mut again = Faulty::new("s27:form");
    let mut call = again.peer.call("echo", echo());
    for round in 0..3 {
        let question = call.message();
        assert_eq!(question["id"], format!("again-{round}"));
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
        assert_eq!(again.peer.post(&answer, &[]).status, 202);
    }
    let mut flood = Faulty::new("s24:2000");
    let (before, answer) = flood.peer.call("echo", echo()).messages().unwrap();
    assert_eq!((before.len(), text(&answer).as_str()), (2000, "x"));
}

#[test]
fn faults_belong_to_their_wire() {
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(testkit::bin("fake-mcp"));
        let output = command.args(args).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    assert_eq!(run(&["--fault", "h05"]).0, Some(2));
    assert_eq!(run(&["--http", "0", "--fault", "s10"]).0, Some(2));
    let stdio = run(&["--list-faults"]).1;
    let http = run(&["--list-http-faults"]).1;
    assert!(!stdio.contains("\nh") && stdio.contains("\ns10 "));
    for label in 1..=19 {
        // h06 is about OAuth, which this server knows nothing of.
        assert_eq!(http.contains(&format!("h{label:02}  [")), label != 6, "h{label:02}");
    }
    let _ = Http::start(&["--fault", "c06"]);
}
