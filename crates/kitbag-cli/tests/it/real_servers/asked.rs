//! Real servers that ask: the form of the official "everything" server at a terminal, and roots for the official
//! "filesystem" server, which asks for them before any call.

use serde_json::{Value, json};

use super::installed::Server;
use super::place::Place;
use crate::house::House;
use crate::pty::{self, Step};

/// The command line of a server, as it is typed after `--server`.
fn command(server: Server, place: &Place) -> String {
    let entry = server.entry(&place.data());
    let args = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap().to_owned());
    let words: Vec<String> =
        [entry["command"].as_str().unwrap().to_owned()].into_iter().chain(args).collect();
    shlex::try_join(words.iter().map(String::as_str)).unwrap()
}

#[test]
fn f65_everything_asks_at_the_terminal_and_gets_a_valid_form() {
    let (house, place) = (House::new(), Place::of(&json!({})));
    let server = command(Server::Everything, &place);
    let args = ["call", "--server", &server, "trigger-elicitation-request"];
    let steps = [
        Step::Shown("String (text, required): ", "Ada Lovelace"),
        Step::Shown("Boolean (y/n, optional): ", "y"),
        Step::Shown("String with default (text, default It was", ""),
        Step::Shown("email format (email, optional): ", "nobody"),
        Step::Shown("email format (email, optional): ", "ada@example.com"),
        Step::Shown("uri format (uri, optional): ", ""),
        Step::Shown("date format (date, optional): ", "1815-12-10"),
        Step::Shown("Integer (whole number, default 42): ", "101"),
        Step::Shown("Integer (whole number, default 42): ", "7"),
        Step::Shown("1-1000 (number, default 3.14): ", ""),
        Step::Shown("(1-6, default Monica): ", "3"),
        Step::Shown("(any of 1-5", "1,2"),
        Step::Shown("(1-", ""),
        Step::Shown("(any of 1-", ""),
        Step::Shown("(1-", ""),
    ];
    let ran = pty::run(&house, 100, &args, &steps);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.err.contains("gave up waiting") && !ran.err.contains("never asked"), "{ran:?}");
    let raw = ran.out.split("Raw result: ").nth(1).unwrap_or_else(|| panic!("{}", ran.out));
    let raw: Value = serde_json::Deserializer::from_str(raw).into_iter().next().unwrap().unwrap();
    let content = &raw["content"];
    assert_eq!(raw["action"], "accept");
    assert_eq!((&content["name"], &content["check"]), (&json!("Ada Lovelace"), &json!(true)));
    assert_eq!((content["integer"].to_string(), content["number"].to_string()), ("7".into(), "3.14".into()));
    assert_eq!(content["untitledSingleSelectEnum"], "Joey");
    assert_eq!(content["untitledMultipleSelectEnum"], json!(["Guitar", "Piano"]));
    assert!(content.get("homepage").is_none(), "{content}");
}

#[test]
fn f65_filesystem_takes_the_folders_of_the_command_line() {
    let place = Place::of(&json!({}));
    // Without a folder of its own it has those it is told of.
    let command = command(Server::Filesystem, &place);
    let bare = command.rsplit_once(' ').unwrap().0.to_owned();
    let root = place.data();
    let root = root.to_str().unwrap();
    let call = ["call", "--server", &bare, "list_allowed_directories", "--root", root, "--trace"];
    let output = place.run(&call);
    let trace = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{trace}");
    // It takes them in while it answers the call already, so what counts is that it asked and was told in time.
    let at = |mark: &str, word: &str| {
        let is_it = |line: &str| line.contains(mark) && line.contains(word);
        trace.lines().position(is_it).unwrap_or_else(|| panic!("no {mark} {word} in {trace}"))
    };
    let (asked, told) = (at("<--", "\"roots/list\""), at("-->", &format!("file://{root}")));
    assert!(asked < told && told < at("-->", "\"tools/call\""), "{trace}");
}

/// A server that hides tools from clients that answer nothing shows the same ones to every command.
#[test]
fn f65_every_command_is_shown_the_tools_that_ask() {
    let place = Place::with(&[Server::Everything]);
    for args in [
        &["tools"][..],
        &["prompt"],
        &["cost", "--tools", "--json"],
        &["show", "trigger-elicitation-request"],
    ] {
        let output = place.run(args);
        let shown = String::from_utf8_lossy(&output.stdout);
        let is_there =
            shown.contains("trigger_elicitation_request") || shown.contains("trigger-elicitation-request");
        assert!(output.status.success() && is_there, "{args:?}: {shown}");
    }
}
