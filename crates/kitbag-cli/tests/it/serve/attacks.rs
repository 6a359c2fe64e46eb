//! Clients that mean no good: many, slow, large, deaf, or with requests that could be read in two ways. None of them hurts
//! another.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;
use testkit::{Farm, proc, wait_until};

use super::streams::{Stream, get, modern, modern_headers, of_session};
use super::{LONG, Served, initialize, post, request, status};
use crate::house::Runs as _;

/// A good client is served now.
#[track_caller]
fn serves(served: &Served<'_>) {
    let answer = served.post("", &initialize());
    assert_eq!(status(&answer), "200", "{answer}");
}

fn connect(served: &Served<'_>, text: &str) -> TcpStream {
    let stream = TcpStream::connect(served.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    (&stream).write_all(text.as_bytes()).unwrap();
    stream
}

#[test]
fn t17_300_slow_clients_hold_nothing_up() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Length: 1000\r\n", served.address());
    let slow: Vec<TcpStream> = (0..150)
        .map(|number| connect(&served, if number % 2 == 0 { &head[..40] } else { &head }))
        .chain((0..150).map(|_| connect(&served, &format!("{head}\r\n{{"))))
        .collect();
    let session = served.session("");
    let call = request(2, "tools/call", &json!({"name": "x_echo", "arguments": {"message": "hi"}}));
    assert!(wait_until(LONG, || served.post(&of_session(&session), &call).contains("\"hi\"")));
    drop(slow);
    served.stop();
}

#[test]
fn t17_slow_clients_give_their_places_back() {
    let farm = Farm::new();
    farm.settings("[limits]\nserve_connections = 8\nserve_headers = \"200ms\"\n");
    let served = Served::start(&farm, &[]);
    let _slow: Vec<TcpStream> = (0..8).map(|_| connect(&served, "POST /mcp HTTP/1.1\r\n")).collect();
    let is_served = || {
        let mut stream = connect(&served, &post(served.address(), "", &initialize().to_string()));
        let mut answer = String::new();
        stream.read_to_string(&mut answer).is_ok() && status(&answer) == "200"
    };
    assert!(wait_until(LONG, is_served));
    served.stop();
}

#[test]
fn t17_a_body_of_100_mb_is_refused_before_it_is_read() {
    let farm = Farm::new();
    let served = Served::start(&farm, &[]);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\n", served.address());
    // Nothing of it is sent, so the answer is to its head.
    let answer = served.raw(&format!("{head}Content-Length: 104857600\r\n\r\n"));
    assert_eq!(status(&answer), "413", "{answer}");
    assert!(answer.contains("serve_body"), "{answer}");
    // Of one that does not say how large it is, no more is kept than may be.
    let stream = connect(&served, &format!("{head}Transfer-Encoding: chunked\r\n\r\n"));
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    let sent = (0..100).take_while(|_| (&stream).write_all(chunk.as_bytes()).is_ok()).count();
    assert!(sent < 100, "it is read on to its end");
    let most = proc::vm_hwm_kb(served.child.id()).unwrap();
    assert!(most < 200 << 10, "{most} KiB");
    serves(&served);
    served.stop();
}

