//! S1.12: Elysia's list, its variables and its questions.

use std::os::unix::fs::PermissionsExt as _;

use crate::house::{House, Runs as _};
use crate::pty::{self, Step};

/// A server whose program exists, so that only what a test is about can be missing.
const ASKING: &str = r#"{"servers": [{
  "name": "crm", "type": "sse", "url": "https://crm.example.com/sse", "enabled": true,
  "headers": {"Authorization": "Bearer ${input:crm-token}"},
  "inputs": [{"type": "promptString", "id": "crm-token", "description": "Token of the CRM", "password": true}]
}]}"#;

#[test]
fn s1_12_an_elysia_list_loads_by_config() {
    let house = House::new();
    let golden = House::golden("elysia/mcp.json");
    let states = house.states(&["--config", &golden]);
    assert_eq!(states, "api-ai-mcp=used calculator=used switch-not-given=disabled switched-off=disabled");
    let shown = house.run(&["servers", "show", "calculator", "--config", &golden]).exits(0).out;
    assert!(shown.contains("command = python"), "{shown}");
    assert!(shown.contains("calculator_server.py"), "{shown}");
}

#[test]
fn s1_12_an_absent_enabled_is_off_with_a_hint() {
    let house = House::new();
    let golden = House::golden("elysia/mcp.json");
    let row =
        house.run(&["servers", "show", "switch-not-given", "--json", "--config", &golden]).exits(0).json();
    assert_eq!(row["enabled"], false);
    let hints: Vec<&str> =
        row["faults"].as_array().unwrap().iter().filter_map(|fault| fault["hint"].as_str()).collect();
    assert!(hints.iter().any(|hint| hint.contains("\"enabled\": true")), "{row}");
    // Who switched it off himself needs no hint.
    let row = house.run(&["servers", "show", "switched-off", "--json", "--config", &golden]).exits(0).json();
    assert_eq!(row["faults"].as_array().unwrap().len(), 0, "{row}");
}

#[test]
fn s1_12_doctor_names_a_missing_variable_with_its_line() {
    let house = House::new();
    let text = "{\"servers\": [\n  {\"name\": \"api\", \"type\": \"sse\", \"url\": \"https://api.example.com/sse\",\n   \"headers\": {\"Authorization\": \"Bearer ${API_AI_TOKEN}\"},\n   \"enabled\": true}\n]}";
    let file = house.put("list.json", text);
    let config = file.to_str().unwrap();
    let ran = house.run(&["doctor", "--config", config]).exits(3);
    assert!(ran.err.contains("API_AI_TOKEN"), "{}", ran.err);
    assert!(ran.err.contains(&format!("{config}:3")), "{}", ran.err);
    let ran = house.ask(&["doctor", "--config", config]).env("API_AI_TOKEN", "PLANTED-SECRET").run().exits(0);
    assert!(!ran.all().contains("PLANTED-SECRET"), "{}", ran.all());
}

#[test]
fn s1_12_an_input_comes_from_its_variable() {
    let house = House::new();
    let file = house.put("list.json", ASKING);
    let config = file.to_str().unwrap();
    let ran = house
        .ask(&["doctor", "--config", config])
        .env("KITBAG_INPUT_CRM_TOKEN", "PLANTED-SECRET")
        .run()
        .exits(0);
    assert!(!ran.all().contains("PLANTED-SECRET"), "{}", ran.all());
    assert!(!house.path("kit/state/secrets.json").exists());
}

#[test]
fn s1_12_without_a_terminal_nobody_is_asked() {
    let house = House::new();
    let file = house.put("list.json", ASKING);
    let config = file.to_str().unwrap();
    // An answer waits on standard input: taking it would be a prompt.
    let ran = house.ask(&["doctor", "--config", config]).input("PLANTED-SECRET\n").run().exits(3);
    assert!(ran.err.contains("crm-token") && ran.err.contains("KITBAG_INPUT_CRM_TOKEN"), "{}", ran.err);
    assert!(!ran.all().contains("Token of the CRM"), "{}", ran.all());
    assert!(!house.path("kit/state/secrets.json").exists());
    // The same for a question whose answer would be shown: that one would read standard input.
    house.put("list.json", ASKING.replace("\"password\": true", "\"password\": false"));
    let ran = house.ask(&["doctor", "--config", config]).input("PLANTED-SECRET\n").run().exits(3);
    assert!(!ran.all().contains("Token of the CRM"), "{}", ran.all());
    assert!(!house.path("kit/state/secrets.json").exists());
    let json = house.run(&["doctor", "--json", "--config", config]).exits(3).json();
    assert_eq!(json["faults"][0]["kind"], "missing_input", "{json}");
}

