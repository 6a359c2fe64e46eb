//! What is held while Kitbag serves is let go of from another terminal: calls that need approval, and definitions.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread::JoinHandle;

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use crate::house::Runs as _;

use super::offered::Speaker;
use super::streams::{Stream, modern, modern_headers};
use super::{LONG, Served};

const HI: &str = "hi";

fn echo(client: &Speaker<'_, '_>) -> Value {
    client.result("tools/call", json!({"name": "x_echo", "arguments": {"message": HI}}))
}

/// The same by a client that waits elsewhere: its answer.
fn echo_from_elsewhere(served: &Served<'_>) -> JoinHandle<String> {
    let request = modern(&1.into(), "tools/call", json!({"name": "x_echo", "arguments": {"message": HI}}));
    let headers = modern_headers("tools/call", Some("x_echo"));
    let request = super::post(served.address(), &headers, &request.to_string());
    let mut stream = TcpStream::connect(served.address()).unwrap();
    std::thread::spawn(move || {
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    })
}

/// The one call that waits, answered.
#[track_caller]
fn answer(farm: &Farm, answer: &str) {
    let pending = || farm.house.run(&["approvals", "--json"]).exits(0).json();
    assert!(wait_until(LONG, || pending().as_array().unwrap().len() == 1), "{}", pending());
    let row = pending()[0].clone();
    assert!(row["tool"] == "echo" && row["arguments"].as_str().unwrap().contains(HI), "{row}");
    farm.house.run(&["approvals", "answer", row["id"].as_str().unwrap(), answer]).exits(0);
}

#[test]
fn s3_19_a_call_at_the_endpoint_waits_for_an_answer_at_another_terminal() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\napprove = ['echo']\n");
    let served = Served::start(&farm, &[]);
    for (words, is_error) in [("once", false), ("no", true), ("always", false)] {
        let called = echo_from_elsewhere(&served);
        answer(&farm, words);
        let done = called.join().unwrap();
        assert!(done.starts_with("HTTP/1.1 200"), "{words}: {done}");
        assert_eq!(done.contains("\"isError\":true"), is_error, "{words}: {done}");
    }
    assert_ne!(echo(&Speaker::newer(&served))["isError"], true, "always");
    farm.house.run(&["approvals", "revoke", "x/echo"]).exits(0);
    let called = echo_from_elsewhere(&served);
    answer(&farm, "no");
    let done = called.join().unwrap();
    assert!(done.contains("\"isError\":true"), "{done}");
    assert_eq!(farm.count("x", "call echo"), 3);
    served.stop();
}

#[test]
fn t21_a_definition_that_is_approved_at_another_terminal_is_served_and_told() {
    let farm = Farm::of("x", &[]);
    farm.settings("[pins]\nmode = 'strict'\n[limits]\npin_poll = '50ms'\n");
    let served = Served::start(&farm, &[]);
    let client = Speaker::older(&served);
    let lists = |name: &str| client.result("tools/list", json!({})).to_string().contains(name);
    assert!(!lists("\"x_echo\""), "nobody has approved it");
    let mut stream = Stream::of(&served, client.id());
    farm.house.run(&["pins", "approve", "x/echo"]).exits(0);
    assert_eq!(stream.next().unwrap()["method"], "notifications/tools/list_changed");
    assert!(lists("\"x_echo\"") && !lists("\"x_add\""));
    assert_ne!(echo(&client)["isError"], true);
    served.stop();
}
