//! T32: what a folder's files would start is shown, and runs only when somebody approved just that.

use serde_json::{Value, json};

use crate::house::{House, Runs as _};
use crate::pty::{self, Step};

fn project(entry: &Value) -> String {
    json!({"mcpServers": {"p": entry}}).to_string()
}

#[test]
fn t32_every_project_file_is_shown_and_held() {
    for (file, text) in [
        (".mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        ("mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".vscode/mcp.json", r#"{"servers": {"p": {"command": "x"}}}"#),
        (".cursor/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".roo/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".zed/settings.json", r#"{"context_servers": {"p": {"command": "x"}}}"#),
        (".codex/config.toml", "[mcp_servers.p]\ncommand = \"x\"\n"),
        (".gemini/settings.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".qwen/settings.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".kiro/settings/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        ("opencode.json", r#"{"mcp": {"p": {"type": "local", "command": ["x"]}}}"#),
        ("crush.json", r#"{"mcp": {"p": {"command": "x"}}}"#),
        ("librechat.yaml", "mcpServers:\n  p:\n    command: x\n"),
        ("mcp_agent.config.yaml", "mcp:\n  servers:\n    p:\n      command: x\n"),
    ] {
        let house = House::new();
        house.put(&format!("project/{file}"), text);
        assert_eq!(house.states(&[]), "p=held", "{file}");
        assert_eq!(house.states(&["--hosts", "all"]), "p=held", "{file}");
        let trust = house.run(&["trust"]).exits(0);
        assert!(trust.out.contains("command = x") && trust.out.contains(file), "{file}: {}", trust.out);
        house.run(&["trust", "p"]).exits(0);
        assert_eq!(house.states(&[]), "p=used", "{file}");
        // In another folder the same words were not approved.
        house.put(&format!("elsewhere/{file}"), text);
        let ran = house.ask(&["servers", "list", "--json"]).cwd(house.path("elsewhere")).run().exits(0);
        assert_eq!(ran.json()[0]["state"], "held", "{file}");
    }
}

#[test]
fn t32_an_approval_is_void_when_anything_that_runs_changes() {
    let local = json!({"command": "x", "args": ["a", "b"], "env": {"K": "v"}, "cwd": "/srv", "envFile": ".env.local", "description": "d"});
    let remote = json!({"url": "https://r.example.com/mcp", "headers": {"X-A": "1"}, "type": "http"});
    let changes: [(&Value, &str, Value); 16] = [
        (&local, "command", json!("y")),
        (&local, "args", json!(["a"])),
        (&local, "args", json!(["b", "a"])),
        (&local, "args", json!(["ab"])),
        (&local, "env", json!({"K": "w"})),
        (&local, "env", json!({"K": "v", "LD_PRELOAD": "evil.so"})),
        (&local, "env", json!({})),
        (&local, "env", json!({"K2": "v"})),
        (&local, "cwd", json!("/tmp")),
        (&local, "envFile", json!(".env.other")),
        (&local, "envFile", Value::Null),
        (&remote, "url", json!("https://evil.example.com/mcp")),
        (&remote, "headers", json!({"X-A": "2"})),
        (&remote, "headers", json!({"X-A": "1", "X-B": "1"})),
        (&remote, "headers", json!({})),
        (&remote, "type", json!("sse")),
    ];
    for (entry, key, value) in changes {
        let house = House::new();
        house.put("project/.mcp.json", project(entry));
        house.run(&["trust", "p"]).exits(0);
        assert_eq!(house.states(&[]), "p=used");
        let mut changed = entry.clone();
        changed[key] = value.clone();
        house.put("project/.mcp.json", project(&changed));
        assert_eq!(house.states(&[]), "p=held", "{key} = {value}");
        // And back: just what was approved.
        house.put("project/.mcp.json", project(entry));
        assert_eq!(house.states(&[]), "p=used");
    }
}

#[test]
fn t32_an_approval_survives_what_does_not_run() {
    let house = House::new();
    house.put("project/.mcp.json", project(&json!({"command": "x", "args": ["a"]})));
    house.run(&["trust", "p"]).exits(0);
    house.put("project/.mcp.json", "{\n\n // moved\n \"mcpServers\": {\"new\": {\"command\": \"z\"}, \"p\": {\"args\": [\"a\"], \"description\": \"d\", \"command\": \"x\"}}}");
    assert_eq!(house.states(&[]), "p=used new=held");
}

#[test]
fn t32_an_approval_is_bound_to_its_file() {
    let house = House::new();
    let text = project(&json!({"command": "x"}));
    house.put("project/.mcp.json", &text);
    house.run(&["trust", "p"]).exits(0);
    std::fs::remove_file(house.path("project/.mcp.json")).unwrap();
    house.put("project/mcp.json", &text);
    assert_eq!(house.states(&[]), "p=held");
    // Another name for the same words is not approved either.
    house.put("project/.mcp.json", text.replace("\"p\"", "\"q\""));
    assert!(house.states(&[]).contains("q=held"));
}

#[test]
fn t32_a_value_of_the_folders_dot_env_is_part_of_the_approval() {
    let house = House::new();
    house.put(
        "project/.mcp.json",
        project(&json!({"command": "${TOOL}", "args": ["${REST:-x}"], "env": {"A": "${OTHER}"}})),
    );
    house.put("project/.env", "TOOL=good\nUNRELATED=1\n");
    house.run(&["trust", "p"]).exits(0);
    assert_eq!(house.states(&[]), "p=used");
    house.put("project/.env", "TOOL=good\nUNRELATED=2\n");
    assert_eq!(house.states(&[]), "p=used", "a variable nobody refers to");
    for text in ["TOOL=evil\n", "TOOL=good\nREST=evil\n", "TOOL=good\nOTHER=evil\n", ""] {
        house.put("project/.env", text);
        assert_eq!(house.states(&[]), "p=held", "{text:?}");
    }
    // The environment is the user's own; it beats the folder's file, which then gives nothing.
    house.put("project/.env", "TOOL=good\n");
    let ran = house.ask(&["servers", "list", "--json"]).env("TOOL", "mine").run().exits(0);
    assert_eq!(ran.json()[0]["state"], "held", "approved was another value");
}

#[test]
fn t32_the_folders_dot_env_speaks_to_its_own_servers_only() {
    let house = House::new();
    house.put(
        "kit/config/mcp.json",
        r#"{"mcpServers": {"own": {"command": "true", "env": {"A": "${FROM_FOLDER}"}}}}"#,
    );
    house.put("project/.env", "FROM_FOLDER=evil\n");
    house.run(&["doctor"]).exits(3);
    house.ask(&["doctor"]).env("FROM_FOLDER", "mine").run().exits(0);
}

#[test]
fn t32_a_held_entry_neither_shadows_nor_switches_our_own() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"p": {"command": "ours"}, "off": {"command": "x", "enabled": false}, "on": {"command": "x"}}}"#);
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "theirs"}, "off": {"enabled": true}, "on": {"enabled": false}, "on2": {"command": "x"}}}"#);
    assert_eq!(house.states(&[]), "off=disabled on=used p=used on2=held p=held");
    assert_eq!(house.run(&["servers", "show", "p", "--json"]).exits(0).json()["command"], "ours");
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "theirs", "disabled": true}}}"#);
    assert!(house.states(&[]).starts_with("off=disabled on=used p=used"));
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "theirs"}}}"#);
    house.run(&["trust", "p"]).exits(0);
    assert_eq!(house.run(&["servers", "show", "p", "--json"]).exits(0).json()["command"], "theirs");
}

