//! `kitbag tools` and `--demo`, as a shell and a terminal see them.

use serde_json::{Value, json};

use super::Farm;
use crate::house::{House, Ran, Runs as _};
use crate::pty::{self, uncoloured};

/// Names of the rows of `tools --json`.
#[track_caller]
fn names(ran: &Ran) -> Vec<String> {
    ran.json().as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// No control but the line feed and the tab, nothing hidden.
#[track_caller]
pub(super) fn check_harmless(text: &str) {
    let bad = |c: &char| c.is_control() && !matches!(c, '\n' | '\t') || kitbag_core::text::is_hidden(*c);
    let found: Vec<char> = text.chars().filter(bad).collect();
    assert!(found.is_empty(), "{found:?} in {text:?}");
}

#[test]
fn tools_of_one_server_or_several() {
    let farm = Farm::of("one", &["--tools", "1"]);
    farm.add("two", &[]);
    let of = |args: &[&str]| {
        let all: Vec<&str> = ["tools", "--json"].iter().chain(args).copied().collect();
        let rows = farm.house.run(&all).exits(0).json();
        let mut servers: Vec<String> =
            rows.as_array().unwrap().iter().map(|row| row["server"].as_str().unwrap().to_owned()).collect();
        servers.dedup();
        servers
    };
    assert_eq!(of(&["one"]), ["one"]);
    assert_eq!(of(&["--server", "two"]), ["two"]);
    assert_eq!(of(&["one", "--server", "two"]), ["one", "two"]);
    assert_eq!(of(&["local"]), ["local"]);
    farm.house.run(&["tools", "too"]).fails(5, "two");
    farm.house.run(&["tools", "--server", ""]).exits(2);
    farm.is_empty();
}

#[test]
fn f52_a_server_that_is_not_used_says_why_and_no_other_is_spoken_of() {
    let farm = Farm::of("one", &[]);
    farm.add("two", &[]);
    farm.house.run(&["servers", "disable", "two"]).exits(0);
    let off = farm.house.run(&["tools", "two"]).exits(4);
    assert!(
        off.err.contains("two is disabled") && off.err.contains("kitbag servers enable two"),
        "{}",
        off.err
    );
    assert!(!off.err.contains("one"), "{}", off.err);
    // Beside one that is used it is told, and costs nothing.
    let both = farm.house.run(&["tools", "one", "two"]);
    assert!(both.code == Some(0) && both.out.contains("mcp_one_echo"), "{}", both.out);
    assert!(both.err.contains("two is disabled"), "{}", both.err);
    farm.is_empty();
}

#[test]
fn a_row_of_tools_has_the_keys_of_the_contract() {
    let farm = Farm::of("x", &[]);
    let rows = farm.house.run(&["tools", "x", "--json"]).exits(0).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["tool"] == "structured").unwrap();
    let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    let contract = ["name", "server", "tool", "description", "input_schema", "available"];
    assert_eq!(&keys[..6], contract);
    assert_eq!((&row["name"], &row["full_name"]), (&json!("mcp_x_structured"), &json!("mcp_x_structured")));
    assert_eq!(row["annotations"]["readOnlyHint"], true);
    assert_eq!(row["output_schema"]["type"], "object");
    farm.is_empty();
}

#[test]
fn s2_17_tools_stand_under_their_category() {
    let farm = Farm::of("x", &[]);
    farm.house.put(
        "kit/config/kitbag.toml",
        "[servers.x.tools.add]\ncategory = \"Maths\"\n[servers.x.tools.echo]\ncategory = \"Text\"\n",
    );
    let text = farm.house.run(&["tools"]).exits(0).out;
    let places = ["Maths\n  mcp_x_add", "\nText\n  mcp_x_echo", "\n(no category)\n  mcp_x_ask"];
    let at: Vec<usize> =
        places.iter().map(|place| text.find(place).unwrap_or_else(|| panic!("{place}: {text}"))).collect();
    assert!(at.is_sorted(), "{text}");
    let one = farm.house.run(&["tools", "--category", "maths", "--json"]).exits(0);
    assert_eq!(names(&one), ["mcp_x_add"]);
    farm.house.run(&["tools", "--category", "math"]).fails(5, "Maths");
    farm.is_empty();
}

