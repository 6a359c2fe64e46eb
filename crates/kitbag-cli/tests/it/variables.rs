//! S2.6, S4.1–S4.3, S4.16: servers and the switch that come from variables.

use crate::house::{House, Runs as _, states};

const OWN: &str = r#"{"mcpServers": {"git": {"command": "git-mcp"}}}"#;

#[test]
fn s2_6_anything_but_yes_switches_off() {
    let house = House::new();
    house.put("kit/config/mcp.json", OWN);
    for (value, off) in [
        ("false", true),
        ("0", true),
        ("off", true),
        ("no", true),
        ("nonsense", true),
        ("", true),
        ("FALSE", true),
        ("true", false),
        ("1", false),
        ("yes", false),
        ("on", false),
        ("True", false),
        (" ON ", false),
    ] {
        let ran = house.ask::<&str>(&[]).env("AGENT_ENABLE_MCP", value).run().exits(0);
        assert_eq!(ran.out.contains("switched off by AGENT_ENABLE_MCP"), off, "{value:?}: {}", ran.out);
        let json = house.ask(&["--json"]).env("AGENT_ENABLE_MCP", value).run().exits(0).json();
        assert_eq!(json["switched_on"], !off, "{value:?}");
    }
    let unset = house.run::<&str>(&[]).exits(0);
    assert!(!unset.out.contains("switched off"), "{}", unset.out);
}

#[test]
fn s2_6_the_commands_do_not_look_at_the_switch() {
    let house = House::new();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"git": {"command": "true"}}}"#);
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "true"}}}"#);
    for command in [
        &["servers", "list"][..],
        &["servers", "list", "--json"],
        &["config"],
        &["doctor"],
        &["trust"],
        &["servers", "show", "git"],
    ] {
        let on = house.run(command).exits(0);
        let off = house.ask(command).env("AGENT_ENABLE_MCP", "false").run().exits(0);
        assert_eq!(on.out, off.out, "{command:?}");
        assert_eq!(on.err, off.err, "{command:?}");
    }
}

#[test]
fn s4_1_without_mcp_url_there_is_nothing() {
    let house = House::new();
    let ran = house.run(&["servers", "list", "--json"]).exits(0);
    assert_eq!(ran.json(), serde_json::json!([]));
    assert_eq!(ran.err, "");
    let overview = house.run::<&str>(&[]).exits(0);
    assert!(
        !overview.all().contains("MCP_URL") && !overview.all().contains("mcp_server\n"),
        "{}",
        overview.out
    );
}

#[test]
fn s4_2_an_empty_or_blank_mcp_url_is_unset() {
    let house = House::new();
    let unset = house.run::<&str>(&[]).exits(0);
    for value in ["", " ", "\t \n"] {
        for name in ["MCP_URL", "MCP_HUB_URL"] {
            let ran = house.ask(&["servers", "list", "--json"]).env(name, value).run().exits(0);
            assert_eq!((ran.json(), ran.err.as_str()), (serde_json::json!([]), ""), "{name}={value:?}");
            let ran = house.ask::<&str>(&[]).env(name, value).run().exits(0);
            assert_eq!((&ran.out, &ran.err), (&unset.out, &unset.err), "{name}={value:?}");
            house.ask(&["doctor"]).env(name, value).run().exits(0);
        }
    }
}

#[test]
fn s4_3_a_malformed_mcp_url_is_a_server_without_a_fault() {
    let house = House::new();
    for url in [
        "not a url",
        "http://",
        "://x",
        "http://[::1",
        "ftp://example.com",
        "http://exa mple/mcp",
        "${NOT_EXPANDED}",
    ] {
        let ran = house.ask(&["servers", "list", "--json"]).env("MCP_URL", url).run().exits(0);
        let rows = ran.json();
        assert_eq!(states(rows.as_array().unwrap()), "mcp_server=used", "{url:?}");
        assert_eq!(rows[0]["faults"], serde_json::json!([]), "{url:?}");
        assert_eq!(ran.err, "", "{url:?}");
        let doctor = house.ask(&["doctor"]).env("MCP_URL", url).run().exits(0);
        assert_eq!(doctor.err, "", "{url:?}");
    }
}

#[test]
fn s4_16_mcp_url_is_one_more_server() {
    let house = House::new();
    house.put("kit/config/mcp.json", OWN);
    let ran = house
        .ask(&["servers", "list", "--json"])
        .env("MCP_URL", "https://one.example.com/mcp")
        .run()
        .exits(0);
    let rows = ran.json();
    assert_eq!(states(rows.as_array().unwrap()), "git=used mcp_server=used");
    assert_eq!(rows[1]["origin"]["file"], "$MCP_URL");
    // The later layer wins over a file's entry of the same name, and cannot be switched in a file.
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"mcp_server": {"command": "x"}}}"#);
    let shown = house
        .ask(&["servers", "show", "mcp_server"])
        .env("MCP_URL", "https://one.example.com/mcp")
        .run()
        .exits(0);
    assert!(shown.out.contains("url = https://one.example.com/mcp"), "{}", shown.out);
    let before = house.text("kit/config/mcp.json");
    house
        .ask(&["servers", "disable", "mcp_server"])
        .env("MCP_URL", "https://one.example.com/mcp")
        .run()
        .fails(3, "MCP_URL");
    assert_eq!(house.text("kit/config/mcp.json"), before);
}

