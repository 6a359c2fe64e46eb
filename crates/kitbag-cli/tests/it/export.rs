//! S2.24: configuration for other programs.

use crate::house::{House, Ran, Runs as _};
use crate::pty;

const TARGETS: [&str; 5] = ["claude", "cursor", "qwen", "lmstudio", "openai"];
const ENDPOINT: &str = "http://127.0.0.1:7777/mcp";

/// Writes Kitbag's own address into a file of another program.
fn write_into(house: &House, target: &str, file: &str) -> Ran {
    house.run(&["servers", "export", "--to", target, "--endpoint", ENDPOINT, "--write", file])
}

#[test]
fn s2_24_the_endpoint_for_every_program() {
    let house = House::new();
    for target in TARGETS {
        let ran = house
            .run(&["servers", "export", "--to", target, "--endpoint", "http://127.0.0.1:7777/mcp"])
            .exits(0);
        assert_eq!(ran.err, "");
        insta::assert_snapshot!(format!("endpoint_{target}"), ran.out);
    }
    let ran = house
        .run(&["servers", "export", "--to", "claude", "--endpoint", "http://x/mcp", "--name", "tools"])
        .exits(0);
    assert_eq!(ran.json()["mcpServers"]["tools"]["url"], "http://x/mcp");
    house.run(&["servers", "export", "--to", "clod"]).fails(2, "claude");
}

#[test]
fn s2_24_what_is_exported_reads_back_as_the_same_server() {
    let house = House::new();
    for target in TARGETS {
        let file = house.at(&format!("{target}.json"));
        write_into(&house, target, &file).exits(0);
        let shown = house.run(&["servers", "show", "kitbag", "--json", "--config", &file]).exits(0).json();
        assert_eq!(
            (&shown["url"], &shown["state"]),
            (&"http://127.0.0.1:7777/mcp".into(), &"used".into()),
            "{target}"
        );
        assert_ne!(shown["transport"], "sse", "{target}");
    }
}

#[test]
fn s2_24_write_keeps_a_backup_and_every_other_byte() {
    let house = House::new();
    let before = "// mine\r\n{\r\n  \"theme\": \"dark\", // keep\r\n  \"mcpServers\": {\r\n    \"other\": {\"command\": \"x\",   \"odd\": 1}\r\n  },\r\n  \"z\": [1,2 ,3]\r\n}\r\n";
    let file = house.put("home/.cursor/mcp.json", before);
    let file = file.to_str().unwrap();
    let ran = write_into(&house, "cursor", file).exits(0);
    let after = house.text("home/.cursor/mcp.json");
    let (head, tail) = before.split_once("\"odd\": 1}").unwrap();
    assert!(after.starts_with(head) && after.ends_with(tail), "{after}");
    assert!(after.contains("\"url\": \"http://127.0.0.1:7777/mcp\""), "{after}");
    assert_eq!(house.text("home/.cursor/mcp.json.kitbag-1.bak"), before);
    assert!(ran.err.contains("mcp.json.kitbag-1.bak"), "{}", ran.err);
    // A second time: the first copy stays.
    write_into(&house, "cursor", file).exits(0);
    assert_eq!(house.text("home/.cursor/mcp.json"), after);
    assert_eq!(house.text("home/.cursor/mcp.json.kitbag-1.bak"), before);
}

