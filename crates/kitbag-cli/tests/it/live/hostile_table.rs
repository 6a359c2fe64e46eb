//! Every misbehaviour of the fake server, over pipes and HTTP, through the binary: what is listed, what a call gets, and
//! where it is told. `docs/hostile.md` is that table; the test fails when it is not what happens.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::house::{Ran, Runs as _};
use crate::live::Hosted;

/// The bounds and timeouts of every row, so that huge and slow things are cheap to show.
const SETTINGS: &str = r#"
[wait]
agent = "10s"
stdio = "3s"
http = "3s"
list = "3s"
idle = "1500ms"
total = "2500ms"
[limits]
probe = "600ms"
restart_first = "20ms"
restart_most = "200ms"
resume = "20ms"
line = "4MiB"
pages = 10
tools = 500
depth = 64
"#;

/// Modes that are cheaper than the default ones and show the same.
const CHEAPER: &[(&str, &str)] = &[
    ("s02", "s02:8"),
    ("s02:noid", "s02:8,noid"),
    ("s03", "s03:8"),
    ("s03:idlast", "s03:8,idlast"),
    ("s04", "s04:2"),
    ("s04:line", "s04:2,line"),
    ("s19", "s19:2000"),
    ("s22", "s22:600,400"),
    ("s24", "s24:5000"),
    ("s29", "s29:300"),
    ("h03", "h03:8"),
    ("h08", "h08:8"),
];

