//! S2.14: JSON as people paste it.

use crate::house::{House, Runs as _};

const FENCED: &str = "Add this to your config:\n\n```json\n{\n  \"mcpServers\": {\n    \"weather\": {\"command\": \"npx\", \"args\": [\"-y\", \"weather-mcp\"]}\n  }\n}\n```\nThen restart.\n";

#[test]
fn s2_14_pasted_json_with_and_without_fences() {
    for text in [
        FENCED,
        "{\"mcpServers\": {\"weather\": {\"command\": \"npx\", \"args\": [\"-y\", \"weather-mcp\"]}}}",
    ] {
        let house = House::new();
        house.run(&["servers", "add", "--paste", text]).exits(0);
        let shown = house.run(&["servers", "show", "weather", "--json"]).exits(0).json();
        assert_eq!(
            (&shown["command"], &shown["args"]),
            (&"npx".into(), &serde_json::json!(["-y", "weather-mcp"]))
        );
    }
}

#[test]
fn s2_14_pasted_from_standard_input() {
    let house = House::new();
    house.ask(&["servers", "add", "--paste", "-"]).input(FENCED).run().exits(0);
    assert_eq!(house.states(&[]), "weather=used");
    house.ask(&["servers", "add", "--paste", "-"]).input(b"\xff\xfe\xfd").run().fails(2, "standard input");
    house.ask(&["servers", "add", "--paste", "-"]).input("").run().fails(3, "nothing was pasted");
    assert_eq!(house.states(&[]), "weather=used");
}

#[test]
fn s2_14_one_server_with_its_name_inside() {
    let house = House::new();
    let one = r#"{"name": "vault", "transport": "sse", "url": "https://v.example.com/sse", "timeout": 120, "working_dir": null}"#;
    house.run(&["servers", "add", "--paste", one]).exits(0);
    let shown = house.run(&["servers", "show", "vault", "--json"]).exits(0).json();
    assert_eq!((&shown["transport"], &shown["call_timeout_ms"]), (&"sse".into(), &120_000.into()));
    // A name on the command line is stronger; without any there is nothing to call it.
    house.run(&["servers", "add", "mine", "--paste", one]).exits(0);
    assert_eq!(house.states(&[]), "mine=used vault=used");
    let before = house.text("kit/config/mcp.json");
    house.run(&["servers", "add", "--paste", r#"{"command": "x"}"#]).fails(3, "has no name");
    assert_eq!(house.text("kit/config/mcp.json"), before);
    house.run(&["servers", "add", "named", "--paste", r#"{"command": "x"}"#]).exits(0);
    assert!(house.states(&[]).contains("named=used"));
}

#[test]
fn s2_14_one_name_for_several_servers_is_refused() {
    let house = House::new();
    house
        .run(&[
            "servers",
            "add",
            "one",
            "--paste",
            r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#,
        ])
        .fails(2, "2 servers");
    assert_eq!(house.states(&[]), "");
}

#[test]
fn s2_14_several_servers_at_once() {
    let house = House::new();
    let two = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"url": "https://b.example.com/mcp"}}}"#;
    let json = house.run(&["servers", "add", "--json", "--paste", two]).exits(0).json();
    assert_eq!(json.as_array().unwrap().len(), 2, "{json}");
    assert_eq!(house.states(&[]), "a=used b=used");
}

#[test]
fn s2_14_invalid_json_answers_with_the_position() {
    let house = House::new();
    let cases = [
        (
            "{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"}\n  \"b\": {\"command\": \"y\"}\n}}",
            "<pasted>:3:3",
        ),
        ("Text\n```\n{\"mcpServers\": {\n  \"a\": oops\n}}\n```\n", "<pasted>:4:8"),
        ("{", "<pasted>:1"),
        ("not json at all", "<pasted>:1"),
        ("{}", ""),
        ("[]", ""),
        ("{\"mcpServers\": {}}", ""),
        ("{\"mcpServers\": {\"a\": {\"args\": [\"x\"]}}}", "command"),
    ];
    for (text, place) in cases {
        let ran = house.run(&["servers", "add", "--paste", text]).fails(3, "nothing was added");
        assert!(ran.err.contains(place), "{text:?}: no {place} in {}", ran.err);
        for line in house
            .run(&["servers", "add", "--json", "--paste", text])
            .fails(3, "nothing was added")
            .err
            .lines()
        {
            let fault: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(fault.is_object(), "{line}");
        }
    }
    assert!(!house.path("kit/config/mcp.json").exists());
}

#[test]
fn s2_14_one_bad_server_does_not_cost_its_neighbour() {
    let house = House::new();
    let ran = house
        .run(&[
            "servers",
            "add",
            "--paste",
            r#"{"mcpServers": {"good": {"command": "x"}, "bad": {"args": ["x"]}}}"#,
        ])
        .exits(3);
    assert!(ran.err.contains("bad") && ran.err.contains("added good"), "{}", ran.err);
    assert_eq!(house.states(&[]), "good=used");
}
