//! Faults of schemas: what they cost, and where they lead.

use serde_json::{Value, json};

use crate::peer::Peer;

fn tool<'a>(tools: &'a [Value], name: &str) -> &'a Value {
    tools.iter().find(|tool| tool["name"] == name).unwrap()
}

/// How deep the arrays and objects of a line nest.
fn depth(line: &[u8]) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for byte in line {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

#[test]
fn c08_schema_bombs() {
    for mut peer in [Peer::legacy(&["--fault", "c08"]), Peer::modern(&["--fault", "c08"])] {
        peer.ask("tools/list", json!({}));
        let line = peer.line().unwrap();
        assert!((100..128).contains(&depth(&line)), "{}", depth(&line));
        let answer: Value = serde_json::from_slice(&line).unwrap();
        let tools = answer["result"]["tools"].as_array().unwrap();
        let schema = |name| &tool(tools, name)["inputSchema"];
        assert_eq!(schema("wide")["properties"].as_object().unwrap().len(), 50_000);
        assert_eq!(schema("fan_out")["$defs"].as_object().unwrap().len(), 31);
        let level = &schema("fan_out")["$defs"]["level29"]["properties"];
        assert_eq!(
            (&level["left"]["$ref"], &level["right"]["$ref"]),
            (&json!("#/$defs/level30"), &json!("#/$defs/level30"))
        );
        assert_eq!(schema("slow_pattern")["properties"]["text"]["pattern"], "(a+)+$");
        assert!(schema("look_around")["properties"]["ahead"]["pattern"].as_str().unwrap().contains("(?="));
        assert_eq!(
            schema("tree")["$defs"]["node"]["properties"]["children"]["items"]["$ref"],
            "#/$defs/node"
        );
        let tree = json!({ "root": { "value": "a", "children": [{ "value": "b", "children": [] }] } });
        let params: Value = serde_json::from_str(&peer.text("tree", tree.clone())).unwrap();
        assert_eq!(params["arguments"], tree);
    }
}

#[test]
fn c08_deep_is_too_deep_as_a_whole_and_alone_on_a_page() {
    for (spec, levels) in [("c08:deep", 10_000), ("c08:deep,200", 200)] {
        let mut peer = Peer::legacy(&["--fault", spec]);
        peer.ask("tools/list", json!({}));
        let line = peer.line().unwrap();
        assert!((levels..levels + 10).contains(&depth(&line)), "{}", depth(&line));
    }
    let mut paged = Peer::legacy(&["--fault", "c08:deep", "--page", "1"]);
    let (mut cursor, mut deep, mut names) = (json!({}), 0, Vec::new());
    loop {
        paged.ask("tools/list", cursor);
        let line = paged.line().unwrap();
        let next = match serde_json::from_slice::<Value>(&line) {
            Ok(mut page) => {
                names.push(page["result"]["tools"][0]["name"].take());
                page["result"]["nextCursor"].take()
            }
            Err(_) => {
                deep += 1;
                json!(format!("at-{}", names.len() + 1))
            }
        };
        if next.is_null() {
            break;
        }
        cursor = json!({ "cursor": next });
    }
    assert_eq!((deep, names.len()), (1, 9));
    assert_eq!((&names[0], &names[8]), (&json!("tree"), &json!("plain")));
}

#[test]
fn c09_references_to_the_outside() {
    for mut peer in [Peer::legacy(&["--fault", "c09:4321"]), Peer::modern(&["--fault", "c09:4321"])] {
        let tools = peer.listed();
        let reference = |name| tool(&tools, name)["inputSchema"]["properties"]["a"]["$ref"].as_str().unwrap();
        assert_eq!(reference("ext"), "http://127.0.0.1:4321/ext.json#/$defs/a");
        assert_eq!(reference("ext_file"), "file:///etc/passwd");
        assert_eq!(reference("ext_relative"), "other.json#/$defs/a");
        assert_eq!(reference("local"), "#/$defs/word");
        assert_eq!(reference("local_anchor"), "#word");
        let outside = tools.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("ext")).count();
        assert_eq!((outside, tools.len()), (7, 10));
        assert!(peer.text("local", json!({ "a": "x" })).contains(r#""a":"x""#));
    }
}
