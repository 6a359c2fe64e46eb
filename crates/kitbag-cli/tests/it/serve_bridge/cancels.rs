//! Requests that are taken back: by a cancel, or by leaving. They end, also at their server, and no other does.

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use super::client::{Client, ERAS, Era, LONG, Served, everything, token};
use super::eras::{SERVERS, all_servers};

const INVALID_REQUEST: i64 = -32600;

fn nap(client: &Client, server: &str, id: Value, ms: u64) -> Value {
    client.request(id, "tools/call", json!({"name": format!("{server}_sleep"), "arguments": {"ms": ms}}))
}

#[track_caller]
fn until(farm: &Farm, server: &str, words: &str, count: usize) {
    assert!(wait_until(LONG, || farm.count(server, words) == count), "{:?}", farm.events(server, words));
}

#[test]
fn a_client_that_leaves_cancels_its_calls_and_no_others() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    for era in ERAS {
        let [leaver, stayer] =
            ["leaver", "stayer"].map(|name| Client::http(&served, name, era, everything()));
        for server in SERVERS {
            let (calls, cancelled) =
                (hosted.farm.count(server, "call"), hosted.farm.count(server, "cancelled"));
            // The same ids on both sides.
            let left: Vec<_> =
                (0..2).map(|id| leaver.begin(&nap(&leaver, server, id.into(), 3_600_000))).collect();
            let request = nap(&stayer, server, 0.into(), 600);
            let stays = stayer.begin(&request);
            until(&hosted.farm, server, "call", calls + 3);
            drop(left);
            until(&hosted.farm, server, "cancelled", cancelled + 2);
            assert_eq!(stayer.finish(stays, &request).said(), "slept 600 ms", "{era:?} {server}");
            assert_eq!(hosted.farm.count(server, "cancelled"), cancelled + 2, "{era:?} {server}");
        }
    }
    served.stop();
}

#[test]
fn a_client_that_leaves_while_it_is_asked_ends_its_call_alone() {
    let hosted = all_servers();
    let served = Served::start(&hosted.farm, &[]);
    let [leaver, stayer] =
        ["leaver", "stayer"].map(|name| Client::http(&served, name, Era::Older, everything()));
    for server in ["oh", "ns", "nh"] {
        let arguments = json!({"token": "leaver-keep-silent"});
        let call = leaver.request(
            7.into(),
            "tools/call",
            json!({"name": format!("{server}_ask"), "arguments": arguments}),
        );
        let calls = hosted.farm.count(server, "call");
        let left = leaver.begin(&call);
        until(&hosted.farm, server, "call", calls + 1);
        let answered = stayer.call(&format!("{server}_ask"), &json!({"token": "stayer"}));
        assert!(answered.said().contains("stayer:stayer 0"), "{server}: {answered:?}");
        drop(left);
        if server == "oh" {
            until(&hosted.farm, server, "cancelled", 1);
        }
        let answered = stayer.call(&format!("{server}_ask"), &json!({"token": "stayer"}));
        assert!(answered.said().contains("stayer:stayer 0"), "{server}: {answered:?}");
    }
    let asked = stayer.asked.lock().unwrap();
    assert!(asked.iter().all(|asked| token(asked).starts_with("stayer")), "{asked:?}");
    drop(asked);
    served.stop();
}

#[test]
fn a_cancel_ends_the_call_with_its_id_however_that_is_written() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    farm.add("y", &["--era", "modern"]);
    let served = Served::start(&farm, &[]);
    let older = Client::http(&served, "older", Era::Older, everything());
    let pipes = ERAS.map(|era| Client::pipe(&farm, "pipe", era, everything()));
    let big: Value = serde_json::from_str("18446744073709551615").unwrap();
    let ids = [
        (json!(11), json!(11.0)),
        (json!("a\"b"), json!("a\"b")),
        (big.clone(), big),
        (json!(1.5), json!(1.5)),
    ];
    for client in pipes.iter().chain([&older]) {
        for server in ["x", "y"] {
            for (id, cancelled_id) in &ids {
                let (calls, cancelled) = (farm.count(server, "call"), farm.count(server, "cancelled"));
                let kept_request = nap(client, server, json!("kept"), 300);
                let (lost, kept) =
                    (client.begin(&nap(client, server, id.clone(), 3_600_000)), client.begin(&kept_request));
                until(&farm, server, "call", calls + 2);
                // Nobody knows these.
                for unknown in [json!("11"), json!(12), json!(null), json!({"id": 11})] {
                    client.tell("notifications/cancelled", &json!({"requestId": unknown}));
                }
                client
                    .tell("notifications/cancelled", &json!({"requestId": cancelled_id, "reason": "enough"}));
                until(&farm, server, "cancelled", cancelled + 1);
                assert_eq!(client.finish(kept, &kept_request).said(), "slept 300 ms", "{server} {id}");
                assert_eq!(farm.count(server, "cancelled"), cancelled + 1, "{server} {id}");
                drop(lost);
            }
        }
    }
    pipes.into_iter().for_each(Client::leave);
    served.stop();
    farm.is_empty();
}

#[test]
fn the_same_id_twice_is_refused_the_second_time_and_two_clients_may_share_one() {
    let farm = Farm::of("x", &[]);
    let served = Served::start(&farm, &[]);
    let [one, two] = ["one", "two"].map(|name| Client::http(&served, name, Era::Older, everything()));
    let pipe = Client::pipe(&farm, "pipe", Era::Newer, everything());
    let (first, others) = (nap(&one, "x", 5.into(), 1_500), nap(&two, "x", 5.into(), 1_500));
    let (running, beside) = (one.begin(&first), two.begin(&others));
    until(&farm, "x", "call", 2);
    let echo = |client: &Client, id: Value| {
        client.request(id, "tools/call", json!({"name": "x_echo", "arguments": {"message": "hi"}}))
    };
    for id in [json!(5), json!(5.0)] {
        let refused = one.exchange(&echo(&one, id));
        assert_eq!(refused.error(), INVALID_REQUEST, "{refused:?}");
        assert!(refused.text.contains("still running"), "{refused:?}");
    }
    assert_eq!(one.exchange(&echo(&one, json!("5"))).said(), "hi", "a string is no number");
    assert_eq!(one.finish(running, &first).said(), "slept 1500 ms");
    assert_eq!(two.finish(beside, &others).said(), "slept 1500 ms");
    assert_eq!(one.exchange(&echo(&one, json!(5))).said(), "hi", "it is free again");
    let first = nap(&pipe, "x", 5.into(), 1_500);
    let running = pipe.begin(&first);
    until(&farm, "x", "call", 5);
    assert_eq!(pipe.exchange(&echo(&pipe, json!(5.0))).error(), INVALID_REQUEST);
    assert_eq!(pipe.finish(running, &first).said(), "slept 1500 ms");
    for wrong in [json!([5]), json!({"a": 1}), json!(true)] {
        assert_eq!(one.exchange(&echo(&one, wrong.clone())).error(), INVALID_REQUEST, "{wrong}");
    }
    assert_eq!(farm.count("x", "call"), 5, "what was refused reached nobody");
    pipe.leave();
    served.stop();
}