#[test]
fn t32_a_damaged_file_of_approvals_approves_nothing() {
    let house = House::new();
    house.put("project/.mcp.json", project(&json!({"command": "x"})));
    house.run(&["trust", "p"]).exits(0);
    let good = house.text("kit/state/trust.json");
    for text in [
        &good.as_bytes()[..good.len() - 5],
        b"{}",
        b"[]",
        b"null",
        b"\"p\"",
        b"\xff\xfe\x00",
        b"{\"version\": 1, \"approvals\": 5}",
    ] {
        house.put("kit/state/trust.json", text);
        let ran = house.run(&["servers", "list", "--json"]).exits(0);
        assert_eq!(ran.json()[0]["state"], "held", "{:?}", String::from_utf8_lossy(text));
        assert!(ran.err.contains("trust.json") && ran.err.contains("kitbag trust"), "{}", ran.err);
    }
    house.run(&["trust", "p"]).exits(0);
    assert_eq!(house.text("kit/state/trust.json"), good);
}

#[test]
fn t32_approvals_can_be_taken_back() {
    let house = House::new();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}, "q": {"command": "y"}}}"#);
    house.run(&["trust", "--all"]).exits(0);
    assert_eq!(house.states(&[]), "p=used q=used");
    let list = house.run(&["trust", "--list", "--json"]).exits(0).json();
    assert_eq!(list.as_array().unwrap().len(), 2, "{list}");
    house.run(&["trust", "--revoke", "p"]).exits(0);
    assert_eq!(house.states(&[]), "q=used p=held");
    house.run(&["trust", "--revoke", "p"]).fails(5, "p");
    house.run(&["trust", "nobody"]).fails(5, "nobody");
    house.run(&["trust", "--revoke"]).fails(2, "nothing to revoke is named");
    // One that is not there approves none of the others.
    house.run(&["trust", "p", "nobody"]).fails(5, "nobody");
    assert_eq!(house.states(&[]), "q=used p=held");
}

