//! `kitbag why`: how far a tool comes, and what stops it.

use serde_json::{Value, json};

use super::Farm;
use super::cli_show::defined;
use crate::house::Runs as _;
use crate::pty::{self, uncoloured};

/// The stages of the first tool, as `+discovered +parsed -shaped .permitted .presentable`.
#[track_caller]
fn stages(answer: &Value) -> String {
    let word = |stage: &Value| {
        let sign = match &stage["ok"] {
            Value::Bool(true) => "+",
            Value::Bool(false) => "-",
            _ => ".",
        };
        format!("{sign}{}", stage["stage"].as_str().unwrap())
    };
    answer["tools"][0]["stages"].as_array().unwrap().iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(farm: &Farm, args: &[&str], code: i32, expected: &str, reason: &str) {
    let all: Vec<&str> = ["why"].iter().chain(args).copied().collect();
    let text = farm.house.run(&all).exits(code);
    assert!(text.out.contains(reason), "{args:?}: no {reason:?} in {}", text.out);
    let json = farm.house.run(&[&all[..], &["--json"]].concat()).exits(code).json();
    assert_eq!(stages(&json), expected, "{args:?}");
    assert_eq!(json["callable"], code == 0, "{json}");
}

const ALL: &str = "+discovered +parsed +shaped +permitted +presentable";
const NOT_SHAPED: &str = "+discovered +parsed -shaped .permitted .presentable";
const NOT_PERMITTED: &str = "+discovered +parsed +shaped -permitted .presentable";
const NOT_DISCOVERED: &str = "-discovered .parsed .shaped .permitted .presentable";

#[test]
fn why_names_the_stage_and_the_rule() {
    let farm = Farm::of("x", &[]);
    farm.house.put(
        "kit/config/kitbag.toml",
        r#"
[servers.x]
exclude = ["die"]
[servers.x.tools.add]
name = "sum"
[servers.x.tools.sleep]
args.nothing = { pin = 1 }
[agents.coder]
allow = ["x/e*"]
[agents.elsewhere]
servers = ["y"]
"#,
    );
    for name in ["mcp_x_echo", "x/echo", "echo", "MCP-X-Echo"] {
        check(&farm, &[name], 0, ALL, "callable as mcp_x_echo");
    }
    check(&farm, &["sum"], 0, ALL, "callable as sum");
    check(&farm, &["x/add"], 0, ALL, "changed by name");
    check(&farm, &["x/die"], 6, NOT_SHAPED, "filter: excluded by its server's exclude list");
    check(&farm, &["mcp_x_die"], 6, NOT_SHAPED, "filter:");
    check(&farm, &["die"], 6, NOT_SHAPED, "filter:");
    check(&farm, &["x/sleep"], 6, NOT_SHAPED, "args: failed: it has no argument \"nothing\"");
    check(
        &farm,
        &["x/add", "--agent", "coder"],
        6,
        NOT_PERMITTED,
        "agent: not in the allow list of [agents.coder]",
    );
    check(&farm, &["sum", "--agent", "coder"], 6, NOT_PERMITTED, "allow of [agents.coder]");
    check(
        &farm,
        &["x/echo", "--agent", "elsewhere"],
        6,
        NOT_PERMITTED,
        "its server is not one of the agent's",
    );
    check(&farm, &["x/echo", "--agent", "coder"], 0, ALL, "for the user local and the agent coder");
    check(&farm, &["kitbag_read_result"], 0, ALL, "local lists it");
    farm.is_empty();
}

#[test]
fn why_says_what_was_wrong_with_a_definition() {
    let farm = defined(&json!([
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "bad", "inputSchema": {"type": "string"}},
        {"name": "far", "inputSchema": {"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}},
    ]));
    let parsed = "+discovered -parsed .shaped .permitted .presentable";
    for name in ["x/bad", "bad", "mcp_x_bad"] {
        check(&farm, &[name], 6, parsed, "its input schema is of type \"string\", not object");
    }
    check(&farm, &["x/far"], 6, parsed, "its input schema cannot be used");
    farm.is_empty();
}

#[test]
fn why_says_when_a_server_is_not_there() {
    let farm = Farm::of("x", &[]);
    farm.add_with("gone", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.add_with("off", &[], &json!({"disabled": true}));
    farm.house.put("project/.mcp.json", r#"{"mcpServers": {"held": {"command": "a"}}}"#);
    farm.house.put("home/.cursor/mcp.json", r#"{"mcpServers": {"theirs": {"command": "a"}}}"#);
    check(&farm, &["gone/echo"], 4, NOT_DISCOVERED, "no-such-program-anywhere");
    check(&farm, &["mcp_off_echo"], 4, NOT_DISCOVERED, "kitbag servers enable off");
    check(&farm, &["held/echo"], 6, NOT_DISCOVERED, "kitbag trust held");
    check(&farm, &["theirs/echo"], 4, NOT_DISCOVERED, "kitbag servers import theirs");
    farm.is_empty();
}

#[test]
fn why_of_what_nobody_has() {
    let farm = Farm::of("x", &[]);
    farm.house.run(&["why", "mcp_x_ecko"]).fails(5, "mcp_x_echo");
    farm.house.run(&["why", "quite-another-thing"]).fails(5, "kitbag tools");
    let answer = farm.house.run(&["why", "mcp_x_ecko", "--json"]).exits(5).json();
    assert_eq!((&answer["tools"], &answer["near"][0]), (&json!([]), &json!("mcp_x_echo")));
    // Who could not be asked is said, and may be who has it.
    farm.add_with("gone", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.house.run(&["why", "quite-another-thing"]).fails(4, "not connected: gone");
    farm.is_empty();
}

#[test]
fn why_of_a_name_that_several_have() {
    let farm = Farm::of("one", &[]);
    farm.add("two", &[]);
    let ran = farm.house.run(&["why", "echo"]).exits(5);
    assert!(ran.out.contains("one/echo") && ran.out.contains("two/echo"), "{ran:?}");
    // Of one that only one may have, that one is meant; the other is shown, too.
    farm.house.put("kit/config/kitbag.toml", "[servers.one]\nexclude = [\"echo\"]\n");
    let ran = farm.house.run(&["why", "echo"]).exits(0);
    let first = ran.out.find("two/echo").unwrap();
    assert!(first < ran.out.find("one/echo").unwrap(), "{}", ran.out);
    farm.is_empty();
}

#[test]
fn why_has_signs_on_a_terminal_and_words_in_a_pipe() {
    let farm = Farm::of("x", &[]);
    let ran = pty::run(&farm.house, 80, &["why", "x/echo", "--verbose"], &[]).exits(0);
    let plain = uncoloured(&ran.out);
    assert!(plain.contains("✓  discovered") && plain.contains("rule  filter  kept"), "{plain}");
    let piped = farm.house.run(&["why", "x/echo"]).exits(0).out;
    assert!(piped.is_ascii() && piped.contains("ok  discovered"), "{piped}");
    farm.is_empty();
}