#[test]
fn an_agent_sees_its_own_tools() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.house.put(
        "kit/config/kitbag.toml",
        "[agents.coder]\nservers = [\"x\"]\nallow = [\"x/e*\"]\nnames = \"short\"\n[agents.other]\n",
    );
    let seen = names(&farm.house.run(&["tools", "--agent", "coder", "--json"]).exits(0));
    assert_eq!(seen, ["kitbag_read_result", "x_echo", "x_env"]);
    // What it does not see it cannot call, and what it sees it can, by that name.
    assert_eq!(farm.house.run(&["call", "x_echo", "message=a", "--agent", "coder"]).exits(0).out, "a\n");
    farm.house.run(&["call", "x/add", "a=1", "b=1", "--agent", "coder"]).fails(5, "not_found");
    farm.house.run(&["show", "x/add", "--agent", "coder"]).fails(5, "kitbag why x/add --agent coder");
    farm.house.run(&["tools", "--agent", "codr"]).fails(5, "--agent coder");
    farm.is_empty();
}

#[test]
fn what_reads_on_is_listed_for_programs_and_for_those_who_want_more() {
    let farm = Farm::of("x", &[]);
    let listed = |args: &[&str]| farm.house.run(args).exits(0).out.contains("kitbag_read_result");
    assert!(!listed(&["tools"]));
    assert!(listed(&["tools", "--verbose"]));
    assert!(listed(&["tools", "--json"]));
    farm.is_empty();
}

#[test]
fn a_server_that_is_away_leaves_its_tools_listed_and_marked() {
    let farm = Farm::new();
    let program = |text: &str| {
        let file = farm.house.put("bin/server", text);
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        file
    };
    let fake = testkit::bin("fake-mcp");
    let file = program(&format!("#!/bin/sh\nexec {} \"$@\"\n", fake.display()));
    farm.add_with("x", &[], &json!({"command": file}));
    assert!(!farm.house.run(&["tools"]).exits(0).out.contains("[unavailable]"));
    program("#!/bin/sh\nexit 3\n");
    let ran = farm.house.run(&["tools", "--wait", "1s"]).exits(0);
    // They are listed before it is known that nobody is there.
    assert!(ran.out.contains("mcp_x_echo"), "{ran:?}");
    assert!(ran.err.contains("exit code 3"), "{ran:?}");
    let rows = farm.house.run(&["tools", "x", "--json", "--wait", "1s"]).exits(0).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["available"] == false), "{rows}");
    let shown = farm.house.run(&["show", "x/echo", "--wait", "1s"]).exits(0).out;
    assert!(shown.contains("unavailable") && shown.contains("exit code 3"), "{shown}");
    let why = farm.house.run(&["why", "x/echo", "--wait", "1s"]).exits(4).out;
    assert!(why.contains("not callable now: x: "), "{why}");
    // Where something has to be waited for they are marked, on a terminal dimmed, and counted.
    farm.add("new", &["--tools", "2"]);
    let ran = farm.house.run(&["tools", "--wait", "1s"]).exits(0);
    assert!(ran.out.contains("[unavailable] Gives the message back"), "{ran:?}");
    farm.add("newer", &["--tools", "2"]);
    let ran = pty::run(&farm.house, 80, &["tools", "--wait", "1s"], &[]).exits(0);
    assert!(ran.out.contains("\u{1b}[2m"), "{:?}", ran.out);
    assert!(uncoloured(&ran.out).contains(" of 3 servers, "), "{}", ran.out);
    farm.is_empty();
}

#[test]
fn tools_fit_a_terminal_of_80_columns_one_line_each() {
    let farm = Farm::of("a-server-with-a-long-name", &["--tools", "2"]);
    farm.add("x", &[]);
    for columns in [60_u16, 80, 120] {
        let ran = pty::run(&farm.house, columns, &["tools"], &[]).exits(0);
        let plain = uncoloured(&ran.out);
        let long: Vec<&str> =
            plain.lines().filter(|line| usize::from(columns) < line.chars().count()).collect();
        assert!(long.is_empty(), "at {columns}: {long:#?}");
    }
    let ran = pty::run(&farm.house, 80, &["tools", "x"], &[]).exits(0);
    let plain = uncoloured(&ran.out);
    let (rows, rest): (Vec<&str>, Vec<&str>) = plain.lines().partition(|line| line.starts_with("  mcp_x_"));
    let count = rows.len();
    assert_eq!(rest, [&format!("x ({count} tools)"), "", &format!("{count} tools of 1 server")]);
    // A pipe gets rows and nothing else.
    let piped = farm.house.run(&["tools", "x"]).exits(0).out;
    assert_eq!(piped.lines().count(), rows.len());
    farm.is_empty();
}

