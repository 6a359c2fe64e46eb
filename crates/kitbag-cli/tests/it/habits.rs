//! The spellings people know from other programs.

use serde_json::{Value, json};

use crate::house::{House, Runs as _};

/// The entry that stands in Kitbag's own file.
#[track_caller]
fn entry(house: &House, name: &str) -> Value {
    let text = house.text("kit/config/mcp.json").replace("// mine", "");
    let file: Value = serde_json::from_str(&text).unwrap();
    file["mcpServers"][name].clone()
}

#[test]
fn f56_every_spelling_of_add() {
    let cases: [(&[&str], Value); 10] = [
        (&["x", "uvx", "foo"], json!({"command": "uvx", "args": ["foo"]})),
        (
            &["x", "npx", "-y", "foo", "--json", "-e"],
            json!({"command": "npx", "args": ["-y", "foo", "--json", "-e"]}),
        ),
        (
            &["x", "-e", "A=1", "--env", "B=2", "--", "foo"],
            json!({"command": "foo", "env": {"A": "1", "B": "2"}}),
        ),
        (&["-e", "A=1", "x", "foo"], json!({"command": "foo", "env": {"A": "1"}})),
        (&["x", "https://x.example.com/mcp"], json!({"url": "https://x.example.com/mcp"})),
        (
            &["--transport", "http", "x", "https://x.example.com/mcp", "--header", "A: b", "-H", "C: d"],
            json!({"url": "https://x.example.com/mcp", "transport": "http", "headers": {"A": "b", "C": "d"}}),
        ),
        (
            &[
                "x",
                "https://x.example.com/sse",
                "-t",
                "sse",
                "--scope",
                "user",
                "--bearer-token-env-var",
                "T",
            ],
            json!({"url": "https://x.example.com/sse", "transport": "sse", "auth": {"type": "bearer", "token": "${T}"}}),
        ),
        (
            &["x", "--transport", "stdio", "foo", "bar"],
            json!({"command": "foo", "args": ["bar"], "transport": "stdio"}),
        ),
        (&["x", r#"{"command": "foo", "args": ["bar"]}"#], json!({"command": "foo", "args": ["bar"]})),
        (&["--scope", "local", "x", "foo"], json!({"command": "foo"})),
    ];
    for (args, wanted) in cases {
        let house = House::new();
        house.run(&[&["servers", "add"], args].concat()).exits(0);
        assert_eq!(entry(&house, "x"), wanted, "{args:?}");
        assert_eq!(house.states(&[]), "x=used", "{args:?}");
    }
}

#[test]
fn f56_options_that_do_not_fit_are_refused() {
    let house = House::new();
    for args in [
        &["x", "https://x.example.com/mcp", "--env", "A=1"][..],
        &["x", "https://x.example.com/mcp", "--no-such-option"],
        &["x", "https://x.example.com/mcp", "word"],
        &["x", "--header", "A: b", "foo"],
        &["x", "--scope", "everywhere", "foo"],
        &["https://x.example.com/mcp"],
    ] {
        house.run(&[&["servers", "add"], args].concat()).fails(2, "error");
    }
    assert!(!house.path("kit/config/mcp.json").exists());
    let ran = house.run(&["servers", "add", "https://x.example.com/mcp"]).fails(2, "name");
    assert!(ran.err.contains("kitbag servers add <name> https://x.example.com/mcp"), "{}", ran.err);
}

#[test]
fn f56_a_piece_of_a_file_can_be_pasted() {
    for text in [
        "\"x\": {\"command\": \"foo\"},",
        "```json\n  \"x\": {\n    \"command\": \"foo\"\n  }\n```",
        "\"mcpServers\": {\"x\": {\"command\": \"foo\"}}",
    ] {
        let house = House::new();
        house.run(&["servers", "add", "--paste", text]).exits(0);
        assert_eq!(entry(&house, "x"), json!({"command": "foo"}), "{text}");
        let house = House::new();
        house.run(&["servers", "add", text]).exits(0);
        assert_eq!(house.states(&[]), "x=used", "{text}");
    }
    let house = House::new();
    let ran = house
        .run(&["servers", "add", "--paste", "\"x\": {\n  \"command\": oops\n}"])
        .fails(3, "nothing was added");
    assert!(ran.err.contains("<pasted>:2:14"), "{}", ran.err);
}

#[test]
fn f56_force_replaces_and_leaves_the_rest() {
    let house = House::new();
    house.put(
        "kit/config/mcp.json",
        "{\"mcpServers\": {\n  // mine\n  \"x\": {\"command\": \"old\"},\n  \"y\": {\"command\": \"y\"}\n}}",
    );
    house.put("kit/config/servers/z.json", r#"{"command": "old"}"#);
    let ran = house.run(&["servers", "add", "x", "new"]).fails(3, "already there");
    assert!(ran.err.contains("--force"), "{}", ran.err);
    house.run(&["servers", "add", "--force", "x", "new", "word"]).exits(0);
    assert_eq!(
        house.text("kit/config/mcp.json").replace(char::is_whitespace, ""),
        r#"{"mcpServers":{//mine"x":{"command":"new","args":["word"]},"y":{"command":"y"}}}"#
    );
    // One in a file of its own is replaced there.
    house.run(&["servers", "add", "z", "https://z.example.com/mcp", "--force"]).exits(0);
    assert!(house.text("kit/config/servers/z.json").contains("https://z.example.com/mcp"));
    assert_eq!(house.states(&[]), "x=used y=used z=used");
}

#[test]
fn f56_scope_project_writes_the_projects_file() {
    let house = House::new();
    house.put("project/.git/HEAD", "");
    house.put("project/deep/er/file", "");
    let add = |args: &[&str]| {
        house
            .ask(&[&["servers", "add", "--scope", "project"], args].concat())
            .cwd(house.path("project/deep/er"))
            .run()
    };
    let ran = add(&["x", "foo", "bar"]).exits(0);
    assert!(ran.err.contains("kitbag trust x"), "{}", ran.err);
    let file: Value = serde_json::from_str(&house.text("project/.mcp.json")).unwrap();
    assert_eq!(file, json!({"mcpServers": {"x": {"command": "foo", "args": ["bar"]}}}));
    assert_eq!(house.states(&[]), "x=held");
    add(&["x", "other"]).fails(3, "--force");
    add(&["--force", "x", "other"]).exits(0);
    assert!(house.text("project/.mcp.json").contains("other"));
    add(&["bad"]).fails(3, "neither a command nor a url");
    add(&["--user", "ada", "y", "foo"]).exits(5);
    assert!(!house.path("kit/config/mcp.json").exists());
}

#[test]
fn f56_a_launcher_that_is_not_installed_is_told() {
    let house = House::new();
    let ran = house.ask(&["servers", "add", "x", "uvx", "foo"]).env("PATH", &house.at("home")).run().exits(0);
    assert!(ran.err.contains("uvx is not installed here; install uv"), "{}", ran.err);
    let ran = house.run(&["servers", "add", "y", "sh"]).exits(0);
    assert!(!ran.err.contains("not installed"), "{}", ran.err);
}

/// An editor that puts a text in the place of another.
fn editor(house: &House, from: &str, to: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let file = house.put("home/editor", format!("#!/bin/sh\nsed -i 's|{from}|{to}|' \"$1\"\n"));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    house.at("home/editor")
}

#[test]
fn f56_edit_changes_one_entry_once_it_is_valid() {
    const BEFORE: &str = "{\"mcpServers\": {\n  \"x\": {\"command\": \"old\", \"futureKey\": 1}, // mine\n  \"y\": {\"command\": \"y\"}\n}}";
    let house = House::new();
    house.put("kit/config/mcp.json", BEFORE);
    let edit = |name: &str, from: &str, to: &str| {
        let editor = editor(&house, from, to);
        house.ask(&["servers", "edit", name]).env("EDITOR", &editor).run()
    };
    edit("x", "nothing", "else").exits(0);
    assert_eq!(house.text("kit/config/mcp.json"), BEFORE, "not touched");
    edit("x", "\"old\"", "\"new\"").exits(0);
    assert_eq!(entry(&house, "y"), json!({"command": "y"}), "the neighbour");
    assert_eq!(entry(&house, "x"), json!({"command": "new", "futureKey": 1}));
    let before = house.text("kit/config/mcp.json");
    let ran = edit("x", "\"new\"", "oops").fails(3, "not valid JSON");
    assert!(ran.err.contains("edit-x"), "where the text is kept: {}", ran.err);
    edit("x", "command", "commnd").fails(3, "neither a command nor a url");
    edit("x", "\"x\"", "\"z\"").fails(3, "kitbag servers rename x z");
    edit("absent", "a", "b").fails(5, "absent");
    assert_eq!(house.text("kit/config/mcp.json"), before);
    house
        .ask(&["servers", "edit", "x"])
        .env("EDITOR", "/nonexistent/editor")
        .run()
        .fails(2, "cannot be started");
    // In a file of its own, and never in another program's.
    house.put("kit/config/servers/z.json", r#"{"name": "z", "command": "old"}"#);
    edit("z", "\"old\"", "\"new\"").exits(0);
    assert!(house.text("kit/config/servers/z.json").contains("\"new\""));
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "p"}}}"#);
    edit("p", "a", "b").fails(3, "not one of Kitbag's files");
}