#[test]
fn t32_without_a_terminal_and_without_names_nothing_is_approved() {
    let house = House::new();
    house.put("project/.mcp.json", project(&json!({"command": "x"})));
    for args in [&["trust"][..], &["trust", "--json"], &["trust", "--quiet"]] {
        house.ask(args).input("y\ny\ny\n").run().exits(0);
    }
    assert_eq!(house.states(&[]), "p=held");
    assert!(!house.path("kit/state/trust.json").exists());
}

#[test]
fn t32_on_a_terminal_each_one_is_asked_for() {
    let house = House::new();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}, "q": {"command": "y"}}}"#);
    let ran = pty::run(
        &house,
        100,
        &["trust"],
        &[Step::Shown("Approve this server?", "y"), Step::Shown("Approve this server?", "")],
    );
    assert_eq!(ran.err, "", "{}", ran.out);
    assert!(ran.out.contains("command = x") && ran.out.contains("command = y"), "{}", ran.out);
    assert_eq!(house.states(&[]), "p=used q=held");
}

#[test]
fn t32_nothing_is_handed_to_a_shell() {
    let house = House::new();
    let args = json!(["$(touch x)", "`touch y`", "; touch z", "a b", "| cat", "&& touch v"]);
    house.put(
        "project/.mcp.json",
        project(&json!({"command": "true; touch q", "args": args, "env": {"K": "$(touch u)"}})),
    );
    house.run(&["trust", "p"]).exits(0);
    let shown = house.run(&["servers", "show", "p", "--json"]).exits(0).json();
    assert_eq!(shown["args"], args);
    assert_eq!(shown["command"], "true; touch q");
    let ran = house.run(&["doctor"]).exits(3);
    assert!(ran.err.contains("true; touch q"), "{}", ran.err);
    house.run::<&str>(&[]).exits(0);
    let left: Vec<_> =
        std::fs::read_dir(house.path("project")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [".mcp.json"]);
}

