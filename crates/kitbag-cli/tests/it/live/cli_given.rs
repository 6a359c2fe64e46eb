//! What `kitbag call` takes on its command line: files, lists, and names as other programs write them.

use serde_json::{Value, json};

use super::Farm;
use super::cli_show::defined;
use crate::house::Runs as _;

fn farm() -> Farm {
    defined(&json!([{"name": "get-t", "inputSchema": {"type": "object", "properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "o": {"type": "object"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}}}}}}]))
}

#[track_caller]
fn arrives(farm: &Farm, args: &[&str], expected: &Value) {
    let all: Vec<&str> = ["call", "x/get-t"].iter().chain(args).copied().collect();
    let text = farm.house.ask(&all).input("from stdin").run().exits(0).out;
    let params: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&params["arguments"], expected, "{args:?}");
}

#[test]
fn f60_arguments_are_taken_from_files() {
    let farm = farm();
    farm.house.put("project/a.txt", "first\nsecond\n");
    farm.house.put("project/o.json", "{\"k\": 1}");
    arrives(&farm, &["s=@a.txt"], &json!({"s": "first\nsecond\n"}));
    arrives(&farm, &["s=@-"], &json!({"s": "from stdin"}));
    arrives(&farm, &["s=@@a.txt"], &json!({"s": "@a.txt"}));
    arrives(&farm, &["o=@o.json"], &json!({"o": {"k": 1}}));
    arrives(&farm, &["o:=@o.json"], &json!({"o": {"k": 1}}));
    let missing = farm.house.run(&["call", "x/get-t", "s=@none.txt"]).fails(7, "\"none.txt\" cannot be read");
    assert!(missing.err.contains("s=@@none.txt"), "{}", missing.err);
    farm.house.run(&["call", "x/get-t", "s=@-", "o=@-"]).fails(7, "was read for another argument");
    farm.house.put("kit/config/kitbag.toml", "[limits]\nline = \"64KiB\"\n");
    farm.house.put("project/big.txt", "x".repeat((64 << 10) + 1));
    farm.house.run(&["call", "x/get-t", "s=@big.txt"]).fails(7, "larger than 65536 bytes");
    farm.is_empty();
}

#[test]
fn f60_lists_take_words_and_repeated_keys() {
    let farm = farm();
    arrives(&farm, &["tags=a,b"], &json!({"tags": ["a", "b"]}));
    arrives(&farm, &["tags=a,b", "tags=c"], &json!({"tags": ["a,b", "c"]}));
    arrives(
        &farm,
        &["rows={\"name\":\"a\"}", "rows={\"name\":\"b\"}"],
        &json!({"rows": [{"name": "a"}, {"name": "b"}]}),
    );
    farm.house.run(&["call", "x/get-t", "s=a", "s=b"]).fails(7, "given twice");
    farm.house.run(&["call", "x/get-t", "o={bad"]).fails(7, "o is not valid JSON: key must be a string");
    farm.is_empty();
}

#[test]
fn f60_the_call_to_try_is_valid_and_keeps_the_flags() {
    let farm = defined(&json!([{"name": "t", "inputSchema": {"type": "object", "required": ["rows"],
        "properties": {"rows": {"type": "array", "items": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}}}}}}}]));
    let ran = farm.house.run(&["call", "x/t", "rows=[{}]", "--demo"]).fails(7, "name");
    let hint = ran.err.split("try: ").nth(1).unwrap().trim().to_owned();
    assert!(hint.contains("\"name\":") && hint.ends_with(" --demo"), "{hint}");
    farm.is_empty();
}

#[test]
fn f60_names_of_other_programs_are_taken_and_said() {
    let farm = farm();
    for name in ["x/get_t", "X/Get-T", "x.get_t", "x__get_t", "mcp__x__get-t"] {
        let ran = farm.house.run(&["call", name, "n=1"]).exits(0);
        assert_eq!(ran.err, format!("note: {name} is taken for x/get-t\n"));
    }
    for name in ["x/get-t", "get-t", "mcp_x_get_t", "x_get_t"] {
        assert_eq!(farm.house.run(&["call", name, "n=1"]).exits(0).err, "", "{name}");
    }
    farm.is_empty();
}

/// Without the flags that were given, the next command would be about other servers.
#[test]
fn f60_whatever_is_to_be_typed_next_keeps_the_flags() {
    let farm = farm();
    let entries = std::fs::read_to_string(farm.house.path("kit/config/mcp.json")).unwrap();
    farm.house.put("x.json", entries);
    farm.house.put("kit/config/mcp.json", "{}");
    farm.house.put("broken.json", "{\"mcpServers\": {\"x\": {\"command\": \"none-such\"}}}");
    let (x, broken) = (farm.house.at("x.json"), farm.house.at("broken.json"));
    let (x, broken) = (x.as_str(), broken.as_str());
    for (args, next) in [
        (&["call", "nobody-has-this", "--demo"][..], "kitbag why nobody-has-this --demo"),
        (&["call", "get-", "--config", x], "kitbag call mcp_x_get_t --config "),
        (&["show", "get-", "--config", x], "kitbag show mcp_x_get_t --config "),
        (&["call", "x/t", "--config", broken], "kitbag logs x --config "),
        (&["show", "t", "--config", broken], "kitbag status --config "),
    ] {
        let ran = farm.house.run(args);
        assert!(ran.err.contains(&format!("try: {next}")), "{args:?}: {}", ran.err);
    }
    let why = farm.house.run(&["why", "x/t", "--config", broken]);
    assert!(why.all().contains("kitbag logs x --config "), "{}", why.all());
}
