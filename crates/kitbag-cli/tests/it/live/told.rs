//! What is worth knowing about a server's list and tools is told wherever they are looked at: by `tools`, `show` and
//! `status`, as text and as JSON.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{Farm, Hosted};
use crate::house::{Ran, Runs as _};
use crate::pty::{self, uncoloured};

/// A note of this code in a list of them.
fn noted<'a>(notes: &'a Value, code: &str) -> Option<&'a Value> {
    notes.as_array().unwrap().iter().find(|note| note["code"] == code)
}

/// The faults on stderr, one JSON object a line.
fn faults(ran: &Ran) -> Vec<Value> {
    ran.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The row of one server in `status --json`.
fn status(farm: &Farm, server: &str) -> Value {
    let rows = farm.house.run(&["status", "--json"]).exits(0).json();
    rows.as_array().unwrap().iter().find(|row| row["server"] == server).unwrap().clone()
}

/// What is told of whom.
enum Of {
    /// A tool that is listed.
    Tool(&'static str),
    /// The list as a whole, seen at this tool.
    List(&'static str),
    /// A tool that is not listed.
    Nobody,
}

/// One server that does something worth knowing, as it is told in every place at once.
fn check(farm: &Farm, server: &str, code: &str, words: &str, of: Of) {
    let what = format!("{server} {code}");
    // For people.
    let tools = farm.house.run(&["tools"]).exits(0);
    assert!(tools.err.contains(words), "{what}: {}", tools.err);
    let short = farm.house.run(&["status"]).exits(0).out;
    assert!(short.contains("warning") && short.contains(server), "{what}: {short}");
    let long = farm.house.run(&["status", server]).exits(0).out;
    assert!(long.contains(words) && long.contains(code), "{what}: {long}");
    // For programs.
    let row = status(farm, server);
    let note = noted(&row["notes"], code).unwrap_or_else(|| panic!("{what}: {row}"));
    assert_eq!((&note["severity"], note["message"].is_string()), (&json!("warning"), true), "{what}");
    let tools = farm.house.run(&["tools", "--json"]).exits(0);
    let told = faults(&tools);
    let told = told.iter().any(|fault| fault["kind"] == code && fault["server"] == server);
    assert!(told, "{what}: {}", tools.err);
    let rows = tools.json();
    let row = |tool: &str| {
        let is_meant = |row: &&Value| row["server"] == server && row["tool"] == tool;
        rows.as_array().unwrap().iter().find(is_meant).unwrap_or_else(|| panic!("{what}: {rows}")).clone()
    };
    if let Of::Tool(tool) = of {
        assert_eq!(noted(&row(tool)["notes"], code).unwrap()["tool"], tool, "{what}");
    }
    if let Of::Tool(tool) | Of::List(tool) = of {
        let name = format!("{server}/{tool}");
        let text = farm.house.run(&["show", &name]).exits(0).out;
        assert!(text.contains(words), "{what}: {text}");
        let shown = farm.house.run(&["show", &name, "--json"]).exits(0).json();
        assert!(noted(&shown["notes"], code).is_some(), "{what}: {}", shown["notes"]);
    }
    farm.is_empty();
}

#[test]
fn f81_hidden_characters_are_told_everywhere() {
    for (fault, tool) in [("c02", "hidden_text"), ("c03", "say")] {
        let farm = Farm::of("x", &["--fault", fault]);
        check(&farm, "x", "hidden_characters", "has hidden characters (U+", Of::Tool(tool));
    }
}

#[test]
fn f81_twin_names_are_told_everywhere() {
    let farm = Farm::of("acme_", &["--fault", "c05:a"]);
    farm.add("acme", &["--fault", "c05:b"]);
    for server in ["acme_", "acme"] {
        check(&farm, server, "twin_names", "has a name that looks like acme", Of::Tool("get-file"));
    }
    // Across servers as well, where all of them are looked at.
    let twin = |rows: Value| {
        let row = rows.as_array().unwrap().iter().find(|row| row["tool"] == "_status").unwrap().clone();
        noted(&row["notes"], "twin_names").map(|note| note["message"].clone())
    };
    let said = json!("the tool \"_status\" has a name that looks like acme_/status");
    assert_eq!(twin(farm.house.run(&["tools", "--json"]).exits(0).json()), Some(said));
    let notes = status(&farm, "acme")["notes"].clone();
    let of_server = notes.as_array().unwrap().iter().find(|note| note.get("tool").is_none()).unwrap();
    assert_eq!(of_server["message"], "the server has a name that looks like acme_");
    // A tool that has a name of its own from the operator is no longer mistaken for another.
    farm.settings("[servers.acme.tools._status]\nname = 'health'\n");
    assert_eq!(twin(farm.house.run(&["tools", "--json"]).exits(0).json()), None);
    let notes = status(&farm, "acme")["notes"].to_string();
    assert!(!notes.contains("_status"), "{notes}");
    farm.is_empty();
}

/// What is denied is not told either, neither as itself nor as what another is like.
#[test]
fn f81_nothing_is_told_of_tools_an_agent_does_not_see() {
    let farm = Farm::of("acme_", &["--fault", "c05:a"]);
    farm.settings("[agents.some]\nallow = ['acme_/get-file']\n[agents.none]\nallow = ['acme_/nothing']\n");
    let told = |args: &[&str]| farm.house.run(args).err;
    assert!(told(&["tools"]).contains("looks like acme_/get"), "{}", told(&["tools"]));
    for args in [["tools", "--agent", "some"], ["prompt", "--agent", "some"], ["tools", "--agent", "none"]] {
        let told = told(&args);
        assert!(!told.contains("looks like"), "{args:?}: {told}");
    }
    // A tool that is not seen makes no server unavailable: it is denied.
    farm.house.run(&["tools", "--agent", "none"]).exits(6);
    farm.is_empty();
}

#[test]
fn f81_tools_left_out_are_told_everywhere() {
    let farm = Farm::of("x", &["--fault", "c06"]);
    check(&farm, "x", "bad_tool", "is left out: ", Of::Nobody);
    let farm = Farm::of("x", &["--fault", "c02"]);
    check(&farm, "x", "bad_tool", "is left out: ", Of::Nobody);
}

#[test]
fn f78_a_list_that_was_cut_is_told_everywhere() {
    for (fault, limits, words) in [
        ("s20", "", "more than 100 pages"),
        ("s20", "pages = 7", "more than 7 pages"),
        ("s20", "list = '30KiB'", "more than 30720 bytes"),
        ("s21:same", "", "the pages repeat"),
        ("s21:cycle", "", "the pages repeat"),
        ("s22:60,50", "tools = 40", "more than 40 tools"),
    ] {
        let farm = Farm::of("x", &["--fault", fault]);
        farm.settings(&format!("[limits]\n{limits}\n"));
        check(&farm, "x", "list_cut", words, Of::List("echo"));
    }
}

#[test]
fn f81_a_schema_that_changed_is_told_everywhere() {
    let tool = |result: &str| {
        json!([{"name": "count", "inputSchema": {"type": "object"}, "outputSchema":
            {"type": "object", "properties": {"count": {"type": result}}}}])
    };
    let farm = Farm::new();
    farm.add_echo("x", &tool("integer"));
    let notes = status(&farm, "x")["notes"].clone();
    assert_eq!(notes, json!([]), "nothing is known to compare it with");
    let words = "has a different output schema than when it was listed before";
    // What the next run finds is what the one before remembered, so each place gets a change of its own.
    let mut result = ["string", "integer"].into_iter().cycle();
    let mut change = || farm.add_echo("x", &tool(result.next().unwrap()));
    change();
    assert!(farm.house.run(&["tools"]).exits(0).err.contains(words));
    change();
    assert!(farm.house.run(&["show", "x/count"]).exits(0).out.contains(words));
    change();
    assert!(farm.house.run(&["status", "x"]).exits(0).out.contains(words));
    change();
    let shown = farm.house.run(&["show", "x/count", "--json"]).exits(0).json();
    assert_eq!(noted(&shown["notes"], "schema_changed").unwrap()["tool"], "count");
    change();
    assert!(noted(&status(&farm, "x")["notes"], "schema_changed").is_some());
    assert_eq!(status(&farm, "x")["notes"], json!([]), "told until it is what is known");
    farm.is_empty();
}

/// A farm whose server can be made to list nothing, without a change of its entry.
struct Breakable(Farm);

impl Breakable {
    fn new() -> Self {
        let farm = Self(Farm::new());
        farm.run("--fault c15");
        farm.0.add_with("x", &[], &json!({"command": farm.0.house.path("bin/server")}));
        farm
    }

    fn run(&self, args: &str) {
        let text = format!("#!/bin/sh\nexec {} {args} \"$@\"\n", testkit::bin("fake-mcp").display());
        let file = self.0.house.put("bin/server", text);
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
}

#[test]
fn f81_a_remembered_list_is_marked_stale_everywhere() {
    let farm = Breakable::new();
    assert!(!farm.0.house.run(&["tools"]).exits(0).out.contains("[stale]"));
    let rows = farm.0.house.run(&["tools", "x", "--json"]).exits(0).json();
    assert_eq!(rows[0]["stale_since"], Value::Null);
    farm.run("--fault c15:broken");
    let words = "these tools are from the last good list of 20";
    check(&farm.0, "x", "list_stale", words, Of::List("one"));
    // What is listed before the server is asked is told to be old once that is known; else it is marked.
    let tools = farm.0.house.run(&["tools"]).exits(0);
    assert!(tools.out.contains(" Version 1 of one") && tools.err.contains(words), "{tools:?}");
    farm.0.add("new", &["--tools", "2"]);
    let tools = farm.0.house.run(&["tools"]).exits(0);
    assert!(tools.out.contains("[stale] Version 1 of one"), "{}", tools.out);
    assert!(tools.err.contains("the list is broken"), "{}", tools.err);
    let rows = farm.0.house.run(&["tools", "x", "--json"]).exits(0).json();
    let since = |row: &Value| row["stale_since"].as_str().is_some_and(|since| since.starts_with("20"));
    assert!(rows.as_array().unwrap().iter().all(since), "{rows}");
    // They can be called all the same.
    farm.0.house.run(&["call", "x/one", "argument_1=v"]).exits(0);
    farm.0.is_empty();
}

#[test]
fn f61_a_tool_that_is_unavailable_takes_one_line() {
    let farm = Breakable::new();
    farm.0.house.run(&["tools"]).exits(0);
    farm.run("--cut start:kill");
    // With a server that is not known everybody is waited for, and rows say who is away.
    farm.0.add("new", &["--cut", "start:kill"]);
    let ran = pty::run(&farm.0.house, 80, &["tools", "--wait", "500ms"], &[]);
    let lines: Vec<&str> = ran.out.lines().filter(|line| line.contains("[unavailable]")).collect();
    assert!(1 < lines.len(), "{}", ran.out);
    for line in lines {
        let plain = uncoloured(line);
        assert!(plain.chars().count() <= 80 && !plain.ends_with(' '), "{plain:?}");
    }
    farm.0.is_empty();
}

#[test]
fn f75_a_server_that_cannot_be_listed_is_told_with_its_reason() {
    let farm = Farm::of("x", &["--fault", "c15:broken"]);
    farm.add("good", &[]);
    let reason = "the list is broken";
    for args in [&["tools"][..], &["prompt"], &["cost"]] {
        let ran = farm.house.run(args).exits(0);
        assert!(
            ran.err.contains("error[list_failed]: x: tools cannot be listed") && ran.err.contains(reason),
            "{ran:?}"
        );
    }
    let ran = farm.house.run(&["doctor", "--provider", "openai"]).exits(4);
    assert!(ran.err.contains(reason), "{ran:?}");
    let alone = farm.house.run(&["tools", "x", "--json"]).exits(4);
    let fault = faults(&alone).remove(0);
    assert_eq!((&fault["kind"], &fault["server"]), (&json!("list_failed"), &json!("x")), "{fault}");
    // One who asks for a tool of it hears why there is none.
    for command in ["show", "call"] {
        farm.house.run(&[command, "x/one"]).fails(4, reason);
        farm.house.run(&[command, "mcp_x_one"]).fails(4, reason);
    }
    let called = farm.house.run(&["call", "x/one", "--json"]).exits(4).json();
    assert_eq!((&called["kind"], &called["meta"]["server"]), (&json!("unavailable"), &json!("x")));
    let why = farm.house.run(&["why", "x/one"]).exits(4);
    assert!(why.out.contains(reason) && why.out.contains("kitbag logs x"), "{why:?}");
    // The others are as they were.
    farm.house.run(&["call", "good/echo", "message=hi"]).exits(0);
    let row = status(&farm, "x");
    assert_eq!((&row["state"], &row["tools"]), (&json!("degraded"), &Value::Null));
    assert_eq!(noted(&row["notes"], "list_failed").unwrap()["severity"], "error");
    farm.is_empty();
}

#[test]
fn f83_status_counts_the_tools_that_can_be_used() {
    let farm = Farm::of("x", &["--fault", "c06"]);
    let row = status(&farm, "x");
    let rows = farm.house.run(&["tools", "x", "--json"]).exits(0).json();
    assert_eq!(row["tools"], rows.as_array().unwrap().len(), "{row}");
    let left_out = row["left_out"].as_u64().unwrap();
    let dropped = row["notes"].as_array().unwrap().iter().filter(|note| note["code"] == "bad_tool").count();
    assert!(0 < left_out && left_out == dropped as u64, "{row}");
    let text = farm.house.run(&["status"]).exits(0).out;
    assert!(text.contains(&format!("{} ({left_out} left out)", row["tools"])), "{text}");
    farm.is_empty();
}

#[test]
fn f83_a_tool_that_is_left_out_is_named_once() {
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h12"]);
    let err = hosted.farm.house.run(&["tools", "--verbose"]).exits(0).err;
    let told: Vec<&str> = err.lines().filter(|line| line.contains("left out")).collect();
    assert_eq!(told.len(), 6, "{err}");
    for line in told {
        assert!(line.starts_with("warning[bad_tool]: x: the tool \""), "{line}");
        assert_eq!(line.matches("left out").count(), 1, "{line}");
    }
}

#[test]
fn f83_what_a_server_did_wrong_is_said_in_plain_words() {
    let rows: [(&[&str], &[&str], i32, &str); 4] = [
        (
            &["--fault", "c10"],
            &["call", "x/result_null"],
            13,
            "the answer cannot be used: not a JSON-RPC message",
        ),
        (
            &["--era", "legacy", "--fault", "s16:none"],
            &["call", "x/echo"],
            4,
            "initialize has no protocolVersion",
        ),
        (
            &[],
            &["call", "x/sleep", "ms=600000", "--timeout", "1100ms"],
            9,
            "no answer within 1.1s (timeout of the call)",
        ),
        (&["--era", "legacy", "--fault", "s16:future"], &["call", "x/echo"], 4, "; Kitbag speaks 2024-11-05"),
    ];
    for (server, args, code, words) in rows {
        let farm = Farm::of("x", server);
        let err = farm.house.run(args).fails(code, words).err;
        for riddle in ["gave no result", "is no answer", "\"none\""] {
            assert!(!err.contains(riddle), "{err}");
        }
        farm.is_empty();
    }
}

#[test]
fn what_is_told_fits_a_terminal() {
    let farm = Farm::of("acme", &["--fault", "c02"]);
    farm.add("endless", &["--fault", "s21:same"]);
    farm.add("mute", &["--fault", "c15:broken"]);
    for (name, args) in [
        ("status", &["status"][..]),
        ("status_of_one", &["status", "acme"]),
        ("tools", &["tools", "acme", "endless", "mute"]),
        ("show", &["show", "acme/hidden_text"]),
        ("why", &["why", "mute/one"]),
    ] {
        let plain = uncoloured(&pty::run(&farm.house, 80, args, &[]).out);
        let plain: String = plain.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        insta::assert_snapshot!(format!("told_{name}"), plain);
        let stays = |line: &&str| line.chars().count() <= 80 || !line.starts_with(' ');
        assert!(plain.lines().all(|line| stays(&line)), "{plain}");
    }
    farm.is_empty();
}
