//! A list that changes under a client's hands.

use std::time::Duration;

use serde_json::{Value, json};

use crate::peer::Peer;

fn names(peer: &mut Peer) -> Vec<String> {
    peer.listed().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

const CONTROLS: [&str; 5] = ["break_list", "mend_list", "add_tool", "remove_tool", "change_tool"];

/// The names before those of the controls.
fn own(peer: &mut Peer) -> Vec<String> {
    let mut names = names(peer);
    assert_eq!(names.split_off(names.len() - CONTROLS.len()), CONTROLS);
    names
}

/// The calls since the last look were followed by that many notifications.
#[track_caller]
fn noted(peer: &mut Peer, count: usize) {
    let notes = std::mem::take(&mut peer.others);
    let changed = |line: &Vec<u8>| {
        let note: Value = serde_json::from_slice(line).unwrap();
        note["method"] == "notifications/tools/list_changed"
    };
    assert!(notes.len() == count && notes.iter().all(changed), "{} notes", notes.len());
}

#[test]
fn c15_tools_come_go_and_change() {
    for mut peer in [Peer::legacy(&["--fault", "c15"]), Peer::modern(&["--fault", "c15"])] {
        assert_eq!(own(&mut peer), ["one", "two", "three"]);
        assert_eq!(peer.text("add_tool", json!({ "name": "four" })), "four");
        assert_eq!(peer.text("add_tool", json!({})), "added_1");
        assert!(peer.text("added_1", json!({ "x": 1 })).contains(r#""name":"added_1""#));
        assert_eq!(peer.text("remove_tool", json!({ "name": "two" })), "two");
        assert_eq!(peer.call("two", json!({}))["error"]["code"], -32602);
        assert_eq!(peer.call("remove_tool", json!({ "name": "two" }))["error"]["code"], -32602);
        assert_eq!(peer.text("change_tool", json!({})), "one");
        noted(&mut peer, 4);
        assert_eq!(own(&mut peer), ["one", "three", "four", "added_1"]);
        let changed = &peer.listed()[0];
        assert_eq!(changed["description"], "Version 2 of one");
        assert_eq!(changed["inputSchema"]["properties"].as_object().unwrap().len(), 2);
    }
    let mut quiet = Peer::legacy(&["--fault", "c15:quiet"]);
    quiet.text("remove_tool", json!({}));
    assert_eq!(own(&mut quiet), ["one", "two"]);
    noted(&mut quiet, 0);
}

#[test]
fn c15_lists_break_and_mend() {
    for mut peer in [Peer::legacy(&["--fault", "c15"]), Peer::modern(&["--fault", "c15"])] {
        let mut broken = |how: &str, check: &dyn Fn(&mut Peer)| {
            assert_eq!(peer.text("break_list", json!({ "how": how })), "broken");
            (0..2).for_each(|_| check(&mut peer));
            assert!(!peer.text("two", json!({})).is_empty(), "tools still work");
            assert_eq!(peer.text("mend_list", json!({})), "good");
            noted(&mut peer, 2);
            assert_eq!(own(&mut peer), ["one", "two", "three"]);
        };
        let list = |peer: &mut Peer, params| peer.request("tools/list", params);
        broken("empty", &|peer| assert_eq!(list(peer, json!({}))["result"]["tools"], json!([])));
        broken("error", &|peer| assert_eq!(list(peer, json!({}))["error"]["code"], -32603));
        broken("garbage", &|peer| assert!(list(peer, json!({}))["result"]["tools"].is_object()));
        broken("timeout", &|peer| {
            peer.ask("tools/list", json!({}));
            assert!(peer.is_silent_for(Duration::from_millis(50)));
        });
        broken("half", &|peer| {
            let first = list(peer, json!({}))["result"].take();
            assert_eq!(first["tools"].as_array().unwrap().len(), 1);
            let second = list(peer, json!({ "cursor": first["nextCursor"] }));
            assert_eq!(second["error"]["code"], -32603);
        });
        assert_eq!(peer.call("break_list", json!({ "how": "gently" }))["error"]["code"], -32602);
    }
}