#[test]
fn t32_a_folders_settings_have_no_effect_before_approval() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"own": {"command": "x"}}}"#);
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "x"}}}"#);
    house.put("project/more.json", r#"{"mcpServers": {"m": {"command": "x"}}}"#);
    house.put("project/data/d.json", r#"{"name": "d", "command": "x"}"#);
    house.put("project/data/user_eve/e.json", r#"{"name": "e", "command": "x"}"#);
    let settings = "[sources]\nhosts = [\"cursor\"]\nfiles = [\"more.json\"]\nservers_dir = \"data\"\n[servers.own]\nenabled = false\n[users.mallory]\n[agents.a]\n";
    house.put("project/kitbag.toml", settings);
    assert_eq!(house.states(&[]), "own=used c=found");
    house.run(&["servers", "list", "--user", "mallory"]).fails(5, "mallory");
    house.run(&["servers", "list", "--user", "eve"]).fails(5, "eve");
    house.run(&["servers", "list", "--agent", "a"]).fails(5, "\"a\"");
    let trust = house.run(&["trust"]).exits(0);
    assert!(
        trust.out.contains("kitbag.toml") && trust.out.contains("[servers.own]"),
        "the settings in full: {}",
        trust.out
    );
    house.run(&["trust", "kitbag.toml"]).exits(0);
    // Settings count; servers that they bring wait for an approval of their own.
    assert_eq!(house.states(&[]), "c=used own=disabled d=held m=held");
    assert!(house.states(&["--user", "eve"]).contains("e=held"));
    house.put("project/kitbag.toml", settings.replace("[users.mallory]", "[users.other]"));
    assert_eq!(house.states(&[]), "own=used c=found");
}

#[test]
fn t32_a_folder_is_not_ours_because_home_is_unknown() {
    let house = House::new();
    house.put("project/.config/kitbag/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#);
    house.put("project/.cursor/mcp.json", r#"{"mcpServers": {"q": {"command": "x"}}}"#);
    for home in [None, Some(""), Some(" ")] {
        let mut run = house.ask(&["servers", "list", "--json"]).without("KITBAG_HOME").without("HOME");
        if let Some(home) = home {
            run = run.env("HOME", home);
        }
        // Whatever is found in the real home of whoever runs the tests is not this test's business.
        let rows = run.run().exits(0).json();
        let used = |name: &str| {
            rows.as_array().unwrap().iter().any(|row| row["name"] == name && row["state"] == "used")
        };
        assert!(!used("p") && !used("q"), "{home:?}: {rows}");
    }
}

#[test]
fn t32_a_broken_entry_of_the_folder_hides_none_of_our_own() {
    let house = House::new();
    house.run(&["servers", "add", "time", "--", "x"]).exits(0);
    house.put("project/mcp.json", r#"{"mcpServers": {"time": {}}}"#);
    let rows = house.rows(&[]);
    assert!(rows.iter().any(|row| row["name"] == "time" && row["state"] == "used"), "{rows:?}");
    // Nor does one in a file of another program that nobody asked to use.
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"time": {"args": 1}}}"#);
    let rows = house.rows(&[]);
    assert!(rows.iter().any(|row| row["name"] == "time" && row["state"] == "used"), "{rows:?}");
}

#[test]
fn t32_what_stands_in_for_a_variable_is_shown_before_it_is_approved() {
    let house = House::new();
    let entry = json!({"command": "${NOPE:-/bin/sh}", "args": ["-c", "${M:-curl evil}"], "env": {"NODE_OPTIONS": "--require evil.js"}});
    house.put("project/.mcp.json", project(&entry));
    let shown = house.run(&["trust"]).exits(0).out;
    let json = house.run(&["trust", "--json"]).exits(0).out;
    for text in ["/bin/sh", "curl evil", "--require evil.js"] {
        assert!(shown.contains(text) && json.contains(text), "{text} is not in {shown} and {json}");
    }
}

#[test]
fn t32_one_name_in_two_files_is_not_approved_by_name_alone() {
    let house = House::new();
    house.put("project/.mcp.json", project(&json!({"command": "good"})));
    house.put("project/.cursor/mcp.json", project(&json!({"command": "evil"})));
    house.run(&["trust", "p"]).fails(5, "--from");
    house.run(&["trust", "p", "--from", ".mcp.json"]).exits(0);
    let used: Vec<Value> = house.rows(&[]).into_iter().filter(|row| row["state"] == "used").collect();
    assert_eq!(used.len(), 1, "{used:?}");
    assert!(house.run(&["servers", "show", "p"]).exits(0).out.contains("good"));
}

#[test]
fn t32_a_dot_env_of_the_folder_switches_nothing_off() {
    let house = House::new();
    house.put("project/.env", "AGENT_ENABLE_MCP=no\n");
    assert!(!house.run::<&str>(&[]).exits(0).out.contains("switched off"));
}
