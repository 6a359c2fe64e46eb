//! A command that has nothing to show says why, for what was asked and for nothing else, and ends accordingly.

use serde_json::json;

use super::Farm;
use crate::house::Runs as _;

/// Servers that have nothing to show, each for another reason, beside one that has.
fn farm() -> Farm {
    let farm = Farm::of("good", &[]);
    farm.add_with("off", &[], &json!({"enabled": false}));
    farm.add("mute", &["--fault", "c15:broken"]);
    farm.add("filtered", &[]);
    farm.add("empty", &["--no-tools"]);
    farm.enter("broken", json!({"commnd": "x"}));
    let held = json!({"mcpServers": {"held": {"command": testkit::bin("fake-mcp")}}});
    farm.house.put("project/.mcp.json", held.to_string());
    farm.settings(
        "[servers.filtered]\ninclude = ['nothing_*']\n[agents.blind]\nallow = ['good/nothing']\n\
         [agents.other]\nservers = ['good']\n",
    );
    farm
}

/// What `tools` and `cost` say of one server, and of no other.
#[track_caller]
fn check(farm: &Farm, args: &[&str], code: i32, words: &str) {
    for command in ["tools", "cost"] {
        let all: Vec<&str> = [&[command], args].concat();
        let ran = farm.house.run(&all).exits(code);
        assert!(ran.err.contains(words), "{all:?}: {}", ran.err);
        let others = ["good", "off", "mute", "filtered", "empty", "broken", "held"];
        let others = others.iter().filter(|name| !args.contains(name));
        for other in others {
            assert!(!ran.err.contains(&format!("{other}:")), "{all:?} speaks of {other}: {}", ran.err);
            assert!(!ran.err.contains(&format!("of {other}")), "{all:?} speaks of {other}: {}", ran.err);
        }
        assert_eq!(ran.out, "", "{all:?}");
    }
}

#[test]
fn f52_a_server_without_tools_to_show_says_why() {
    let farm = farm();
    check(&farm, &["off"], 4, "off is disabled");
    check(&farm, &["held"], 6, "held comes from the working folder and is not trusted yet");
    check(&farm, &["broken"], 3, "broken cannot be used: ");
    check(&farm, &["mute"], 4, "mute: tools cannot be listed: the list is broken");
    check(&farm, &["filtered"], 6, "tools of filtered passes its include and exclude lists");
    check(&farm, &["good", "--agent", "blind"], 6, "the agent blind sees none of the ");
    check(&farm, &["mute", "--agent", "other"], 6, "the agent other does not see the server mute");
    check(&farm, &["empty"], 0, "empty lists no tools");
    // Of several, each that has none.
    let some = farm.house.run(&["tools", "good", "filtered", "off"]).exits(0);
    assert!(some.out.contains("mcp_good_echo"), "{}", some.out);
    assert!(some.err.contains("of filtered passes") && some.err.contains("off is disabled"), "{}", some.err);
    farm.is_empty();
}

#[test]
fn f52_an_agent_that_sees_nothing_is_told_so() {
    let farm = farm();
    for command in ["tools", "prompt", "cost"] {
        let ran = farm.house.run(&[command, "--agent", "blind"]).exits(6);
        assert!(ran.err.contains("the agent blind sees none of the "), "{command}: {}", ran.err);
        assert!(ran.err.contains("servers and allow of [agents.blind] in kitbag.toml"), "{}", ran.err);
        // What the agent does not see is not its business.
        assert!(!ran.err.contains("mute"), "{command}: {}", ran.err);
    }
    let json = farm.house.run(&["tools", "--agent", "blind", "--json"]).exits(6);
    assert!(json.json().as_array().unwrap().iter().all(|row| row["server"] == "local"), "{}", json.out);
    assert!(json.err.contains("\"code\":\"denied\""), "{}", json.err);
    farm.is_empty();
}

#[test]
fn f75_a_tool_of_a_server_that_is_not_used_says_why() {
    let farm = farm();
    for (tool, code, words) in [
        ("off/echo", 4, "off is disabled"),
        ("mcp_off_echo", 4, "off is disabled"),
        ("held/echo", 6, "held comes from the working folder"),
        ("broken/echo", 3, "broken cannot be used: "),
    ] {
        for command in ["show", "call"] {
            let ran = farm.house.run(&[command, tool]).fails(code, words);
            assert!(!ran.err.contains("mute"), "{command} {tool}: {}", ran.err);
        }
    }
    let called = farm.house.run(&["call", "held/echo", "--json"]).exits(6).json();
    assert_eq!((&called["ok"], &called["kind"]), (&json!(false), &json!("held")));
    farm.is_empty();
}

#[test]
fn f52_a_server_that_is_not_used_cannot_be_warmed() {
    let farm = farm();
    farm.house.run(&["servers", "warm", "off"]).fails(4, "off is disabled");
    farm.house.run(&["servers", "warm", "held"]).fails(6, "kitbag trust");
    farm.house.run(&["servers", "warm", "broken"]).fails(3, "broken cannot be used: ");
    let both = farm.house.run(&["servers", "warm", "good", "off"]).exits(0);
    assert!(both.out.starts_with("good: ready") && both.err.contains("off is disabled"), "{both:?}");
    assert_eq!(both.out.lines().count(), 1, "{both:?}");
    farm.is_empty();
}

#[test]
fn f52_where_no_server_is_in_use_that_is_said() {
    let farm = Farm::new();
    farm.add_with("off", &[], &json!({"enabled": false}));
    for command in ["tools", "prompt", "cost"] {
        let ran = farm.house.run(&[command]).exits(0);
        assert!(ran.err.contains("nothing to show: no server is in use (1 disabled)"), "{command}: {ran:?}");
        assert_eq!(ran.out, "", "{command}");
    }
    farm.is_empty();
}