#[test]
fn s2_24_write_keeps_the_servers_of_a_list() {
    let house = House::new();
    let before = "{\n  \"mcp\": {\n    \"enabled\": true,\n    \"servers\": [\n      {\"name\": \"theirs\", \"url\": \"http://t/mcp\", \"odd\": [1,  2]}\n    ]\n  },\n  \"z\": 1\n}\n";
    let file = house.put("openai.json", before);
    write_into(&house, "openai", file.to_str().unwrap()).exits(0);
    let names = |house: &House| -> Vec<String> {
        let file: serde_json::Value = serde_json::from_str(&house.text("openai.json")).unwrap();
        file["mcp"]["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&house), ["theirs", "kitbag"]);
    write_into(&house, "openai", file.to_str().unwrap()).exits(0);
    assert_eq!(names(&house), ["theirs", "kitbag"], "the second time the entry is replaced");
    // A new file is switched on.
    write_into(&house, "openai", "new.json").exits(0);
    let new: serde_json::Value = serde_json::from_str(&house.text("project/new.json")).unwrap();
    assert_eq!(new["mcp"]["enabled"], true, "{new}");
}

#[test]
fn s2_24_yaml_is_never_written() {
    let house = House::new();
    for name in ["config.yaml", "config.yml", "config.toml"] {
        let file = house.put(name, "extensions: {}\n");
        let ran = write_into(&house, "claude", file.to_str().unwrap()).exits(3);
        assert_eq!(ran.json()["mcpServers"]["kitbag"]["url"], ENDPOINT, "the snippet is printed");
        assert!(ran.err.contains(name) && ran.err.contains("by hand"), "{}", ran.err);
        assert_eq!(house.text(name), "extensions: {}\n");
    }
    assert_eq!(house.files("").len(), 3);
}

#[test]
fn s2_24_a_broken_file_is_left_as_it_is() {
    let house = House::new();
    for text in ["{\"mcpServers\": {", "[]", "{\"mcpServers\": []}"] {
        let file = house.put("broken.json", text);
        write_into(&house, "claude", file.to_str().unwrap()).fails(3, "broken.json");
        assert_eq!(house.text("broken.json"), text);
    }
    assert_eq!(house.files("").len(), 1, "no backup of what was not changed");
}

#[test]
fn s2_24_servers_in_the_words_of_each_program() {
    let house = House::new();
    house.put(
        "kit/config/mcp.json",
        r#"{"mcpServers": {
          "local": {"command": "npx", "args": ["-y", "x"], "env": {"KEY": "${MY_KEY}", "LITERAL": "PLANTED-SECRET"}, "cwd": "/srv"},
          "off": {"command": "x", "enabled": false},
          "old": {"url": "https://o.example.com/sse", "transport": "sse"},
          "remote": {"url": "https://r.example.com/mcp", "transport": "http", "auth": {"type": "bearer", "token": "${TOKEN}"}}
        }}"#,
    );
    house.put("project/.mcp.json", r#"{"mcpServers": {"held": {"command": "x"}}}"#);
    for target in TARGETS {
        let ran = pty::run(&house, 100, &["servers", "export", "--to", target, "--quiet"], &[]).exits(0);
        assert!(!ran.all().contains("PLANTED"));
        insta::assert_snapshot!(format!("servers_{target}"), ran.out.replace("\r\n", "\n"));
    }
    house.run(&["servers", "export", "held", "--to", "claude"]).fails(6, "kitbag trust held");
    let file = house.at("out.json");
    house.run(&["servers", "export", "local", "--to", "claude", "--write", &file]).exits(0);
    let written: serde_json::Value = serde_json::from_str(&house.text("out.json")).unwrap();
    assert_eq!(written["mcpServers"]["local"]["env"]["LITERAL"], "PLANTED-SECRET");
}

#[test]
fn f104_what_another_program_cannot_say_is_said_on_stderr() {
    let house = House::new();
    house.put(
        "kit/config/mcp.json",
        r#"{"mcpServers": {
          "full": {"command": "npx", "include": ["read"], "exclude": ["delete_*"], "envFile": "/srv/.env", "timeout": 90},
          "off": {"command": "x", "enabled": false}}}"#,
    );
    let ran = house.run(&["servers", "export", "--to", "cursor"]).exits(0);
    let json = ran.json();
    assert_eq!(json["mcpServers"]["full"]["envFile"], "/srv/.env");
    assert!(json["mcpServers"].get("off").is_none(), "a disabled server never comes out switched on: {json}");
    assert!(ran.err.contains("full: Cursor has no key for include, exclude, call_timeout"), "{}", ran.err);
    assert!(ran.err.contains("off is left out: it is disabled"), "{}", ran.err);
    let ran = house.run(&["servers", "export", "--to", "Qwen Code"]).exits(0);
    let full = &ran.json()["mcpServers"]["full"];
    assert_eq!((&full["includeTools"][0], &full["timeout"]), (&"read".into(), &90_000.into()));
    assert!(ran.err.contains("delete_*") && ran.err.contains("envFile"), "{}", ran.err);
    let ran = house.run(&["servers", "export", "off", "--to", "openai"]).exits(0);
    assert_eq!(ran.json()["mcp"]["servers"][0]["enabled"], false);
    // Asked for by name and not exported: that is a failure.
    house.run(&["servers", "export", "off", "--to", "cursor"]).fails(3, "off is left out");
    let ran = house.run(&["servers", "export", "full", "--to", "cursor", "--write", "x.json"]).exits(0);
    assert!(ran.err.contains("no key for include"), "{}", ran.err);
    house.run(&["servers", "export", "--to", "curser"]).fails(2, "did you mean cursor?");
}

/// A file with `***` in place of a key looks usable and is not.
#[test]
fn f21_a_redirected_export_writes_no_mask_into_a_config() {
    let house = House::new();
    let own = r#"{"mcpServers": {
      "plain": {"command": "npx", "args": ["-y", "x"], "env": {"KEY": "${MY_KEY}"}},
      "literal": {"command": "npx", "env": {"KEY": "PLANTED-SECRET"}}}}"#;
    house.put("kit/config/mcp.json", own);
    for target in TARGETS {
        let ran = house.run(&["servers", "export", "--to", target]).fails(2, "--show-secrets");
        assert!(!ran.all().contains("PLANTED"), "{ran:?}");
        house.run(&["servers", "export", "--to", target, "--write", "x.yaml"]).fails(2, "--show-secrets");
        // References are none, and are written as ever.
        let ran = house.run(&["servers", "export", "plain", "--to", target]).exits(0);
        assert!(ran.out.contains("MY_KEY}") && !ran.out.contains("***"), "{}", ran.out);
        let ran = house.run(&["servers", "export", "--to", target, "--show-secrets"]).exits(0);
        assert!(ran.out.contains("PLANTED-SECRET") && !ran.out.contains("***"), "{}", ran.out);
    }
}