#[test]
fn s4_16_token_and_headers_are_never_printed() {
    let house = House::new();
    let commands: [&[&str]; 9] = [
        &["servers", "show", "mcp_server"],
        &["servers", "show", "mcp_server", "--json"],
        &["servers", "list", "--verbose"],
        &["servers", "list", "--json"],
        &["config", "--verbose"],
        &["config", "--json"],
        &["doctor", "--verbose"],
        &["servers", "export", "--to", "claude"],
        &[],
    ];
    for command in commands {
        let run = house
            .ask(command)
            .env("MCP_URL", "https://u:PLANTED-SECRET-1@one.example.com/mcp?key=PLANTED-SECRET-2");
        let run = run
            .env("MCP_TOKEN", "PLANTED-SECRET-3")
            .env("MCP_HEADERS", "X-Api-Key: PLANTED-SECRET-4; PLANTED-SECRET-5");
        // An export that is not looked at would write masks into a file.
        let ran = run.run().exits(if command.contains(&"export") { 2 } else { 0 });
        assert!(!ran.all().contains("PLANTED-SECRET"), "{command:?}: {}", ran.all());
    }
    let run = house.ask(&["servers", "show", "mcp_server"]).env("MCP_URL", "https://one.example.com/mcp");
    let shown = run.env("MCP_TOKEN", "t").env("MCP_HEADERS", "X-Team: north\nX-Other: 1").run().exits(0).out;
    for word in ["auth.type = bearer", "headers.X-Team = ***", "headers.X-Other = ***"] {
        assert!(shown.contains(word), "{shown}");
    }
}

#[test]
fn s4_16_a_hub_replaces_all_files() {
    let house = House::new();
    house.put("kit/config/mcp.json", OWN);
    house.put("kit/config/servers/user_ada/x.json", r#"{"name": "x", "command": "x"}"#);
    house.put("kit/config/kitbag.toml", "[servers.git]\nrequired = true\n");
    house.put("project/.mcp.json", r#"{"mcpServers": {"p": {"command": "p"}}}"#);
    house.put("project/.env", "MCP_URL=https://project.example.com/mcp\n");
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"c": {"command": "c"}}}"#);
    house.put("kit/config/servers/broken.json", "{");
    for args in [&[][..], &["--user", "ada"], &["--hosts", "all"]] {
        let run = house
            .ask(&[&["servers", "list", "--json"], args].concat())
            .env("MCP_HUB_URL", "https://hub.example.com/mcp");
        let ran = run.run().exits(0);
        assert_eq!(states(ran.json().as_array().unwrap()), "mcp_hub=used", "{args:?}");
        assert_eq!(ran.err, "", "{args:?}: a file that is replaced has no faults");
    }
    let run = house.ask(&["servers", "list", "--json"]).env("MCP_HUB_URL", "https://hub.example.com/mcp");
    let ran = run.env("MCP_URL", "https://one.example.com/mcp").run().exits(0);
    assert_eq!(states(ran.json().as_array().unwrap()), "mcp_hub=used mcp_server=used");
}

#[test]
fn s4_16_with_config_no_variable_is_read() {
    let house = House::new();
    let file = house.put("mcp.json", OWN);
    house.put("project/.env", "MCP_URL=https://project.example.com/mcp\n");
    let run = house.ask(&["servers", "list", "--json", "--config", file.to_str().unwrap()]);
    let ran = run
        .env("MCP_URL", "https://one.example.com/mcp")
        .env("MCP_HUB_URL", "https://hub.example.com/mcp")
        .run()
        .exits(0);
    assert_eq!(states(ran.json().as_array().unwrap()), "git=used");
}

#[test]
fn s4_16_mcp_url_of_the_folders_dot_env_is_held() {
    let house = House::new();
    house.put(
        "project/.env",
        "export MCP_URL=\"https://project.example.com/mcp\"\nMCP_TOKEN=PLANTED-SECRET\n",
    );
    assert_eq!(house.states(&[]), "mcp_server=held");
    let trust = house.run(&["trust"]).exits(0);
    assert!(
        trust.out.contains("https://project.example.com/mcp") && trust.out.contains(".env"),
        "{}",
        trust.out
    );
    assert!(!trust.all().contains("PLANTED-SECRET"));
    house.run(&["trust", "mcp_server"]).exits(0);
    assert_eq!(house.states(&[]), "mcp_server=used");
    // Another address or token is another server.
    house.put("project/.env", "MCP_URL=https://evil.example.com/mcp\nMCP_TOKEN=PLANTED-SECRET\n");
    assert_eq!(house.states(&[]), "mcp_server=held");
    house.put("project/.env", "MCP_URL=https://project.example.com/mcp\nMCP_TOKEN=other\n");
    assert_eq!(house.states(&[]), "mcp_server=held");
    // A variable that is set, even to nothing, is stronger than the folder's file.
    let ran = house.ask(&["servers", "list", "--json"]).env("MCP_URL", "").run().exits(0);
    assert_eq!(ran.json(), serde_json::json!([]));
    // Our own token does not travel to an address that a folder names.
    house.put("project/.env", "MCP_URL=https://evil.example.com/mcp\n");
    let run = house
        .ask(&["servers", "show", "mcp_server"])
        .env("MCP_TOKEN", "mine")
        .env("MCP_HEADERS", "X-Key: mine");
    let shown = run.run().exits(0).out;
    assert!(!shown.contains("bearer") && !shown.contains("X-Key"), "{shown}");
}
