//! The JSON that scripts rely on: every output parses, and holds what the contract says.

use serde_json::Value;

use crate::house::{House, Runs as _};

fn house() -> House {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"git": {"command": "true"}, "bad": {"args": []}, "web": {"url": "https://w.example.com/mcp"}}}"#);
    house.put("kit/config/servers/cut.json", "{\n  \"name\"");
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c1": {"command": "x"}, "c2": {"command": "y"}}}"#);
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "x"}}}"#);
    house
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn servers_list_gives_the_keys_of_the_contract() {
    let house = house();
    let ran = house.run(&["servers", "list", "--json"]).exits(0);
    let rows = ran.json();
    assert_eq!(rows.as_array().unwrap().len(), 6);
    for row in rows.as_array().unwrap() {
        for key in ["name", "enabled", "transport", "origin", "faults", "state"] {
            assert!(row.get(key).is_some(), "no {key} in {row}");
        }
        assert!(
            row["enabled"].is_boolean()
                && row["origin"]["line"].is_u64()
                && row["origin"]["file"].is_string(),
            "{row}"
        );
        assert!(
            row["transport"].is_null()
                || ["stdio", "http", "sse", "auto"].contains(&row["transport"].as_str().unwrap()),
            "{row}"
        );
    }
    let bad = rows.as_array().unwrap().iter().find(|row| row["name"] == "bad").unwrap();
    let fault = &bad["faults"][0];
    assert_eq!((&fault["stage"], &fault["server"]), (&"config".into(), &"bad".into()), "{fault}");
    assert!(fault["line"].is_u64() && fault["column"].is_u64() && fault["message"].is_string(), "{fault}");
}

#[test]
fn faults_of_no_row_are_one_object_a_line_on_stderr() {
    let house = house();
    for args in [
        &["servers", "list", "--json"][..],
        &["config", "--json"],
        &["servers", "list", "--json", "--verbose"],
    ] {
        let ran = house.run(args).exits(0);
        assert!(!ran.err.is_empty());
        for line in ran.err.lines() {
            let fault: Value = serde_json::from_str(line).unwrap();
            for key in ["stage", "kind", "message", "file"] {
                assert!(fault[key].is_string(), "no {key} in {line}");
            }
        }
        assert!(ran.err.contains("cut.json") && !ran.err.contains("\"server\":\"bad\""), "{}", ran.err);
    }
}

#[test]
fn every_json_output_is_one_document() {
    let house = house();
    for (args, expected) in [
        (&["--json"][..], &["switched_on", "user", "servers", "faults", "files"][..]),
        (&["config", "--json"], &["user", "switched_on", "folders", "servers", "searched"]),
        (&["config", "--schema", "--json"], &["$schema"]),
        (&["config", "--schema"], &["$schema"]),
        (&["trust", "--json"], &["held", "settings"]),
        (&["servers", "show", "git", "--json"], &["name", "places", "command"]),
        (&["servers", "show", "bad", "--json"], &["name", "faults"]),
        (&["servers", "export", "--to", "claude", "--json"], &["mcpServers"]),
        (&["servers", "add", "new", "--json", "--", "x"], &["done", "name", "file"]),
        (&["servers", "disable", "new", "--json"], &["done", "name", "file"]),
        (&["servers", "enable", "new", "--json"], &["done", "name", "file"]),
        (&["servers", "remove", "new", "--json"], &["done", "name", "file"]),
    ] {
        let json = house.run(args).exits(0).json();
        for key in expected {
            assert!(keys(&json).contains(key), "{args:?}: no {key} in {json}");
        }
    }
    let doctor = house.run(&["doctor", "--json"]).exits(3);
    assert_eq!(keys(&doctor.json()), ["servers", "errors", "warnings", "connected", "faults"]);
    assert_eq!(doctor.err, "", "faults are in the document");
    let imported = house.run(&["servers", "import", "--all", "--json"]).exits(0).json();
    assert_eq!(imported.as_array().unwrap().len(), 2, "{imported}");
    let approved = house.run(&["trust", "--all", "--json"]).exits(0).json();
    assert_eq!(approved["approved"][0]["server"], "p", "{approved}");
    let list = house.run(&["trust", "--list", "--json"]).exits(0).json();
    assert_eq!(keys(&list[0]), ["file", "server", "hash"]);
    let revoked = house.run(&["trust", "--revoke", "p", "--json"]).exits(0).json();
    assert_eq!(revoked["revoked"][0]["server"], "p", "{revoked}");
    let none = house.run(&["servers", "import", "--all", "--json"]).exits(0).json();
    assert_eq!(none, serde_json::json!([]));
    let file = house.at("out.json");
    let written =
        house.run(&["servers", "export", "--to", "claude", "--json", "--write", &file]).exits(0).json();
    assert_eq!(written["done"], "wrote", "{written}");
}