/// What is called where the fault has tools of its own.
const TOOLS: &[(&str, &str, &str)] = &[
    ("c02", "plain", r#"{"text": "a"}"#),
    ("c03", "say", r#"{"text": "a"}"#),
    ("c05", "get-file", r#"{"text": "a"}"#),
    ("c06", "middle", "{}"),
    ("c07", "wipe", "{}"),
    ("c08", "tree", r#"{"root": {"value": "a"}}"#),
    ("c09", "local", r#"{"a": "b"}"#),
    ("c15", "one", r#"{"argument_1": "a"}"#),
    ("c16", "bulk", r#"{"kind": "text", "size": 200}"#),
    ("h12", "marked", r#"{"query": "q"}"#),
    ("h16", "private_nobody", "{}"),
];

/// Faults of the process, which end it at start.
const ENDS_AT_START: &[&str] = &["s08", "s09"];

/// One row of the table.
struct Row {
    wire: &'static str,
    /// The label and mode, as the fake server lists them.
    fault: String,
    about: String,
    /// The tool that is called, where the fault has one for each of its ways.
    tool: Option<String>,
}

/// What happened.
struct Seen {
    tools: String,
    answer: String,
    kind: String,
    exit: String,
    told: String,
}

#[test]
fn every_hostile_behaviour_is_what_the_table_says() {
    let rows: Vec<Row> = rows("stdio", "--list-faults").chain(rows("http", "--list-http-faults")).collect();
    assert!(100 < rows.len(), "{} rows", rows.len());
    let table = render(&rows, &seen_of_all(&rows));
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/hostile.md"));
    if std::env::var_os("KITBAG_WRITE_DOCS").is_some() {
        std::fs::write(&file, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let differs: Vec<String> =
        diff(&kept, &table).into_iter().map(|(sign, line)| format!("{sign} {line}")).collect();
    assert!(differs.is_empty(), "docs/hostile.md says (-) and the program does (+):\n{}", differs.join("\n"));
}

/// The lines that only one of both has.
fn diff<'a>(kept: &'a str, now: &'a str) -> Vec<(char, &'a str)> {
    let only = |one: &'a str, other: &'a str, sign: char| {
        let others: std::collections::HashSet<&str> = other.lines().collect();
        one.lines().filter(move |line| !others.contains(line)).map(move |line| (sign, line))
    };
    only(kept, now, '-').collect::<Vec<_>>().into_iter().chain(only(now, kept, '+')).collect()
}

/// Every label, and every label with each of its modes, as the fake server lists them.
fn rows(wire: &'static str, list: &str) -> impl Iterator<Item = Row> {
    let output = std::process::Command::new(testkit::bin("fake-mcp")).arg(list).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.into_iter().flat_map(move |line| {
        let (label, rest) = line.split_once("  [").unwrap();
        let (modes, about) = rest.split_once("]  ").unwrap();
        let modes = modes.split(',').filter(|mode| !mode.is_empty() && *mode != "N");
        let faults = [label.to_owned()].into_iter().chain(modes.map(|mode| format!("{label}:{mode}")));
        let row = |fault: String| {
            let about = if fault == label { about.to_owned() } else { String::new() };
            Row { wire, fault, about, tool: None }
        };
        let rows: Vec<Row> = faults.map(row).flat_map(one_for_each_tool).collect();
        rows
    })
}

/// c10 has a tool for every broken result.
fn one_for_each_tool(row: Row) -> Vec<Row> {
    if row.fault != "c10" {
        return vec![row];
    }
    let place = place(&row);
    let listed = place.farm.house.ask(&["tools", "--json", "x"]).run();
    let listed = listed.json();
    let names = listed.as_array().unwrap().iter().filter(|tool| tool["server"] == "x");
    let names = names.map(|tool| tool["tool"].as_str().unwrap().to_owned());
    let row = |(at, tool): (usize, String)| Row {
        tool: Some(tool),
        about: if at == 0 { row.about.clone() } else { String::new() },
        fault: row.fault.clone(),
        wire: row.wire,
    };
    names.enumerate().map(row).collect()
}

/// A home with the hostile server `x` and a good one.
fn place(row: &Row) -> Hosted {
    let hosted = Hosted::new();
    hosted.farm.settings(SETTINGS);
    hosted.farm.add("good", &[]);
    let cheaper = CHEAPER.iter().find(|(fault, _)| *fault == row.fault);
    let fault = cheaper.map_or(row.fault.as_str(), |(_, cheaper)| cheaper);
    if row.wire == "stdio" {
        hosted.farm.add_with(
            "x",
            &["--fault", fault],
            &json!({"env": {"FAKE_SECRET": "s3cr3t-of-x-0123456789"}}),
        );
        return hosted;
    }
    let elsewhere = hosted.host("elsewhere", &["--canary"]);
    let mut args = vec!["--fault", fault, "--elsewhere", &elsewhere];
    let mut keys = json!({});
    if row.fault.starts_with("h11") {
        args.push("--sse");
        keys["type"] = "sse".into();
    }
    // What ends before it listens leaves an address where nobody is.
    let is_gone = ENDS_AT_START.contains(&row.fault.split(':').next().unwrap());
    if is_gone {
        args.drain(..2);
    }
    hosted.add("x", &args, &keys);
    if is_gone {
        hosted.crash("x");
    }
    hosted
}

fn seen_of_all(rows: &[Row]) -> Vec<Seen> {
    let waiting: Mutex<VecDeque<usize>> = Mutex::new((0..rows.len()).collect());
    let done: Mutex<Vec<Option<Seen>>> = Mutex::new(rows.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(at) = next else { break };
                    let seen = look(&rows[at]);
                    done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(seen);
                }
            });
        }
    });
    done.into_inner().unwrap().into_iter().map(Option::unwrap).collect()
}

fn look(row: &Row) -> Seen {
    let place = place(row);
    let house = &place.farm.house;
    let (tool, arguments) = called(row);
    let call = house.ask(&["call", &format!("x/{tool}"), "--json", "--args", &arguments]).run();
    let tools = house.ask(&["tools", "--json"]).run();
    let status = house.ask(&["status", "--json"]).run();
    let of = |ran: &Ran, name: &str| -> Vec<Value> {
        let rows = serde_json::from_str(&ran.out).unwrap_or(Value::Null);
        rows.as_array().into_iter().flatten().filter(|row| row["server"] == name).cloned().collect()
    };
    // Whatever the other does, the good one is as if alone.
    assert_eq!(of(&tools, "good").len(), 23, "{} {}: {tools:?}", row.wire, row.fault);
    assert_eq!(of(&status, "good")[0]["state"], "ready", "{} {}", row.wire, row.fault);
    let (listed, state) = (of(&tools, "x"), of(&status, "x").remove(0));
    let outcome: Value = serde_json::from_str(&call.out).unwrap_or(Value::Null);
    let log = place.farm.log("x");
    let is_told = |place: &'static str, told: bool| told.then_some(place);
    let notes = |value: &Value| value["notes"].as_array().is_some_and(|notes| !notes.is_empty());
    let told = [
        is_told("call", outcome["ok"] != true || notes(&outcome["meta"])),
        is_told(
            "tools",
            tools.err.contains("x: ") || tools.err.contains("\"x\"") || listed.iter().any(notes),
        ),
        is_told("status", !state["error"].is_null() || notes(&state) || state["noise"].as_u64() != Some(0)),
        is_told("log", ["WARNING", "ERROR", "output that is"].iter().any(|word| log.contains(word))),
    ];
    Seen {
        tools: format!("{} ({})", listed.len(), state["state"].as_str().unwrap_or_default()),
        answer: answer(&outcome, &call),
        kind: outcome["kind"].as_str().unwrap_or("–").to_owned(),
        exit: call.code.map_or("–".to_owned(), |code| code.to_string()),
        told: told.into_iter().flatten().collect::<Vec<_>>().join(", "),
    }
}

fn called(row: &Row) -> (String, String) {
    if let Some(tool) = &row.tool {
        return (tool.clone(), "{}".to_owned());
    }
    let own = TOOLS.iter().find(|(fault, ..)| row.fault.split(':').next() == Some(fault));
    own.map_or(("echo".to_owned(), r#"{"message": "a"}"#.to_owned()), |(_, tool, arguments)| {
        ((*tool).to_owned(), (*arguments).to_owned())
    })
}

/// The beginning of what a caller reads, free of what differs from run to run.
fn answer(outcome: &Value, ran: &Ran) -> String {
    let text = match outcome["ok"].as_bool() {
        Some(true) => {
            let notes = outcome["meta"]["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
            ["the answer"].into_iter().chain(notes).collect::<Vec<_>>().join("; ")
        }
        _ if outcome["kind"] == "tool_error" => {
            let said = outcome["content"][0]["text"].as_str().unwrap_or_default();
            format!("the tool's own error {said:?}")
        }
        _ => outcome["message"].as_str().map_or_else(|| ran.all(), str::to_owned),
    };
    let text = text.lines().next().unwrap_or_default().replace('|', "\\|");
    let text = without_ports(&text);
    let short: String = text.chars().take(160).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

/// Every test has ports of its own.
fn without_ports(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        clean.push_str("127.0.0.1:PORT");
        clean.push_str(part.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    }
    clean
}

fn render(rows: &[Row], seen: &[Seen]) -> String {
    let mut text = HEAD.to_owned();
    for wire in ["stdio", "http"] {
        text.push_str(&format!("\n## Over {wire}\n\n{COLUMNS}"));
        for (row, seen) in rows.iter().zip(seen).filter(|(row, _)| row.wire == wire) {
            let tool = row.tool.as_ref().map(|tool| format!(" `{tool}`")).unwrap_or_default();
            let Seen { tools, answer, kind, exit, told } = seen;
            let about = row.about.replace('|', "\\|");
            text.push_str(&format!(
                "| {}{tool} | {about} | {tools} | {answer} | {kind} | {exit} | {told} |\n",
                row.fault
            ));
        }
    }
    text
}

const COLUMNS: &str = "| fault | what the server does | tools listed (state) | `kitbag call` | kind | exit code | told in |\n|---|---|---|---|---|---|---|\n";

const HEAD: &str = "# Hostile and odd servers

What Kitbag makes of every misbehaviour of `fake-mcp`, the server of the test kit. Each row is one server with one fault
beside a good one, which lists and works as if it were alone. Three commands are run: `kitbag call` of one of its tools,
`kitbag tools` and `kitbag status`. Limits and timeouts are lowered, so that the largest and slowest rows are cheap to
repeat. The last column says where a person finds out: in the answer of the call, in `tools`, in `status`, in the log.

This page is generated by `cargo xtask docs`; the test `every_hostile_behaviour_is_what_the_table_says` compares it with
what happens.
";