#[test]
fn t17_a_request_that_can_be_read_in_two_ways_is_refused_and_what_hides_in_it_is_not_seen() {
    let farm = Farm::new();
    let served = Served::start(&farm, &[]);
    let host = format!("Host: {}\r\n", served.address());
    let hidden = post(served.address(), "", &initialize().to_string());
    let zero = format!("0\r\n\r\n{hidden}");
    let check = |head: &str, body: &str, expected: &[&str]| {
        let answer = served.raw(&format!("{head}\r\n{body}"));
        assert!(expected.contains(&status(&answer)), "{head:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{head:?}: {answer}");
        assert!(!answer.contains("protocolVersion"), "{head:?}: {answer}");
    };
    let post = |lines: &str| format!("POST /mcp HTTP/1.1\r\n{host}{lines}");
    let length = format!("Content-Length: {}\r\n", zero.len());
    let bad = [
        format!("{length}Transfer-Encoding: chunked\r\n"),
        format!("Transfer-Encoding: chunked\r\n{length}"),
        format!("{length}Transfer-Encoding : chunked\r\n"),
        format!("{length}Transfer-Encoding: xchunked\r\n"),
        format!("{length}Transfer-Encoding:\r\n chunked\r\n"),
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n".to_owned(),
        format!("Content-Length: 5\r\n{length}"),
        format!("{length}{length}"),
        "Content-Length: 5, 5\r\n".to_owned(),
        "Content-Length: -1\r\n".to_owned(),
        "X: a\r\n Content-Length: 5\r\n".to_owned(),
        "X: a\nContent-Length: 5\r\n".to_owned(),
        "X: a\rContent-Length: 5\r\n".to_owned(),
        "X: a\0b\r\n".to_owned(),
        "Host: evil.example\r\n".to_owned(),
    ];
    for lines in &bad {
        check(&post(lines), &zero, &["400"]);
    }
    check(
        &format!("POST http://evil.example/mcp HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: 0\r\n"),
        "",
        &["400"],
    );
    check(&format!("POST /mcp HTTP/1.0\r\n{host}Transfer-Encoding: chunked\r\n"), &zero, &["400"]);
    check(&post(&"X: y\r\n".repeat(2_000)), "", &["400", "431"]);
    // It is answered before it has been read, and may be gone by then.
    let large = connect(&served, "");
    let _ = (&large).write_all(post(&format!("X: {}\r\n\r\n", "y".repeat(1 << 20))).as_bytes());
    let mut answer = Vec::new();
    let _ = (&large).read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.is_empty() || matches!(status(&answer), "400" | "431"), "{answer}");
    // A body without a length is the last thing that is read of its connection.
    check(&post("Transfer-Encoding: chunked\r\n"), &zero, &["400"]);
    let own = format!("POST http://{}/mcp HTTP/1.1\r\n{host}", served.address());
    let body = initialize().to_string();
    let whole = format!("{own}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    assert_eq!(status(&served.raw(&whole)), "200");
    served.stop();
}

#[test]
fn t17_whoever_begins_sessions_without_end_ends_nobody_elses() {
    let farm = Farm::new();
    farm.settings("[limits]\nserve_user_sessions = 20\n");
    let served = Served::start(&farm, &[]);
    let good = served.session("");
    let ping = request(2, "ping", &json!({}));
    assert_eq!(status(&served.post(&of_session(&good), &ping)), "200");
    let flood = post(served.address(), "", &initialize().to_string()).replace("Connection: close\r\n", "");
    let stream = connect(&served, "");
    let writer = {
        let mut stream = stream.try_clone().unwrap();
        std::thread::spawn(move || (0..10_000).for_each(|_| stream.write_all(flood.as_bytes()).unwrap()))
    };
    let (mut reader, mut begun, mut last) = (stream, 0, Vec::new());
    let mut buffer = vec![0; 64 << 10];
    while begun < 10_000 {
        let read = reader.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "after {begun}");
        last.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&last).into_owned();
        let whole = text.rfind("HTTP/1.1 ").unwrap_or(0);
        begun += text[..whole].matches("HTTP/1.1 200").count();
        last.drain(..whole);
        begun += usize::from(begun == 9_999 && text[whole..].contains("\"result\""));
    }
    writer.join().unwrap();
    assert_eq!(status(&served.post(&of_session(&good), &ping)), "200");
    served.stop();
}

