//! f25 and f74 on the command line: names that are kept, shown and freed, and what a bare name means.

use serde_json::json;

use super::Farm;
use crate::house::Runs as _;

const BARE: &str = "[present]\nnames = 'bare'\n";

/// Every name that `tools` lists.
fn names(farm: &Farm, args: &[&str]) -> Vec<String> {
    let tools = farm.house.run(&[&["tools", "--json"], args].concat()).exits(0).json();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn f25_named_files_have_names_of_their_own() {
    let farm = Farm::of("elsewhere", &[]);
    farm.settings(BARE);
    assert!(names(&farm, &[]).contains(&"echo".to_owned()));
    let before = farm.house.text("kit/config/names.json");
    farm.house.put("named/kitbag.toml", BARE);
    let entry = farm.entry("here", &[], &json!({"name": "here"}));
    farm.house.put("named/here.json", entry.to_string());
    for _ in 0..2 {
        let names = names(&farm, &["--config", &farm.house.at("named")]);
        assert!(names.contains(&"echo".to_owned()), "{names:?}");
    }
    assert_eq!(farm.house.text("kit/config/names.json"), before);
    farm.is_empty();
}

#[test]
fn f25_names_are_shown_and_freed_by_a_command() {
    let farm = Farm::of("old", &[]);
    farm.settings(BARE);
    assert!(names(&farm, &[]).contains(&"echo".to_owned()));
    farm.remove("old");
    farm.add("new", &[]);
    // It is kept for whoever had it.
    assert!(!names(&farm, &[]).contains(&"echo".to_owned()));
    let rows = farm.house.run(&["names", "--json"]).exits(0).json();
    let row = rows.as_array().unwrap().iter().find(|row| row["name"] == "echo").unwrap();
    assert_eq!((&row["server"], &row["configured"]), (&json!("old"), &json!(false)), "{row}");
    assert!(farm.house.run(&["names"]).exits(0).out.contains("echo"));
    farm.house.run(&["names", "free", "ecko"]).fails(5, "ecko");
    // The new one is named after it was freed, but what it was given meanwhile is its own.
    farm.house.run(&["names", "free", "--removed"]).exits(0);
    farm.house.run(&["names", "free", "new/echo"]).exits(0);
    assert!(names(&farm, &[]).contains(&"echo".to_owned()));
    farm.house.run(&["names", "--config", "."]).fails(2, "--config");
}

/// One has had its names before the other came; then it is slow and nothing of it is remembered.
fn cold(args: &[&str]) -> Farm {
    let farm = Farm::of("a", &[]);
    farm.settings(BARE);
    assert!(names(&farm, &[]).contains(&"echo".to_owned()));
    farm.add("a", args);
    farm.add("b", &[]);
    std::fs::remove_dir_all(farm.house.path("kit/cache")).unwrap();
    farm
}

#[test]
fn f74_a_command_waits_for_the_server_of_a_bare_name() {
    let farm = cold(&["--start-delay", "1500"]);
    farm.house.run(&["call", "echo", "message=hi"]).exits(0);
    assert_eq!((farm.count("a", "call echo"), farm.count("b", "call echo")), (1, 0));
    let farm = cold(&["--fault", "s05"]);
    farm.house.run(&["call", "echo", "message=hi", "--wait", "500ms"]).fails(5, "ambiguous");
    assert_eq!(farm.count("b", "call echo"), 0);
}

#[test]
fn f74_a_command_does_not_take_a_short_form_for_another_servers_tool() {
    let definition = json!([{"name": "good_echo", "inputSchema": {"type": "object"}}]);
    for args in [&[][..], &["--start-delay", "1000"], &["--fault", "s05"]] {
        let farm = Farm::of("good", args);
        farm.add_echo("x", &definition);
        farm.house.run(&["call", "good_echo", "message=hi", "--wait", "3s"]).fails(5, "ambiguous");
        assert_eq!(farm.count("x", "call good_echo"), 0, "{args:?}");
    }
}