#[test]
fn s1_12_on_a_terminal_an_input_is_asked_for_once_and_kept() {
    let house = House::new();
    let file = house.put("list.json", ASKING);
    let args = ["doctor", "--config", file.to_str().unwrap()];
    assert!(!house.path("kit/state/kitbag.db").exists());
    let first = pty::run(&house, 100, &args, &[Step::Hidden("Token of the CRM", "PLANTED-SECRET")]).exits(0);
    assert_eq!(first.err, "", "{}", first.out);
    let second = pty::run(&house, 100, &args, &[]).exits(0);
    assert!(!second.out.contains("Token of the CRM"), "asked again: {}", second.out);
    assert!(!first.out.contains("PLANTED-SECRET") && !second.out.contains("PLANTED-SECRET"));
    is_encrypted(&house);
    // Without a terminal the kept answer serves too, and shows nowhere.
    for command in [
        &["doctor"][..],
        &["config", "--verbose"],
        &["servers", "show", "crm", "--json"],
        &["servers", "list"],
        &[],
    ] {
        let args: Vec<&str> = command.iter().copied().chain(["--config", args[2]]).collect();
        let ran = house.run(&args).exits(0);
        assert!(!ran.all().contains("PLANTED-SECRET"), "{}", ran.all());
    }
}

/// The answer is in no file of the state folder as it was given, and the key is for its owner alone.
#[track_caller]
fn is_encrypted(house: &House) {
    assert!(!house.path("kit/state/secrets.json").exists());
    for file in std::fs::read_dir(house.path("kit/state")).unwrap().map(|file| file.unwrap().path()) {
        let bytes = if file.is_file() { std::fs::read(&file).unwrap() } else { Vec::new() };
        assert!(!String::from_utf8_lossy(&bytes).contains("PLANTED-SECRET"), "{}", file.display());
    }
    let key = std::fs::metadata(house.path("kit/state/kitbag.key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn s1_12_answers_of_the_file_are_taken_over_unless_the_store_refuses_them() {
    let house = House::new();
    let file = house.put("list.json", ASKING);
    let config = file.to_str().unwrap();
    let answers = serde_json::json!({"version": 2, "inputs": {format!("{config}#crm"): {"crm-token": "PLANTED-SECRET"}}});
    let secrets = house.put("kit/state/secrets.json", answers.to_string());
    house.put("kit/state/kitbag.db", "no database");
    let ran = house.run(&["doctor", "--json", "--config", config]);
    assert!(
        ran.out.contains("answers to inputs cannot be read") && !ran.out.contains("missing_input"),
        "{}",
        ran.out
    );
    assert!(!ran.all().contains("PLANTED-SECRET"));
    assert_eq!(std::fs::read_to_string(&secrets).unwrap(), answers.to_string(), "it still counts");
    std::fs::remove_file(house.path("kit/state/kitbag.db")).unwrap();
    for _ in 0..2 {
        house.run(&["doctor", "--config", config]).exits(0);
        is_encrypted(&house);
    }
}

#[test]
fn s1_12_a_quiet_or_json_doctor_asks_nobody_even_on_a_terminal() {
    let house = House::new();
    let file = house.put("list.json", ASKING);
    for flag in ["--quiet", "--json"] {
        let ran = pty::run(&house, 100, &["doctor", flag, "--config", file.to_str().unwrap()], &[]).exits(3);
        assert!(!ran.out.contains("Token of the CRM"), "{}", ran.out);
    }
}
