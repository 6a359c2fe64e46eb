//! S2.12: a folder of one-file servers, with an A-shaped file and a broken one among them.

use crate::house::{House, Runs as _};

fn house() -> House {
    let house = House::new();
    house.put(
        "data/mem-agent.json",
        r#"{"name": "mem-agent", "description": "Notes", "command": "python", "args": ["-m", "mem"], "env": {"LEVEL": "x"},
            "working_dir": "/srv/mem", "enabled": true, "transport": "stdio", "timeout": 600}"#,
    );
    house.put(
        "data/hub.json",
        r#"{"name": "hub", "mode": "sse", "url": "https://hub.example.com/sse", "headers": {"X-Key": "PLANTED-SECRET"}}"#,
    );
    house.put("data/off.json", r#"{"name": "off", "command": "x", "enabled": false}"#);
    house.put(
        "data/streamable.json",
        r#"{"name": "streamable", "transport": "http", "url": "https://s.example.com/mcp", "timeout": 30}"#,
    );
    house.put("data/client.json", r#"{"mcpServers": {"from-map": {"command": "x"}, "also-from-map": {"url": "https://m.example.com/mcp"}}}"#);
    house.put("data/broken.json", "{\n  \"name\": \"broken\",\n  \"command\": \n}");
    house.put("data/README.md", "not a server");
    house.put("data/user_ada/own.json", r#"{"name": "own", "command": "x"}"#);
    house
}

const STATES: &str = "also-from-map=used from-map=used hub=used mem-agent=used off=disabled streamable=used";

#[track_caller]
fn check(house: &House, way: &[&str]) {
    assert_eq!(house.states(way), STATES, "{way:?}");
    let list = house.run(&[&["servers", "list"], way].concat()).exits(0);
    assert!(list.err.contains("broken.json:4:1"), "the broken file and its line: {}", list.err);
    assert!(!list.all().contains("README"), "{}", list.all());
    let faults = house.run(&[&["servers", "list", "--json"], way].concat()).exits(0).err;
    let fault: serde_json::Value = serde_json::from_str(faults.trim_end()).unwrap();
    assert!(fault["file"].as_str().unwrap().ends_with("broken.json") && fault["line"] == 4, "{fault}");
    let show = |name: &str| house.run(&[&["servers", "show", name, "--json"], way].concat()).exits(0).json();
    let mem = show("mem-agent");
    assert_eq!((&mem["cwd"], &mem["call_timeout_ms"]), (&"/srv/mem".into(), &600_000.into()), "{mem}");
    assert_eq!((&mem["description"], &mem["env"]["LEVEL"]), (&"Notes".into(), &"***".into()), "{mem}");
    let hub = show("hub");
    assert_eq!((&hub["transport"], &hub["headers"]["X-Key"]), (&"sse".into(), &"***".into()), "{hub}");
    let streamable = show("streamable");
    assert_eq!(
        (&streamable["transport"], &streamable["call_timeout_ms"]),
        (&"http".into(), &30_000.into()),
        "{streamable}"
    );
    assert!(house.states(&[way, &["--user", "ada"]].concat()).contains("own=used"));
    house.run(&[&["doctor"], way].concat()).exits(3);
}

#[test]
fn s2_12_a_folder_by_config() {
    let house = house();
    check(&house, &["--config", &house.at("data")]);
}

#[test]
fn s2_12_a_folder_by_settings() {
    let house = house();
    let relative = "[sources]\nservers_dir = \"../../data\"\n";
    house.put("kit/config/kitbag.toml", relative);
    check(&house, &[]);
    house.put("home/data", "");
    std::fs::remove_file(house.path("home/data")).unwrap();
    std::fs::rename(house.path("data"), house.path("home/data")).unwrap();
    house.put("kit/config/kitbag.toml", "[sources]\nservers_dir = \"~/data\"\n");
    check(&house, &[]);
}

#[test]
fn s2_12_a_named_file_that_is_missing_is_said() {
    let house = House::new();
    house.run(&["servers", "list", "--config", "nowhere.json"]).fails(2, "nowhere.json");
    house.put(
        "kit/config/kitbag.toml",
        "[sources]\nfiles = [\n  \"nowhere.json\",\n]\nservers_dir = \"no-folder\"\n",
    );
    let list = house.run(&["servers", "list"]).exits(0);
    assert!(
        list.err.contains("nowhere.json does not exist") && list.err.contains("kitbag.toml:3"),
        "{}",
        list.err
    );
    assert!(list.err.contains("no-folder"), "a servers_dir that is not there: {}", list.err);
}

#[test]
fn s2_12_with_config_nothing_else_is_searched() {
    let house = house();
    house.put("kit/config/mcp.json", r#"{"mcpServers": {"own": {"command": "x"}}}"#);
    house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"curs": {"command": "x"}}}"#);
    house.put("project/.mcp.json", r#"{"mcpServers": {"proj": {"command": "x"}}}"#);
    let file = house.at("data/client.json");
    assert_eq!(house.states(&["--config", &file]), "also-from-map=used from-map=used");
    let searched = house.run(&["config", "--verbose", "--config", &file]).exits(0).out;
    assert!(!searched.contains(".cursor") && !searched.contains(".mcp.json"), "{searched}");
    // Flags count: a program that is asked for is used.
    let states = house.states(&["--config", &file, "--hosts", "cursor"]);
    assert_eq!(states, "also-from-map=used curs=used from-map=used");
    // Two files: the later wins.
    let later = house.put("later.json", r#"{"mcpServers": {"from-map": {"command": "later"}}}"#);
    let shown = house.run(&[
        "servers",
        "show",
        "from-map",
        "--json",
        "--config",
        &file,
        "--config",
        later.to_str().unwrap(),
    ]);
    assert_eq!(shown.exits(0).json()["command"], "later");
}

#[test]
fn s2_12_a_pipe_in_the_folder_holds_nobody_up() {
    let house = house();
    let made = std::process::Command::new("mkfifo").arg(house.path("data/pipe.json")).status().unwrap();
    assert!(made.success());
    let list = house.run(&["servers", "list", "--config", &house.at("data")]).exits(0);
    assert!(list.out.contains("mem-agent") && list.err.contains("pipe.json"), "{}", list.err);
}
