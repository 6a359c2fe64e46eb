//! Each program's own `mcp add` writes its files, in every scope and transport it has; Kitbag reads them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::host::Host;
use crate::house::{House, Runs as _};

/// What Kitbag makes of the files in a house: every server by its name, secrets shown, with the line it stands in.
struct Read(BTreeMap<String, Value>);

impl Read {
    /// With everything in the project's files approved.
    #[track_caller]
    fn of(house: &House) -> Self {
        house.run(&["trust", "--all"]).exits(0);
        let config = house.run(&["config", "--json", "--hosts", "all"]).exits(0).json();
        // The one format that holds all a server can have, values included.
        let export = ["servers", "export", "--to", "openai", "--show-secrets", "--hosts", "all"];
        let values = house.run(&export).exits(0).json();
        let values: BTreeMap<&str, &Value> = values["mcp"]["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["name"].as_str().unwrap(), entry))
            .collect();
        let row = |row: &Value| {
            let (name, mut row) = (row["name"].as_str().unwrap().to_owned(), row.clone());
            for key in ["env", "headers"] {
                if let Some(shown) = values[name.as_str()].get(key) {
                    row[key] = shown.clone();
                }
            }
            (name, row)
        };
        Self(config["servers"].as_array().unwrap().iter().map(row).collect())
    }

    /// Takes out one server, which must be in use and say just this, at the place where the file has it.
    #[track_caller]
    fn check(&mut self, house: &House, name: &str, file: &str, expected: &Value) {
        let mut row =
            self.0.remove(name).unwrap_or_else(|| panic!("{name} is not among {:?}", self.0.keys()));
        let row = row.as_object_mut().unwrap();
        let origin = row.remove("origin").unwrap();
        let heads = [format!("\"{name}\": {{"), format!("[mcp_servers.{name}]")];
        let is_head = |line: &str| heads.iter().any(|head| line.trim() == head);
        let line = house.text(file).lines().position(is_head).unwrap() + 1;
        assert_eq!((&origin["file"], &origin["line"]), (&json!(house.path(file)), &json!(line)), "{name}");
        for (key, value) in [("state", json!("used")), ("enabled", json!(true)), ("faults", json!([]))] {
            assert_eq!(row.remove(key), Some(value), "{name}: {key}");
        }
        for key in ["name", "also", "layer", "places"] {
            row.remove(key);
        }
        assert_eq!(&Value::Object(row.clone()), expected, "{name}");
    }

    #[track_caller]
    fn nothing_else(self) {
        assert!(self.0.is_empty(), "{:?}", self.0.keys());
    }
}

const BEARER: [&str; 4] = ["-H", "Authorization: Bearer PLANTED", "-H", "X-Two: 2"];

/// Runs `<host> mcp add <args>`.
#[track_caller]
fn add(host: Host, house: &House, args: &[&str]) {
    let ran = host.run(house, &[&["mcp", "add"], args].concat());
    assert_eq!(ran.code, Some(0), "{host:?} {args:?}: {ran:?}");
}

#[test]
fn f57_what_claude_code_writes_is_read() {
    let house = House::new();
    let scopes =
        [("user", "home/.claude.json"), ("project", "project/.mcp.json"), ("local", "home/.claude.json")];
    for (scope, _) in scopes {
        let [stdio, http, sse] = ["stdio", "http", "sse"].map(|transport| format!("{scope}-{transport}"));
        let program = ["-e", "KEY=a b=c", "-e", "TOKEN=PLANTED", "--", "npx", "-y", "some pkg", "${HOME}/x"];
        add(Host::ClaudeCode, &house, &[&["-s", scope, &stdio], &program[..]].concat());
        let address = ["-s", scope, "-t", "http", &http, "https://h.example/mcp"];
        add(Host::ClaudeCode, &house, &[&address, &BEARER[..]].concat());
        let address = ["-s", scope, "-t", "sse", &sse, "https://h.example/old", "--header", "X-Key: PLANTED"];
        add(Host::ClaudeCode, &house, &address);
    }
    let timed = r#"{"type": "http", "url": "https://h.example/mcp", "timeout": 5000}"#;
    Host::ClaudeCode.run(&house, &["mcp", "add-json", "-s", "user", "timed", timed]).exits(0);
    let mut read = Read::of(&house);
    for (scope, file) in scopes {
        let program = json!({"transport": "stdio", "command": "npx", "args": ["-y", "some pkg", "${HOME}/x"],
            "env": {"KEY": "a b=c", "TOKEN": "PLANTED"}});
        read.check(&house, &format!("{scope}-stdio"), file, &program);
        read.check(&house, &format!("{scope}-http"), file, &http("https://h.example/mcp"));
        read.check(&house, &format!("{scope}-sse"), file, &sse("https://h.example/old"));
    }
    let timed = json!({"transport": "http", "url": "https://h.example/mcp", "call_timeout_ms": 5000});
    read.check(&house, "timed", "home/.claude.json", &timed);
    read.nothing_else();
}

fn http(url: &str) -> Value {
    json!({"transport": "http", "url": url, "headers": {"Authorization": "Bearer PLANTED", "X-Two": "2"}})
}

fn sse(url: &str) -> Value {
    json!({"transport": "sse", "url": url, "headers": {"X-Key": "PLANTED"}})
}

#[test]
fn f57_what_codex_writes_is_read() {
    let house = House::new();
    let program = ["--env", "KEY=a b=c", "--env", "TOKEN=PLANTED", "--", "npx", "-y", "some \"pkg\"\\"];
    add(Host::Codex, &house, &[&["program"], &program[..]].concat());
    add(Host::Codex, &house, &["address", "--url", "https://h.example/mcp"]);
    let bearer = ["bearer", "--url", "https://h.example/mcp", "--bearer-token-env-var", "MY_TOKEN"];
    add(Host::Codex, &house, &bearer);
    let (mut read, file) = (Read::of(&house), Host::Codex.file());
    let program = json!({"transport": "stdio", "command": "npx", "args": ["-y", "some \"pkg\"\\"],
        "env": {"KEY": "a b=c", "TOKEN": "PLANTED"}});
    read.check(&house, "program", file, &program);
    read.check(&house, "address", file, &json!({"transport": "http", "url": "https://h.example/mcp"}));
    let bearer = json!({"transport": "http", "url": "https://h.example/mcp",
        "headers": {"Authorization": "Bearer ${MY_TOKEN}"}, "auth": {"type": "bearer", "token": "${MY_TOKEN}"}});
    read.check(&house, "bearer", file, &bearer);
    read.nothing_else();
}

/// Gemini CLI, and Qwen Code, which comes from it.
#[track_caller]
fn check_gemini(host: Host, timeout: &Value) {
    let house = House::new();
    let project = host.file().replace("home/", "project/");
    let scopes = [("user", host.file()), ("project", project.as_str())];
    for (scope, _) in scopes {
        let [stdio, http, sse] = ["stdio", "http", "sse"].map(|transport| format!("{scope}-{transport}"));
        let program = ["npx", "-y", "some pkg", "-e", "KEY=a b", "-e", "TOKEN=PLANTED", "--timeout", "5000"];
        let more =
            ["--trust", "--description", "A thing", "--include-tools", "a", "b", "--exclude-tools", "c,d"];
        add(host, &house, &[&["-s", scope, &stdio], &program[..], &more].concat());
        let address = ["-s", scope, "-t", "http", &http, "https://h.example/mcp"];
        add(host, &house, &[&address, &BEARER[..]].concat());
        let address = ["-s", scope, "-t", "sse", &sse, "https://h.example/old", "-H", "X-Key: PLANTED"];
        add(host, &house, &address);
    }
    let mut read = Read::of(&house);
    for (scope, file) in scopes {
        let program = json!({"transport": "stdio", "command": "npx", "args": ["-y", "some pkg"],
            "env": {"KEY": "a b", "TOKEN": "PLANTED"}, "call_timeout_ms": timeout, "description": "A thing",
            "include": ["a", "b"], "exclude": ["c", "d"], "kept": ["trust"]});
        read.check(&house, &format!("{scope}-stdio"), file, &program);
        read.check(&house, &format!("{scope}-http"), file, &http("https://h.example/mcp"));
        read.check(&house, &format!("{scope}-sse"), file, &sse("https://h.example/old"));
    }
    read.nothing_else();
}

#[test]
fn f57_what_gemini_cli_writes_is_read() {
    check_gemini(Host::GeminiCli, &json!(5000));
}

#[test]
fn f57_what_qwen_code_writes_is_read() {
    check_gemini(Host::QwenCode, &json!(5000));
}

/// Claude Code keeps a folder's own servers under the root of its repository, and all of them elsewhere if told so.
#[test]
fn f58_servers_of_claude_code_are_found_where_it_finds_them() {
    let house = House::new();
    std::fs::create_dir_all(house.path("project/deep/er")).unwrap();
    std::fs::create_dir_all(house.path("plain/deep")).unwrap();
    assert!(git(&house).status().unwrap().success());
    for (folder, name) in [("project/deep", "of-repository"), ("plain", "of-folder")] {
        Host::ClaudeCode.run_in(&house, folder, &["mcp", "add", name, "x"], &[]).exits(0);
    }
    for folder in ["project", "project/deep/er", "plain", "plain/deep"] {
        let theirs = Host::ClaudeCode.run_in(&house, folder, &["mcp", "list"], &[]).exits(0).out;
        let run = house.ask(&["servers", "list", "--json", "--hosts", "all"]).cwd(house.path(folder)).run();
        let ours = crate::house::states(run.exits(0).json().as_array().unwrap());
        for name in ["of-repository", "of-folder"] {
            assert_eq!(ours.contains(name), theirs.contains(name), "{folder}: {ours} but {theirs}");
        }
        assert_eq!(ours.is_empty(), folder == "plain/deep", "{folder}: {ours}");
    }
    let elsewhere = house.at("elsewhere");
    let moved = ("CLAUDE_CONFIG_DIR", elsewhere.as_str());
    Host::ClaudeCode
        .run_in(&house, "project", &["mcp", "add", "-s", "user", "moved", "x"], &[moved])
        .exits(0);
    let run = house.ask(&["servers", "list", "--json", "--hosts", "claude"]).env(moved.0, moved.1).run();
    assert_eq!(crate::house::states(run.exits(0).json().as_array().unwrap()), "moved=used");
}

/// Claude Code asks in its window what to leave off; what it writes then is written here by hand, and its list is asked.
#[test]
fn f58_what_claude_code_leaves_off_in_a_project_is_off() {
    let house = House::new();
    for (scope, name) in [("user", "mine"), ("local", "here"), ("user", "on")] {
        add(Host::ClaudeCode, &house, &["-s", scope, name, "absent-program"]);
    }
    let mut file: Value = serde_json::from_str(&house.text("home/.claude.json")).unwrap();
    let project = house.at("project");
    file["projects"][&project]["disabledMcpServers"] = json!(["mine", "here"]);
    house.put("home/.claude.json", file.to_string());
    let list = Host::ClaudeCode.run(&house, &["mcp", "list"]).exits(0).out;
    assert_eq!(list.matches("Disabled for this project").count(), 2, "{list}");
    assert_eq!(house.states(&["--hosts", "claude"]), "here=disabled mine=disabled on=used");
}

fn git(house: &House) -> std::process::Command {
    let mut git = std::process::Command::new("git");
    git.args(["init", "--quiet"]).current_dir(house.path("project")).env_clear().envs(house.vars());
    git
}
