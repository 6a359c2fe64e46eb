//! `kitbag show`: everything about one tool.

use serde_json::json;

use super::Farm;
use crate::house::Runs as _;
use crate::pty::{self, uncoloured};

/// A farm with one server whose definitions are these.
pub(super) fn defined(definitions: &serde_json::Value) -> Farm {
    let farm = Farm::new();
    let file = farm.house.put("tools.json", definitions.to_string());
    farm.add("x", &["--tools", file.to_str().unwrap()]);
    farm
}

fn search() -> Farm {
    let farm = defined(&json!([{
        "name": "search",
        "title": "Search everything",
        "description": "Looks for things in places.\n\nThe second paragraph is long enough that it has to be \
                        broken into several lines on a terminal of eighty columns.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
                "sort": {"enum": ["asc", "desc"]},
                "where": {"type": "object", "properties": {"place": {"type": "string"}}},
                "api_key": {"type": "string"},
            },
            "required": ["query", "api_key"],
        },
        "outputSchema": {"type": "object", "properties": {"hits": {"type": "array"}}},
        "annotations": {"readOnlyHint": true, "openWorldHint": true},
    }]));
    farm.settings(SEARCH);
    farm
}

const SEARCH: &str = r#"
[servers.x]
category = "finding"
read_only = ["search"]
approve = ["search"]
[servers.x.tools.search]
name = "find"
args.query = { rename = "text" }
args.api_key = { pin = "PLANTED-SECRET-VALUE" }
args.limit = { default = 5 }
"#;

#[test]
fn show_says_everything_about_a_tool() {
    let farm = search();
    let ran = pty::run(&farm.house, 80, &["show", "find"], &[]).exits(0);
    let plain = uncoloured(&ran.out);
    insta::assert_snapshot!("show_of_a_shaped_tool", plain);
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
    assert!(!ran.all().contains("PLANTED-SECRET-VALUE"));
    // All its names lead to it.
    for name in ["x/search", "mcp_x_search", "search", "MCP-X-SEARCH"] {
        assert!(farm.house.run(&["show", name]).exits(0).out.starts_with("find\n"), "{name}");
    }
    farm.is_empty();
}

#[test]
fn show_as_json_has_more_keys_than_tools() {
    let farm = search();
    let shown = farm.house.run(&["show", "find", "--json"]).exits(0);
    assert!(!shown.out.contains("PLANTED-SECRET-VALUE"));
    let shown = shown.json();
    assert_eq!((&shown["name"], &shown["full_name"]), (&json!("find"), &json!("mcp_x_search")));
    assert_eq!((&shown["server"], &shown["tool"]), (&json!("x"), &json!("search")));
    let arguments = shown["arguments"].as_array().unwrap();
    assert_eq!(
        arguments[0],
        json!({"name": "text", "type": "string", "required": true, "default": null, "description": "What to look for"})
    );
    assert_eq!(arguments[1]["default"], 5);
    assert_eq!(arguments.len(), 4, "{shown}");
    assert_eq!(shown["marks"], json!({"repeatable": true, "approve": true}));
    assert_eq!(shown["rules"], json!(["marks", "category", "name", "args"]));
    assert_eq!(shown["sent"][0], json!({"argument": "query", "change": "rename", "shown": "text"}));
    assert_eq!(shown["sent"][1], json!({"argument": "api_key", "change": "pin", "value": "***"}));
    // What it offers to paste is a call that fits.
    assert_eq!(shown["examples"].as_array().unwrap().len(), 1);
    let example = shown["example"].as_str().unwrap().to_owned();
    let words: Vec<&str> = example.split(' ').skip(1).collect();
    // Nobody sits there to approve of it; without that rule it runs.
    farm.house.run(&words).fails(6, "approval");
    farm.settings(&SEARCH.replace("approve", "# approve"));
    let answer = farm.house.run(&words).exits(0).out;
    assert!(answer.contains("PLANTED-SECRET-VALUE") && answer.contains("\"query\""), "{example}: {answer}");
    farm.is_empty();
}

#[test]
fn show_of_what_is_not_there() {
    let farm = Farm::of("one", &[]);
    farm.add("two", &[]);
    farm.house.run(&["show", "mcp_one_ecko"]).fails(5, "mcp_one_echo");
    farm.house.run(&["show", "echo"]).fails(5, "mcp_one_echo, mcp_two_echo");
    farm.house.run(&["show", "quite-another-thing"]).fails(5, "kitbag why quite-another-thing");
    farm.house.run(&["show"]).exits(2);
    let ran = farm.house.run(&["show", "mcp_one_ecko", "--json"]).exits(5);
    assert_eq!(ran.out, "");
    let error: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!(error["exit"], 5);
    farm.is_empty();
}
