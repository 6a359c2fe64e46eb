//! The examples of `docs/config.md` are files that Kitbag reads without a complaint.

use serde_json::Value;

use crate::house::{House, Ran, Runs as _};

const CONFIG: &str = include_str!("../../../../docs/config.md");

/// The examples: the folder and file each stands for, by the words behind its fence, and its text.
fn examples() -> Vec<(&'static str, String)> {
    let mut examples = Vec::new();
    let mut lines = CONFIG.lines();
    while let Some(line) = lines.next() {
        let Some((_, path)) = line.strip_prefix("```").and_then(|rest| rest.split_once(' ')) else {
            continue;
        };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        examples.push((path, text.join("\n") + "\n"));
    }
    examples
}

/// A house with these of the examples.
fn house(is_put: impl Fn(&str) -> bool) -> House {
    let house = House::new();
    for (path, text) in examples().iter().filter(|(path, _)| is_put(path)) {
        house.put(&format!("kit/{path}"), text);
    }
    house
}

fn run(house: &House, args: &[&str]) -> Ran {
    house.ask(args).env("KITBAG_INPUT_NOTES_KEY", "k").run()
}

#[test]
fn f64_the_examples_of_the_docs_are_read() {
    let paths: Vec<&str> = examples().iter().map(|(path, _)| *path).collect();
    assert_eq!(
        paths,
        [
            "config/kitbag.toml",
            "config/mcp.json",
            "config/servers/notes.json",
            "config/names.json",
            "state/trust.json",
            "state/secrets.json"
        ]
    );
    // The settings speak of a server that the other example does not define.
    let settings = house(|path| path == "config/kitbag.toml");
    settings.put("kit/config/servers/github.json", r#"{"url": "https://example.com/mcp"}"#);
    let ran = run(&settings, &["config"]).exits(0);
    assert_eq!(ran.err, "");
    run(&settings, &["config", "--agent", "coder", "--user", "ada"]).exits(0);

    let rest = house(|path| path != "config/kitbag.toml");
    let ran = run(&rest, &["config", "--json"]).exits(0);
    assert_eq!(ran.err, "");
    assert_eq!(rest.states(&[]), "notes=used tickets=disabled time=used");
    let names = run(&rest, &["names"]).exits(0);
    assert!(names.out.contains("mcp_time_get_current_time") && names.err.is_empty(), "{names:?}");
    let approvals = run(&rest, &["trust", "--list", "--json"]).exits(0).json();
    assert_eq!(approvals.as_array().map(Vec::len), Some(1), "{approvals}");
}

#[test]
fn f64_an_answer_of_the_example_is_found() {
    let house = house(|path| path != "config/kitbag.toml");
    let file = house.at("kit/config/servers/notes.json");
    let answers =
        house.text("kit/state/secrets.json").replace("/home/ada/.config/kitbag/servers/notes.json", &file);
    let missing = |house: &House| house.run(&["doctor", "--json"]).all().contains("missing_input");
    assert!(missing(&house), "the example speaks of another file");
    house.put("kit/state/secrets.json", answers);
    assert!(!missing(&house));
}

#[test]
fn f64_every_key_and_variable_is_in_the_docs() {
    let house = House::new();
    let schema = house.run(&["config", "--schema"]).exits(0).json();
    let sections: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    for section in sections {
        assert!(CONFIG.contains(&format!("### `[{section}")), "{section}");
    }
    let keys = house.run(&["config", "--keys"]).exits(0).json();
    let own = keys["entry"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap());
    for key in own.chain(keys["kept"].as_array().unwrap().iter().filter_map(Value::as_str)) {
        assert!(CONFIG.contains(&format!("`{key}`")), "{key}");
    }
}
