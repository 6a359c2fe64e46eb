//! What a person sees who starts `kitbag serve`: where it is, what it has, how hosts are connected.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{Farm, House};

use super::{LONG, Served, initialize, status};
use crate::house::Runs as _;
use crate::pty::{self, Step, uncoloured};

const SERVE: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// The screen of 80 columns up to the line about costs; then somebody presses Ctrl-C.
#[track_caller]
fn screen(house: &House) -> String {
    let ran = pty::run(house, 80, &SERVE, &[Step::Key("of a model's context", '\u{3}')]).exits(0);
    let text = uncoloured(&ran.out);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line:?} in\n{text}");
    }
    assert!(!text.contains("\n\n\n"), "{text}");
    text
}

#[test]
fn a_first_run_with_nothing_configured_serves_the_demo_tools_and_says_how_to_connect() {
    let text = screen(&House::new());
    let url = text.lines().next().unwrap();
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"), "{text}");
    for word in [
        "No servers are configured",
        "demo tools",
        "Connect",
        "any other",
        "kitbag servers export --to all --endpoint",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(
        text.contains(&format!(r#"{{"mcpServers":{{"kitbag":{{"type":"http","url":"{url}"}}}}}}"#)),
        "{text}"
    );
    assert!(text.contains("3 tools take "), "{text}");
}

#[test]
fn a_run_with_servers_says_where_they_are_from_and_how_each_is() {
    let farm = Farm::of("x", &[]);
    farm.enter("gone", json!({"command": "no-such-program"}));
    farm.house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"theirs": {"command": "x"}}}"#);
    let text = screen(&farm.house);
    for words in [
        "2 servers from ",
        "found but unused: 1 server of Cursor",
        "kitbag servers import --all",
        "  Cursor, in ~/.cursor/mcp.json\n    {\"mcpServers\":{\"kitbag\":{\"url\":",
        "x ready: ",
        "gone failed: missing program: ",
        "as one tool per server",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    farm.is_empty();
}

#[test]
fn for_programs_the_first_line_is_the_address_or_one_object() {
    let farm = Farm::of("x", &[]);
    let mut child = farm.house.ask(&[&SERVE[..], &["--json"]].concat()).command();
    let mut child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: Value = serde_json::from_str(&line).unwrap();
    assert!(said["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{line}");
    assert_eq!(
        (&said["servers"], &said["require_token"], &said["demo"]),
        (&json!(["x"]), &json!(false), &json!(false))
    );
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    farm.is_empty();
}

#[test]
fn serve_listens_and_asks_for_tokens_as_the_settings_say() {
    let farm = Farm::of("x", &[]);
    farm.settings("[serve]\nlisten = '127.0.0.2:0'\nrequire_token = true\n");
    let served = Served::start_at(&farm, &[], None);
    assert!(served.url.starts_with("http://127.0.0.2:"), "{}", served.url);
    assert_eq!(status(&served.post("", &initialize())), "401");
    served.stop();
    let served = Served::start(&farm, &[]);
    assert!(served.url.starts_with("http://127.0.0.1:"), "the command counts first: {}", served.url);
    served.stop();
    // What cannot be read could have asked for one.
    for slip in [
        "[serve]\nrequire_token = 'yes'\n",
        "[serv]\nrequire_token = true\n",
        "[serve]\nrequre_token = true\n",
    ] {
        farm.settings(slip);
        let served = Served::start(&farm, &[]);
        assert_eq!(status(&served.post("", &initialize())), "401", "{slip}");
        served.stop();
    }
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    let farm = Farm::of("x", &[]);
    for port in ["0", ":0", "localhost:0"] {
        let served = Served::start_at(&farm, &["--listen", port], None);
        assert!(served.url.starts_with("http://127.0.0.1:"), "{port}: {}", served.url);
        served.stop();
    }
    farm.settings("[serve]\nlisten = '0'\n");
    let served = Served::start_at(&farm, &[], None);
    assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    served.stop();
    for wrong in ["here", "70000", "127.0.0.1", ""] {
        farm.house.run(&["serve", "--listen", wrong]).fails(2, "write a port, such as 8080");
    }
}

#[test]
fn stdio_on_a_terminal_says_how_programs_start_it() {
    let house = House::new();
    let shown = pty::run(&house, 100, &["stdio"], &[Step::Key("one address for all", '\x03')]);
    let text = uncoloured(&shown.out);
    assert!(text.contains("\"stdio\"") && text.contains("mcpServers"), "{text}");
    assert!(text.contains("Ctrl-C"), "{text}");
}

#[test]
fn a_port_that_is_taken_says_who_has_it() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    assert!(testkit::wait_until(LONG, || farm.count("x", "start") == 1));
    let taken = farm.house.run(&["serve", "--listen", served.address()]);
    let taken = taken
        .fails(4, &format!("another kitbag serve (process {}) serves at {}", served.child.id(), served.url));
    assert!(taken.err.contains("--listen 127.0.0.1:0"), "{taken:?}");
    assert_eq!(farm.count("x", "start"), 1, "nothing was started for it");
    served.stop();
    let here = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = here.local_addr().unwrap().to_string();
    let taken = farm
        .house
        .run(&["serve", "--listen", &at])
        .fails(4, &format!("(process {}) has the port", std::process::id()));
    assert!(taken.err.contains("--listen 127.0.0.1:0"), "{taken:?}");
    // No word of its arguments, which may hold secrets.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| 6 < word.len()).collect();
    assert!(arguments.iter().all(|word| !taken.err.contains(word)), "{taken:?}");
}