#[test]
fn t20_nothing_a_server_writes_reaches_the_terminal_as_it_is() {
    for fault in ["c02", "c03"] {
        let farm = Farm::of("x", &["--fault", fault]);
        let listed = farm.house.run(&["tools", "--json"]).exits(0);
        check_harmless(&listed.all());
        let mut commands: Vec<Vec<String>> =
            vec![vec!["tools".into()], vec!["tools".into(), "--verbose".into()]];
        for name in names(&listed) {
            commands.extend(["show", "why", "call"].map(|command| vec![command.into(), name.clone()]));
        }
        for args in &commands {
            for json in [false, true] {
                let flag = json.then(|| "--json".to_owned());
                let all: Vec<String> = args.iter().cloned().chain(flag).collect();
                let ran = farm.house.run(&all);
                check_harmless(&ran.all());
                assert!(!ran.all().is_empty(), "{all:?}");
            }
        }
        // A terminal gets our own codes and no others.
        let ran = pty::run(&farm.house, 80, &["tools", "--color", "never"], &[]).exits(0);
        check_harmless(&ran.out);
        farm.is_empty();
    }
}

#[test]
fn t20_json_is_equal_to_what_the_server_wrote() {
    let farm = Farm::of("x", &["--fault", "c03"]);
    let shown = farm.house.run(&["show", "x/say", "--json"]).exits(0);
    assert!(shown.out.contains("\\u009b31m"), "{}", shown.out);
    let raw = shown.json()["definition"]["description"].as_str().unwrap().to_owned();
    assert!(raw.contains("\u{9b}31m\u{9d}0;owned\u{9c}\u{85}"), "{raw:?}");
    let said = farm.house.run(&["call", "x/say", "--json"]).exits(0).json();
    assert!(said["content"][0]["text"].as_str().unwrap().contains("\u{1b}[2J"), "{said}");
    farm.is_empty();
}

#[test]
fn a_demo_needs_no_server() {
    let house = House::new();
    let tools = house.run(&["tools", "--demo"]).exits(0);
    let first: Vec<&str> = tools.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(first, ["clock", "folder", "notes"]);
    assert_eq!(tools.err, "");
    let rows = house.run(&["tools", "--demo", "--json"]).exits(0).json();
    assert!(rows.as_array().unwrap().iter().all(|row| row["server"] == "local" && row["available"] == true));
    let clock: Value = serde_json::from_str(&house.run(&["call", "clock", "--demo"]).exits(0).out).unwrap();
    assert!(clock["utc"].as_str().unwrap().ends_with('Z'), "{clock}");
    house.put("project/read.me", "hello\n");
    assert_eq!(house.run(&["call", "folder", "path=read.me", "--demo"]).exits(0).out, "hello\n\n");
    house.run(&["call", "folder", "path=../kit", "--demo"]).exits(1);
    // Notes are there for the next process.
    house.run(&["call", "notes", "add=buy milk", "--demo"]).exits(0);
    let notes = house.run(&["call", "notes", "--demo", "--json"]).exits(0).json();
    assert_eq!(notes["structured"], json!({"notes": ["buy milk"]}));
    assert_eq!((&notes["meta"]["server"], &notes["meta"]["transport"]), (&json!("local"), &Value::Null));
    // Without the flag they are not there, and what to do is said.
    house.run(&["call", "clock"]).fails(5, "clock");
    assert!(house.run(&["tools"]).exits(0).err.contains("--demo"));
    assert!(house.run(&["show", "notes", "--demo"]).exits(0).out.contains("kitbag call notes --demo"));
}

#[test]
fn a_demo_waits_for_no_server() {
    let farm = Farm::of("mute", &["--fault", "s05"]);
    farm.house.run(&["call", "clock", "--demo", "--wait", "60s"]).exits(0);
    farm.house.run(&["show", "local/clock", "--demo", "--wait", "60s"]).exits(0);
    assert_eq!(farm.count("mute", "start"), 0);
    let off = farm.house.ask(&["call", "clock", "--demo"]).env("AGENT_ENABLE_MCP", "off").run();
    off.exits(0);
    farm.is_empty();
}
