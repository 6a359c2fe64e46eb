//! Limits and timeouts as the command line obeys and shows them.

use std::net::TcpListener;

use serde_json::json;

use super::{Farm, Hosted};
use crate::house::Runs as _;

#[test]
fn f17_the_words_of_an_error_are_bounded_on_stderr() {
    let farm = Farm::of("x", &["--fault", "c16"]);
    farm.settings("[limits]\nerror = '8KiB'\n");
    let said = farm.house.run(&["call", "mcp_x_bulk", "kind=error", "size=4000000"]);
    assert!(said.code != Some(0) && said.err.contains("server_error"), "{:?}", said.code);
    assert!(said.err.len() < 8192 + 1_000, "{}", said.err.len());
}

#[test]
fn f76_a_call_saves_so_many_files_and_tells_of_the_rest() {
    let farm = Farm::of("x", &["--fault", "c16"]);
    farm.settings("[limits]\nfiles = 5\n");
    let arguments = ["call", "mcp_x_bulk", "kind=images", "size=20000"];
    let said = farm.house.run(&arguments).exits(3);
    assert!(
        said.err.contains("135 more files in the result of bulk are not saved, at most 5 are"),
        "{}",
        said.err
    );
    assert_eq!((said.out.lines().count(), said.err.matches("not saved").count()), (5, 1), "{}", said.out);
    assert_eq!(farm.house.files("kit/state/results/files").len(), 5);
    // With a folder and as JSON the same.
    let said =
        farm.house.run(&[&arguments[..], &["--save", "pictures", "--json", "--full"]].concat()).exits(3);
    assert_eq!(said.json()["saved"].as_array().unwrap().len(), 5);
    assert_eq!(std::fs::read_dir(farm.house.path("project/pictures")).unwrap().count(), 5);
}

#[test]
fn f26_arguments_with_a_key_twice_are_refused_on_the_command_line() {
    let farm = Farm::of("x", &[]);
    let call = |words: &[&str]| farm.house.run(&[&["call", "mcp_x_echo"], words].concat());
    call(&["--args", r#"{"message":"a","message":"b"}"#]).fails(7, "\"message\" is given twice");
    call(&[r#"{"message":"a","message":"b"}"#]).fails(7, "\"message\" is given twice");
    call(&["message=a", "message=b"]).fails(7, "\"message\" is given twice");
    call(&["message=a", "message:=\"b\""]).fails(7, "\"message\" is given twice");
    call(&["message:={\"a\":1,\"a\":2}"]).fails(7, "\"a\" is given twice");
    // A pair on top of JSON is meant to change it.
    let said = call(&["--args", r#"{"message":"a"}"#, "message=b"]).exits(0);
    assert_eq!(said.out.trim(), "b");
    assert_eq!(farm.count("x", "call echo"), 1);
}

#[test]
fn f1_call_takes_a_timeout_from_the_command_line() {
    let farm = Farm::of("x", &[]);
    let ran = farm.house.run(&["call", "x/sleep", "ms=3600000", "--timeout", "300ms"]).exits(9);
    assert!(ran.err.contains("300ms (timeout of the call)"), "{}", ran.err);
    assert_eq!(farm.count("x", "call sleep"), 1);
    farm.house.run(&["call", "x/echo", "message=hi", "--timeout", "soon"]).fails(2, "soon");
    farm.is_empty();
}

#[test]
fn f1_clocks_are_shown_where_they_bind() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"timeout": 2, "connect_timeout": 7}));
    farm.settings("[wait]\nidle = '1s'\n");
    let shown = farm.house.run(&["servers", "show", "x"]).exits(0).out;
    for clock in ["7s (connect_timeout)", "30s (wait_list)", "2s (timeout)", "1s (wait_idle)"] {
        assert!(shown.contains(clock), "no {clock:?} in {shown}");
    }
    let json = farm.house.run(&["servers", "show", "x", "--json"]).exits(0).json();
    assert_eq!(json["clocks"]["total"], json!({"time_ms": 2000, "set_by": "timeout"}), "{json}");
    let why = farm.house.run(&["why", "x/echo"]).exits(0).out;
    assert!(why.contains("2s (timeout)") && why.contains("1s (wait_idle)"), "{why}");
    assert_eq!(farm.house.run(&["why", "x/echo", "--json"]).exits(0).json()["tools"][0]["timeout_ms"], 2000);
    farm.is_empty();
}

/// A start is awaited for no longer than asked, and says what for.
#[test]
fn s4_5_a_command_waits_for_a_silent_address_no_longer_than_asked() {
    // It is connected to, and then nothing.
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", hole.local_addr().unwrap());
    let hosted = Hosted::new();
    hosted.enter("x", &url, &json!({}));
    let ran = hosted.farm.house.run(&["tools", "x", "--wait", "1s"]);
    assert!(ran.err.contains("timeout: no usable answer yet at") && ran.err.contains(&url), "{ran:?}");
}
