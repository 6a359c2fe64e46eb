//! A project is the same project from every folder below its root.

use serde_json::{Value, json};

use crate::house::{House, Ran, Runs as _, states};

/// A repository with a folder deep inside.
fn repository() -> House {
    let house = House::new();
    house.put("project/.git/HEAD", "ref: refs/heads/main\n");
    house.put("project/src/deep/file", "");
    house
}

fn below(house: &House, args: &[&str]) -> Ran {
    house.ask(args).cwd(house.path("project/src/deep")).run()
}

#[track_caller]
fn states_below(house: &House) -> String {
    states(below(house, &["servers", "list", "--json"]).exits(0).json().as_array().unwrap())
}

#[test]
fn f58_project_files_are_found_from_a_folder_below() {
    for (file, text) in [
        (".mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".cursor/mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#),
        (".vscode/mcp.json", r#"{"servers": {"p": {"command": "x"}}}"#),
    ] {
        let house = repository();
        house.put(&format!("project/{file}"), text);
        assert_eq!(states_below(&house), "p=held", "{file}");
        // One approval holds for all folders, wherever it was given.
        below(&house, &["trust", "p"]).exits(0);
        assert_eq!((states_below(&house), house.states(&[])), ("p=used".into(), "p=used".into()), "{file}");
        house.run(&["trust", "--revoke", "p"]).exits(0);
        assert_eq!(states_below(&house), "p=held", "{file}");
    }
}

#[test]
fn f58_nothing_above_the_repository_or_without_one_is_read() {
    let house = repository();
    house.put(".mcp.json", r#"{"mcpServers": {"above": {"command": "x"}}}"#);
    assert_eq!(states_below(&house), "");
    std::fs::remove_dir_all(house.path("project/.git")).unwrap();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#);
    assert_eq!(states_below(&house), "", "no repository: the working folder alone");
    assert_eq!(house.states(&[]), "p=held");
}

#[test]
fn f58_the_nearest_file_wins() {
    let house = repository();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "far"}, "q": {"command": "q"}}}"#);
    house.put("project/src/deep/.mcp.json", r#"{"mcpServers": {"p": {"command": "near"}}}"#);
    below(&house, &["trust", "--all"]).exits(0);
    let shown = below(&house, &["servers", "show", "p", "--json"]).exits(0).json();
    assert_eq!(shown["command"], "near");
    assert_eq!(house.run(&["servers", "show", "p", "--json"]).exits(0).json()["command"], "far");
}

#[test]
fn f58_a_server_of_the_project_runs_where_its_file_lies() {
    let house = repository();
    house.put("project/.env", "WORD=of-the-root\n");
    house.put("project/vars.env", "FROM_FILE=yes\n");
    house.put("project/tool", "#!/bin/sh\npwd > seen\necho \"$WORD $HERE $FROM_FILE\" >> seen\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(house.path("project/tool"), mode).unwrap();
    let entry = json!({"command": "./tool", "env": {"WORD": "${WORD}", "HERE": "${workspaceFolder}"}, "envFile": "vars.env"});
    house.put("project/.mcp.json", json!({"mcpServers": {"p": entry}}).to_string());
    house.run(&["trust", "p"]).exits(0);
    assert_eq!(states_below(&house), "p=used", "the approval covers the same .env");
    below(&house, &["tools", "--wait", "10s"]);
    let root = house.at("project");
    assert_eq!(house.text("project/seen"), format!("{root}\nof-the-root {root} yes\n"));
}

#[test]
fn f58_settings_of_every_folder_of_the_project_wait_for_approval() {
    let house = repository();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"s": {"command": "x"}, "t": {"command": "x"}}}"#);
    house.put("project/kitbag.toml", "[servers.s]\nenabled = false\n");
    house.put("project/src/deep/kitbag.toml", "[servers.t]\nenabled = false\n");
    assert_eq!(states_below(&house), "s=used t=used");
    let twice = below(&house, &["trust", "kitbag.toml"]).fails(5, "and in");
    assert!(twice.err.contains("--from"), "{}", twice.err);
    below(&house, &["trust", "kitbag.toml", "--from", &house.at("project/kitbag.toml")]).exits(0);
    // What is held below lifts nothing of what was approved above.
    assert_eq!(states_below(&house), "s=disabled t=used");
    below(&house, &["trust", "--all"]).exits(0);
    assert_eq!(states_below(&house), "s=disabled t=disabled");
}

#[test]
fn f58_every_approval_of_a_project_is_taken_back_at_once() {
    let house = repository();
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}, "q": {"command": "x"}}}"#);
    house.put("other/.mcp.json", r#"{"mcpServers": {"o": {"command": "x"}}}"#);
    house.run(&["trust", "--all"]).exits(0);
    house.ask(&["trust", "--all"]).cwd(house.path("other")).run().exits(0);
    house.run(&["trust", "--revoke"]).fails(2, "--revoke --all");
    below(&house, &["trust", "--revoke", "--all"]).exits(0);
    assert_eq!(house.states(&[]), "p=held q=held");
    let other = house.ask(&["servers", "list", "--json"]).cwd(house.path("other")).run().exits(0).json();
    assert_eq!(other[0]["state"], "used", "another project's stay");
}

#[test]
fn f58_claude_code_keeps_its_file_where_its_variable_says() {
    let house = House::new();
    house.put("home/moved/.claude.json", r#"{"mcpServers": {"moved": {"command": "x"}}}"#);
    house.put("home/.claude.json", r#"{"mcpServers": {"usual": {"command": "x"}}}"#);
    let list = |folder: &str| {
        let ran = house.ask(&["servers", "list", "--json"]).env("CLAUDE_CONFIG_DIR", folder).run().exits(0);
        states(ran.json().as_array().unwrap())
    };
    assert_eq!(list(&house.at("home/moved")), "moved=found");
    assert_eq!(list(""), "usual=found");
}

#[test]
fn f58_a_choice_without_an_answer_has_its_default() {
    let house = House::new();
    let file = |default: &str| -> Value {
        json!({
            "inputs": [
                {"id": "level", "type": "pickString", "description": "Level", "options": ["low", "high"], "default": default},
                {"id": "key", "type": "promptString", "description": "Key", "default": "offered"},
            ],
            "servers": {"p": {"command": "sh", "args": ["${input:level}"]}, "q": {"command": "sh", "args": ["${input:key}"]}},
        })
    };
    house.put("project/.vscode/mcp.json", file("low").to_string());
    house.run(&["trust", "--all"]).exits(0);
    let ran = house.run(&["doctor"]).exits(3);
    assert!(!ran.err.contains("\"level\"") && ran.err.contains("\"key\""), "{}", ran.err);
    // Another default is another server.
    house.put("project/.vscode/mcp.json", file("high").to_string());
    assert_eq!(house.states(&[]), "q=used p=held");
    // One that cannot be chosen is none.
    house.put("project/.vscode/mcp.json", file("other").to_string());
    house.run(&["trust", "--all"]).exits(0);
    assert!(house.run(&["doctor"]).exits(3).err.contains("\"level\""));
}

#[test]
fn f58_a_new_user_is_told_how_to_begin() {
    let house = House::new();
    let ran = house.run(&["servers", "add", "x", "--user", "ada", "foo"]);
    let ran = ran.fails(5, &format!("mkdir -p {}", house.at("kit/config/servers/user_ada")));
    assert!(ran.err.contains("[users.ada]"), "{}", ran.err);
}
