//! Faults of what stands in a catalog and in results.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::peer::{Peer, Speech, text};

fn both_eras(spec: &str) -> [Peer; 2] {
    [Peer::legacy(&["--fault", spec]), Peer::modern(&["--fault", spec])]
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

/// The call arrived as it was sent.
#[track_caller]
fn works(peer: &mut Peer, tool: &str, arguments: Value) {
    let params: Value = serde_json::from_str(&peer.text(tool, arguments.clone())).unwrap();
    assert_eq!((&params["name"], &params["arguments"]), (&json!(tool), &arguments));
}

/// The instructions of the server in both eras.
fn instructions(spec: &str) -> [String; 2] {
    let mut legacy = Peer::start(&["--fault", spec]);
    let mut modern = Peer::start(&["--fault", spec]);
    modern.speech = Speech::Modern;
    let answers = [legacy.initialize("2025-11-25"), modern.request("server/discover", json!({}))];
    answers.map(|answer| answer["result"]["instructions"].as_str().unwrap().to_owned())
}

#[test]
fn c02_invisible_characters() {
    let kinds = ["\u{200b}", "\u{202e}", "\u{e0072}", "\u{e0001}", "\u{fe0f}", "\u{e0100}", "\u{ad}"];
    let hidden = |text: &str| kinds.iter().all(|kind| text.contains(kind));
    assert!(instructions("c02").iter().all(|text| hidden(text)));
    for mut peer in both_eras("c02") {
        let tools = peer.listed();
        let texts = &tools[0];
        assert_eq!(texts["name"], "hidden_text");
        let state = &texts["inputSchema"]["properties"]["state"];
        for place in [&texts["description"], &texts["title"], &state["oneOf"][0]["description"]] {
            assert!(hidden(place.as_str().unwrap()), "{place}");
        }
        assert!(names(&tools).contains(&"ghost\u{200b}_name") && names(&tools).contains(&"tw\u{200d}in"));
        works(&mut peer, "hidden_text", json!({ "path": "x", "state": "open" }));
        works(&mut peer, "ghost\u{200b}_name", json!({}));
        works(&mut peer, "hidden_property", json!({ "us\u{2060}er": "x" }));
        works(&mut peer, "hidden_enum", json!({ "state": "clo\u{ad}sed" }));
    }
}

#[test]
fn c02_escaped_is_the_same_in_ascii() {
    let mut plain = Peer::legacy(&["--fault", "c02"]);
    let mut escaped = Peer::legacy(&["--fault", "c02:escaped"]);
    escaped.ask("tools/list", json!({}));
    let line = escaped.line().unwrap();
    assert!(line.is_ascii());
    let answer: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(answer["result"]["tools"], json!(plain.listed()));
    works(&mut escaped, "tw\u{200d}in", json!({}));
}

#[test]
fn c03_terminal_escapes() {
    let obeyed = ["\u{1b}[2J", "\u{1b}]8;;", "\u{7}", "\u{8}", "\r", "\u{9b}"];
    let has_all = |value: &Value| obeyed.iter().all(|part| value.as_str().unwrap().contains(part));
    assert!(instructions("c03").iter().all(|text| has_all(&json!(text))));
    for mut peer in both_eras("c03") {
        let tools = peer.listed();
        assert!(has_all(&tools[0]["description"]) && has_all(&tools[0]["title"]));
        assert!(has_all(&tools[0]["inputSchema"]["properties"]["text"]["description"]));
        assert!(names(&tools).contains(&"na\u{1b}[31mme"));
        assert!(has_all(&peer.call("say", json!({}))["result"]["content"][0]["text"]));
        let failed = peer.call("fail_loudly", json!({}))["result"].take();
        assert!(failed["isError"] == true && has_all(&failed["content"][0]["text"]));
        assert!(has_all(&peer.call("refuse", json!({}))["error"]["message"]));
        assert!(has_all(&peer.call("structured", json!({}))["result"]["structuredContent"]["said"]));
        assert!(has_all(&peer.call("link", json!({}))["result"]["content"][0]["name"]));
        works(&mut peer, "plain", json!({ "text": "x" }));
        assert!(peer.end().1.contains("\u{1b}[2J"), "on stderr too");
    }
}

#[test]
fn c05_each_tool_says_which_it_is() {
    for (label, own) in [("a", "status"), ("b", "_status")] {
        for mut peer in both_eras(&format!("c05:{label}")) {
            let tools = peer.listed();
            assert_eq!(names(&tools)[..4], [own, "get-file", "get_file", "get.file"]);
            let [one, two] = [names(&tools)[4], names(&tools)[5]];
            assert!(one.len() == 70 && two.len() == 70 && one[..69] == two[..69] && one != two);
            for name in names(&tools) {
                assert_eq!(peer.text(name, json!({})), format!("{label}/{name}"));
            }
        }
    }
}

#[test]
fn c06_broken_definitions() {
    for mut peer in both_eras("c06") {
        let tools = peer.listed();
        let named = names(&tools);
        assert_eq!((named[0], *named.last().unwrap()), ("first", "last"));
        assert_eq!(named.iter().filter(|name| **name == "twice").count(), 2);
        assert!(named.contains(&"") && named.iter().any(|name| name.len() == 200));
        assert_eq!((&tools[1], &tools[2]), (&Value::Null, &json!(42)));
        let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
        assert!(of("about_number")["description"].is_number() && of("hints_list")["annotations"].is_array());
        assert!(
            of("schema_missing").get("inputSchema").is_none() && of("schema_text")["inputSchema"] == "object"
        );
        assert_eq!(of("schema_of_text")["inputSchema"], json!({ "type": "string" }));
        assert_eq!(of("properties_list")["inputSchema"]["properties"], json!([]));
        assert_eq!(of("output_garbage")["outputSchema"], "?!");
        for name in ["first", "middle", "last", "schema_missing"] {
            works(&mut peer, name, json!({ "text": "x" }));
        }
    }
}

#[test]
fn c07_lying_annotations() {
    let folder = TempDir::new().unwrap();
    let events = folder.path().join("events");
    let args = |spec| ["--fault", spec, "--events", events.to_str().unwrap()];
    let mut lying = Peer::legacy(&args("c07"));
    let mut tools = lying.listed();
    let hints = tools.iter_mut().map(|tool| tool.as_object_mut().unwrap().remove("annotations").unwrap());
    let hints: Vec<_> = hints.collect();
    assert_eq!((&hints[0]["readOnlyHint"], &hints[0]["destructiveHint"]), (&json!(true), &json!(false)));
    assert_eq!((&hints[0]["idempotentHint"], &hints[1]["destructiveHint"]), (&json!(true), &json!(true)));
    let mut plain = Peer::modern(&args("c07:plain"));
    assert_eq!(plain.listed(), tools, "the same without annotations");
    for peer in [&mut lying, &mut plain] {
        works(peer, "wipe", json!({ "path": "x" }));
        works(peer, "look", json!({}));
    }
    let events = fs::read_to_string(&events).unwrap();
    assert_eq!(["exec wipe\n", "exec look\n"].map(|line| events.matches(line).count()), [2, 2]);
}

#[test]
fn c10_results() {
    for mut peer in both_eras("c10") {
        let tools = peer.listed();
        assert_eq!(tools.len(), 26);
        for name in names(&tools) {
            let answer = peer.call(name, json!({}));
            assert!(answer.get("result").is_some(), "{name}: {answer}");
        }
        let mut result = |name: &str| peer.call(name, json!({}))["result"].take();
        assert_eq!(result("result_null"), Value::Null);
        assert_eq!(result("result_text"), "just a text");
        assert!(result("content_missing").get("content").is_none());
        assert!(
            result("content_null")["content"].is_null() && result("content_object")["content"].is_object()
        );
        assert!(result("block_untyped")["content"][0].get("type").is_none());
        assert_eq!(result("error_text")["isError"], "true");
        assert_eq!(result("structured_wrong")["structuredContent"], json!({ "count": "five" }));
        let only = result("structured_only");
        assert_eq!((&only["content"], &only["structuredContent"]), (&json!([]), &json!({ "count": 5 })));
        let twice = result("structured_twice");
        let copy: Value = serde_json::from_str(twice["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(copy, twice["structuredContent"]);
        assert_ne!(twice["content"][0]["text"], twice["structuredContent"].to_string(), "not by bytes");
        let image = result("image_twice");
        assert_eq!(image["content"][0]["data"], image["structuredContent"]["picture"]["data"]);
        assert!(result("resource_nowhere")["content"][0]["resource"].get("uri").is_none());
        let huge = peer.text("huge", json!({ "size": 3_000_000 }));
        assert!(huge.len() == 3_000_000 && huge.starts_with("line 00000001 "));
        works(&mut peer, "good", json!({ "x": 1 }));
    }
}

#[test]
fn content_faults_leave_the_good_tools_callable_and_have_pages() {
    for spec in ["c02", "c03", "c05", "c06", "c07", "c08", "c09", "c10", "c15", "c16"] {
        let mut peer = Peer::legacy(&["--fault", spec, "--page", "1"]);
        assert_eq!(text(&peer.call("add", json!({ "a": 1, "b": 2 }))), "3", "{spec}");
        let page = peer.request("tools/list", json!({}))["result"].take();
        assert_eq!(page["tools"].as_array().unwrap().len(), 1, "{spec}");
        assert_eq!(page["nextCursor"], "at-1", "{spec}");
        let next = peer.request("tools/list", json!({ "cursor": "at-1" }));
        assert_ne!(next["result"]["tools"], page["tools"], "{spec}");
    }
}
