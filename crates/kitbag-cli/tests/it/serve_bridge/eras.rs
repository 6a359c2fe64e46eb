//! Clients of both eras before servers of both, over pipes and over HTTP on either side.

use serde_json::{Value, json};
use testkit::{Farm, Hosted};

use super::client::{Client, ERAS, Era, Served, everything, token};

/// Servers of both eras: `o`lder and `n`ewer, over a pipe, over `h`ttp, and over the oldest kind of `e`vents.
pub(super) const SERVERS: [&str; 5] = ["os", "ns", "oh", "nh", "oe"];

pub(super) fn all_servers() -> Hosted {
    let hosted = Hosted::new();
    hosted.farm.add("os", &["--era", "legacy"]);
    hosted.farm.add("ns", &["--era", "modern"]);
    hosted.add("oh", &["--era", "legacy", "--answer", "sse"], &json!({}));
    hosted.add("nh", &["--era", "modern"], &json!({}));
    hosted.add("oe", &["--era", "legacy", "--sse"], &json!({"type": "sse"}));
    hosted
}

/// Looks at everything there is, as every client does in each of its two transports.
fn with_every_client(farm: &Farm, check: impl Fn(&Client)) {
    let served = Served::start(farm, &[]);
    for era in ERAS {
        let client = Client::http(&served, &format!("http-{era:?}"), era, everything());
        client.send("tools/list", json!({}));
        check(&client);
        let client = Client::pipe(farm, &format!("pipe-{era:?}"), era, everything());
        client.send("tools/list", json!({}));
        check(&client);
        client.leave();
    }
    served.stop();
}

#[test]
fn every_question_reaches_the_client_of_its_call_and_every_answer_comes_back() {
    let hosted = all_servers();
    with_every_client(&hosted.farm, |client| {
        for server in SERVERS {
            let token_of_call = format!("{}-{server}", client.name);
            let arguments = json!({"token": token_of_call, "kinds": ["sampling", "elicitation", "roots"],
                "times": 2, "progress": true});
            let first = json!({"name": format!("{server}_ask"), "arguments": arguments, "_meta": {"progressToken": "p"}});
            let reply = client.call_with(first);
            let what = format!("{} {server}: {reply:?}", client.name);
            let said: Vec<Vec<Value>> =
                serde_json::from_str(&reply.said()).unwrap_or_else(|error| panic!("{error}: {what}"));
            for (round, answers) in said.iter().enumerate() {
                let mine = format!("{}:{token_of_call} {round}", client.name);
                assert!(answers.iter().all(|answer| answer.to_string().contains(&mine)), "{what}");
                let [sampled, form, roots] = &answers[..] else { panic!("{what}") };
                assert_eq!(sampled["model"], "m", "{what}");
                assert_eq!(form["action"], "accept", "{what}");
                assert_eq!(roots["roots"][0]["uri"], "file:///work", "{what}");
            }
            let asked = std::mem::take(&mut *client.asked.lock().unwrap());
            assert_eq!((said.len(), asked.len()), (2, 6), "{what}");
            assert!(asked.iter().all(|asked| token(asked).starts_with(&token_of_call)), "{what}");
            if server.starts_with('o') {
                let progress = reply.heard("notifications/progress");
                assert_eq!(progress.len(), 2, "{what}");
                assert!(progress.iter().all(|note| note["params"]["progressToken"] == "p"), "{what}");
                let order: Vec<bool> =
                    reply.heard.iter().map(|heard| heard["method"] == "notifications/progress").collect();
                let question = [false; 3];
                assert_eq!(order, [&[true][..], &question, &[true], &question].concat(), "{what}");
            }
        }
    });
}

