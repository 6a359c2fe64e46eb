//! S2.13: a secret that stands in a file shows in no output of any command.

use crate::house::{House, Runs as _};
use crate::pty;

fn house() -> House {
    let house = House::new();
    let own = r#"{"mcpServers": {
      "local": {"command": "true", "args": ["--token", "PLANTED-SECRET-1", "--api-key=PLANTED-SECRET-2", "postgres://u:PLANTED-SECRET-3@db/x"],
                "env": {"API_KEY": "PLANTED-SECRET-4", "MODE": "PLANTED-SECRET-5"}},
      "remote": {"url": "https://u:PLANTED-SECRET-6@r.example.com/mcp?token=PLANTED-SECRET-7",
                 "headers": {"Authorization": "Bearer PLANTED-SECRET-8", "X-Other": "PLANTED-SECRET-9"}},
      "auth": {"url": "https://a.example.com/mcp", "auth": {"type": "bearer", "token": "PLANTED-SECRET-10"}},
      "default": {"command": "true", "env": {"KEY": "${UNSET_VARIABLE:-PLANTED-SECRET-11}"}},
      "broken": {"command": 5, "env": {"KEY": "PLANTED-SECRET-12"}}
    }}"#;
    house.put("kit/config/mcp.json", own);
    house.put(
        "kit/config/servers/cut.json",
        "{\"name\": \"cut\", \"command\": \"x\", \"env\": {\"API_KEY\": \"PLANTED-SECRET-13\" \"B\": 1}}",
    );
    house.put(
        "kit/config/servers/cut2.json",
        "{\"name\": \"cut\", \"headers\": {\"Authorization\": \"Bearer PLANTED-SECRET-14",
    );
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"found": {"url": "https://f.example.com/mcp", "headers": {"X-Key": "PLANTED-SECRET-15"}}}}"#);
    house.put("project/.mcp.json", r#"{"mcpServers": {"held": {"command": "true", "args": ["--password", "PLANTED-SECRET-16"], "env": {"GITHUB_TOKEN": "PLANTED-SECRET-17"}}}}"#);
    house.put("kit/config/kitbag.toml", "[store]\nurl = \"postgres://u:PLANTED-SECRET-18@db/x\"\n[servers.local]\nrequierd = \"PLANTED-SECRET-19\"\n");
    house.put("project/kitbag.toml", "[store]\nurl = \"postgres://u:PLANTED-SECRET-20@db/x\"\n[agents.a]\ninstruction = \"--token PLANTED-SECRET-21\"\napi_key = \"PLANTED-SECRET-22\"\napi_key=\"PLANTED-SECRET-23\"\n");
    house
}

#[test]
fn s2_13_no_output_of_any_command_shows_a_secret() {
    let house = house();
    let commands: [&[&str]; 18] = [
        &[],
        &["servers", "list"],
        &["servers", "show", "local"],
        &["servers", "show", "remote"],
        &["servers", "show", "auth"],
        &["servers", "show", "default"],
        &["servers", "show", "broken"],
        &["servers", "show", "found"],
        &["servers", "show", "held"],
        &["config"],
        &["doctor"],
        &["trust"],
        &["servers", "import"],
        &["servers", "export", "--to", "claude"],
        &["servers", "export", "--to", "cursor"],
        &["servers", "export", "--to", "qwen"],
        &["servers", "export", "--to", "lmstudio"],
        &["servers", "export", "--to", "openai"],
    ];
    for command in commands {
        for flags in [&[][..], &["--json"], &["--verbose"], &["--json", "--verbose"], &["--hosts", "all"]] {
            let args = [command, flags].concat();
            let ran = house.run(&args);
            assert_ne!(ran.code, Some(70), "{args:?}");
            assert!(!ran.all().contains("PLANTED"), "{args:?}: {}", ran.all());
        }
    }
    let ran = pty::run(&house, 80, &["servers", "list", "--verbose"], &[]);
    assert!(!ran.out.contains("PLANTED"), "{}", ran.out);
}

#[test]
fn s2_13_errors_of_changes_show_no_secret() {
    let house = house();
    let remote = "https://u:PLANTED-SECRET@r.example.com/mcp?token=PLANTED-SECRET";
    let runs: [&[&str]; 8] = [
        &["servers", "add", "remote", "--url", remote, "--header", "X-Key: PLANTED-SECRET"],
        &["servers", "add", "local", "--env", "KEY=PLANTED-SECRET", "--", "x", "--token", "PLANTED-SECRET"],
        &["servers", "add", "bad", "--transport", "stdio", "--url", remote],
        &["servers", "add", "bad", "--env", "PLANTED-SECRET", "--", "x"],
        &["servers", "add", "bad", "--header", "PLANTED-SECRET", "--url", remote],
        &[
            "servers",
            "add",
            "--paste",
            "{\"mcpServers\": {\"p\": {\"command\": \"x\", \"env\": {\"API_KEY\": \"PLANTED-SECRET\"} \"B\": 1}}",
        ],
        &[
            "servers",
            "add",
            "--paste",
            "{\"mcpServers\": {\"p\": {\"commnd\": \"x\", \"args\": [\"--token\", \"PLANTED-SECRET\"]}}}",
        ],
        &[
            "servers",
            "add",
            "--paste",
            "{\"mcpServers\": {\"local\": {\"command\": \"x\", \"env\": {\"API_KEY\": \"PLANTED-SECRET\"}}}}",
        ],
    ];
    for args in runs {
        for flag in ["--color=never", "--json", "--verbose"] {
            let ran = house.run(&[&args[..2], &[flag], &args[2..]].concat());
            assert!(matches!(ran.code, Some(2 | 3)), "{args:?}: {ran:?}");
            assert!(!ran.all().contains("PLANTED"), "{args:?}: {}", ran.all());
        }
    }
    let ran = house.run(&["servers", "add", "fine", "--url", remote, "--bearer", "PLANTED-SECRET"]).exits(0);
    assert!(!ran.all().contains("PLANTED"), "{}", ran.all());
    let ran = house.run(&["servers", "import", "--all", "--json"]).exits(0);
    assert!(!ran.all().contains("PLANTED"), "{}", ran.all());
    let ran = house.run(&["trust", "--all", "--json"]).exits(0);
    assert!(!ran.all().contains("PLANTED"), "{}", ran.all());
}

#[test]
fn s2_13_secrets_are_shown_only_when_asked_for() {
    let house = house();
    let ran = house.run(&["servers", "export", "auth", "--to", "claude", "--show-secrets"]).exits(0);
    assert!(ran.out.contains("Bearer PLANTED-SECRET-10"), "{}", ran.out);
}