#[test]
fn t17_whoever_never_reads_holds_up_nobody_and_is_cut_off() {
    let farm = Farm::of("x", &[]);
    farm.settings("[limits]\nserve_write = \"300ms\"\nrefresh = \"20ms\"\n");
    let served = Served::start(&farm, &[]);
    let session = served.session("");
    let list = request(3, "tools/list", &json!({}));
    assert!(wait_until(LONG, || served.post(&of_session(&session), &list).contains("x_big")));
    let before = proc::rss_anon_kb(served.child.id()).unwrap();
    let listen =
        modern(&json!(1), "subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let deaf: Vec<TcpStream> = (0..20)
        .map(|_| {
            let headers = modern_headers("subscriptions/listen", None);
            connect(&served, &post(served.address(), &headers, &listen.to_string()))
        })
        .collect();
    let mut heard = Stream::open(served.address(), &get("/mcp", served.address(), &of_session(&session)));
    for _ in 0..20 {
        let grow = request(4, "tools/call", &json!({"name": "x_grow", "arguments": {}}));
        served.post(&of_session(&session), &grow);
        assert_eq!(heard.next().unwrap()["method"], "notifications/tools/list_changed");
    }
    // Much that nobody takes: the connection ends, and with it the call.
    let params = json!({
        "name": "x_progress", "arguments": {"n": 1_000_000, "ms": 1}, "_meta": {"progressToken": "p".repeat(10_000)},
    });
    let text = post(served.address(), &of_session(&session), &request(5, "tools/call", &params).to_string());
    let flood = connect(&served, &text);
    assert!(wait_until(LONG, || farm.count("x", "cancelled") == 1), "{:?}", farm.events("x", "cancelled"));
    serves(&served);
    let after = proc::rss_anon_kb(served.child.id()).unwrap();
    assert!(after < before + (100 << 10), "{before} KiB, then {after} KiB");
    drop((deaf, flood));
    served.stop();
}

#[test]
fn t39_every_spelling_of_another_host_is_refused() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let port = served.address().rsplit_once(':').unwrap().1.to_owned();
    let hosts = [
        "localhost.evil.com",
        "evil.com:80",
        "127.0.0.1.nip.io",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::1].evil.com",
        "[::1]evil.com",
        "127.0.0.1:80@evil.com",
        "127.0.0.1:evil.com",
        "localhost:80:evil.com",
        "user@localhost",
        "localhost.",
        "localhost#evil.com",
        "localhost,evil.com",
        "169.254.169.254",
    ];
    for host in hosts {
        let answer = served.raw(&post(host, "", &initialize().to_string()));
        assert!(matches!(status(&answer), "403" | "400"), "{host}: {answer}");
        let answer = served.post(&format!("Origin: http://{host}\r\n"), &initialize());
        assert_eq!(status(&answer), "403", "origin {host}: {answer}");
    }
    for origin in [
        "",
        "null",
        "file://",
        "http://",
        "evil.com",
        "http://localhost/x",
        "http://evil.com http://localhost",
    ] {
        let answer = served.post(&format!("Origin: {origin}\r\n"), &initialize());
        assert_eq!(status(&answer), "403", "{origin:?}: {answer}");
    }
    let both = "Origin: http://localhost\r\nOrigin: http://evil.com\r\n";
    assert_eq!(status(&served.post(both, &initialize())), "403");
    for host in ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:99", "[::1]", &format!("[::1]:{port}")] {
        assert_eq!(status(&served.raw(&post(host, "", &initialize().to_string()))), "200", "{host}");
    }
    let no_host = "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    assert!(matches!(status(&served.raw(no_host)), "400" | "403"));
    // The transport of 2024 is no other door.
    for path in ["/sse", "/sse/s/x", "/sse/a/none", "/messages?sessionId=1", "/mcp/s/x", "/mcp/a/none"] {
        let answer = served.raw(&get(path, "evil.com", ""));
        assert_eq!(status(&answer), "403", "{path}: {answer}");
    }
    served.stop();
}

#[test]
fn t39_only_a_bearer_token_lets_in() {
    let farm = Farm::of("x", &[]);
    farm.settings("[users.ada]\n");
    let token = farm.house.run(&["tokens", "add", "t", "--user", "ada"]).exits(0).out.trim().to_owned();
    let served = Served::start(&farm, &["--require-token"]);
    let ask = |headers: &str| served.post(headers, &initialize());
    let half = &token[..token.len() - 1];
    let bad = [
        String::new(),
        "Authorization:\r\n".to_owned(),
        "Authorization: Bearer\r\n".to_owned(),
        "Authorization: Bearer \r\n".to_owned(),
        format!("Authorization: {token}\r\n"),
        format!("Authorization: Basic {token}\r\n"),
        format!("Authorization: Token {token}\r\n"),
        format!("Authorization: Bearer {half}\r\n"),
        format!("Authorization: Bearer {token}x\r\n"),
        format!("Authorization: Bearer {}\r\n", token.to_uppercase()),
        format!("Authorization: Bearer {token}, Bearer {token}\r\n"),
        format!("X-Authorization: Bearer {token}\r\n"),
        format!("Cookie: token={token}\r\n"),
    ];
    for headers in &bad {
        let answer = ask(headers);
        assert_eq!(status(&answer), "401", "{headers}: {answer}");
        assert!(answer.to_ascii_lowercase().contains("www-authenticate: bearer"), "{answer}");
        assert!(!answer.contains(&token), "{answer}");
    }
    let two = format!("Authorization: Bearer kb_wrong\r\nAuthorization: Bearer {token}\r\n");
    assert_eq!(status(&ask(&two)), "401", "two tokens are none");
    let in_address = served.raw(&post(served.address(), "", &initialize().to_string()).replacen(
        "/mcp",
        &format!("/mcp?token={token}"),
        1,
    ));
    assert_eq!(status(&in_address), "401", "addresses are written to logs");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(status(&ask(&format!("Authorization: {scheme} {token}\r\n"))), "200");
    }
    served.stop();
}