#[test]
fn meta_and_capabilities_travel_as_each_era_has_them() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    let declared = json!({
        "sampling": {"tools": {}, "x-own": [1.50]},
        "elicitation": {"url": {}},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
        "experimental": {"y": {}},
    });
    let relayed = json!({"sampling": {"tools": {}, "x-own": [1.50]}, "elicitation": {"url": {}}});
    for era in ERAS {
        let client = Client::http(&served, "c", era, declared.clone());
        for server in SERVERS {
            let meta = json!({"progressToken": 7, "traceparent": "00-1-2-03", "own/key": {"z": 1, "a": 2},
                "io.modelcontextprotocol/logLevel": "debug", "io.modelcontextprotocol/clientInfo": {"name": "forged"}});
            let first = json!({"name": format!("{server}_raw_echo"), "arguments": {}, "_meta": meta});
            let reply = client.call_with(first);
            let arrived: Value = serde_json::from_str(&reply.said()).unwrap();
            let (meta, what) = (&arrived["_meta"], format!("{era:?} {server}: {arrived}"));
            assert_eq!(meta["traceparent"], "00-1-2-03", "{what}");
            assert_eq!(meta["own/key"].to_string(), r#"{"z":1,"a":2}"#, "{what}");
            assert!(meta["progressToken"].is_number(), "{what}");
            let own: Vec<&String> = meta
                .as_object()
                .unwrap()
                .keys()
                .filter(|key| key.starts_with("io.modelcontextprotocol/"))
                .collect();
            if server.starts_with('o') {
                assert_eq!(own, Vec::<&String>::new(), "{what}");
                continue;
            }
            assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], relayed, "{what}");
            assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "kitbag", "{what}");
            // An older client says it by a request of its own.
            let level = if era == Era::Newer { json!("debug") } else { Value::Null };
            assert_eq!(meta["io.modelcontextprotocol/logLevel"], level, "{what}");
        }
    }
    // An older server knows what any client may be asked; it was told when it was connected.
    let greeted = hosted.farm.events("os", "greeted").concat();
    for capability in [r#""sampling":{}"#, r#""elicitation":{"form":{},"url":{}}"#, r#""roots":{}"#] {
        assert!(greeted.contains(capability), "{greeted}");
    }
    served.stop();
}

#[test]
fn t16_a_client_is_not_asked_for_what_it_does_not_declare() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    for era in ERAS {
        for declared in [json!({}), json!({"roots": {}}), json!({"elicitation": {"url": {}}})] {
            let client = Client::http(&served, "c", era, declared.clone());
            for server in SERVERS {
                let arguments = json!({"token": "t", "kinds": ["elicitation"]});
                let reply = client.call(&format!("{server}_ask"), &arguments);
                let what = format!("{era:?} {declared} {server}: {reply:?}");
                let answer = reply.said();
                let is_refused = ["does not offer", "not offered", "decline"];
                // A newer server was told what this client can, and asks all the same: that is its own doing.
                if declared["elicitation"].is_object() && server.starts_with('n') {
                    client.asked.lock().unwrap().clear();
                    continue;
                }
                assert!(is_refused.iter().any(|word| answer.contains(word)), "{what}");
                assert_eq!(*client.asked.lock().unwrap(), Vec::<Value>::new(), "{what}");
            }
        }
    }
    served.stop();
}

#[test]
fn questions_of_a_newer_server_pass_to_a_newer_client_untouched_also_over_a_restart() {
    let hosted = all_servers();
    let first = Served::start(&hosted.farm, &[]);
    for server in ["ns", "nh"] {
        let client = Client::http(&first, "c", Era::Newer, everything());
        let call = json!({"name": format!("{server}_ask"), "arguments": {"token": "ä", "times": 2}});
        let asked = client.send("tools/call", call.clone());
        // As its server wrote it, byte by byte.
        assert!(asked.text.contains(r#""requestState":"[]""#), "{asked:?}");
        let asked = client.send("tools/call", client.further(&call, &asked.json()["result"]));
        assert!(
            asked.text.contains(
                r#""requestState":"[[{\"action\":\"accept\",\"content\":{\"name\":\"c:\u00e4 0\"}}]]""#
            ),
            "{asked:?}"
        );
        let again = Served::start(&hosted.farm, &[]);
        let client = Client::http(&again, "c", Era::Newer, everything());
        let done = client.send("tools/call", client.further(&call, &asked.json()["result"]));
        assert!(done.said().contains("c:ä 1"), "{done:?}");
        assert_eq!(done.json()["result"]["resultType"], "complete");
        again.stop();
    }
    first.stop();
}
