//! What a client follows beside tools: resources it subscribed to, and the lists of resources and prompts.

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use super::offered::Speaker;
use super::streams::{Started, Stream, modern, subscribe};
use super::{LONG, Served, request};

const QUICK: &str = "[limits]\nrefresh = \"20ms\"\nrestart_first = \"20ms\"\nsubscriptions = 3\n";
const UPDATED: &str = "notifications/resources/updated";
const SHARED: &str = "kitbag+x:fake://shared";

fn offering(era: &str) -> Farm {
    let farm = Farm::of("x", &["--offers", "good", "--name", "x", "--era", era]);
    farm.settings(QUICK);
    farm
}

/// The server has these resources.
#[track_caller]
fn offers(client: &Speaker<'_, '_>, uri: &str) {
    let has = || client.result("resources/list", json!({})).to_string().contains(uri);
    assert!(wait_until(LONG, has), "{uri}");
}

/// The server tells that something changed; this ends when it has told.
#[track_caller]
fn changes(client: &Speaker<'_, '_>, uri: &str) {
    client.result("resources/read", json!({"uri": format!("kitbag+x:fake://update/{uri}")}));
}

#[track_caller]
fn next_update(stream: &mut Stream) -> String {
    loop {
        let told = stream.next().unwrap();
        if told["method"] == UPDATED {
            return told["params"]["uri"].as_str().unwrap().to_owned();
        }
    }
}

#[test]
fn a_session_hears_of_the_resources_it_subscribed_to_and_of_no_others() {
    for era in ["legacy", "modern"] {
        let farm = offering(era);
        let served = Served::start(&farm, &[]);
        let (client, other) = (Speaker::older(&served), Speaker::older(&served));
        offers(&client, SHARED);
        let (mut stream, idle) = (Stream::of(&served, client.id()), Stream::of(&served, other.id()));
        for uri in [SHARED, "kitbag+x:fake://picture", SHARED] {
            assert_eq!(client.result("resources/subscribe", json!({ "uri": uri })), json!({}), "{era}");
        }
        changes(&client, "fake://other");
        changes(&client, "fake://shared");
        assert_eq!(next_update(&mut stream), SHARED, "{era}");
        client.result("resources/unsubscribe", json!({ "uri": SHARED }));
        // A newer server may have told of the first one on each of its streams, and it ends one for the other.
        let ends = if era == "legacy" { "unsubscribe" } else { "listen" };
        let count = if era == "legacy" { 1 } else { 3 };
        assert!(wait_until(LONG, || count <= farm.count("x", ends)), "{era}: {:?}", farm.events("x", ends));
        changes(&client, "fake://shared");
        changes(&client, "fake://picture");
        let mut told = next_update(&mut stream);
        while told == SHARED && era == "modern" {
            told = next_update(&mut stream);
        }
        assert_eq!(told, "kitbag+x:fake://picture", "{era}");
        served.stop();
        let heard = idle.rest();
        assert!(heard.iter().all(|told| told["method"] != UPDATED), "{era}: {heard:?}");
    }
}

#[test]
fn a_subscription_of_the_newer_era_names_its_resources() {
    for era in ["legacy", "modern"] {
        let farm = offering(era);
        let served = Served::start(&farm, &[]);
        let client = Speaker::newer(&served);
        offers(&client, SHARED);
        let uris = json!([SHARED, SHARED, "kitbag+nobody:fake://shared"]);
        let mut stream = subscribe(&served, "s", json!({ "resourceSubscriptions": uris }));
        let first = stream.next().unwrap();
        assert_eq!(first["params"]["notifications"], json!({"resourceSubscriptions": [SHARED]}), "{era}");
        changes(&client, "fake://shared");
        let told = stream.next().unwrap();
        assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(UPDATED), &json!(SHARED)), "{era}");
        assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "s", "{era}");
        // Whoever leaves ends it at the server too.
        stream.leave();
        if era == "legacy" {
            assert!(wait_until(LONG, || farm.count("x", "unsubscribe") == 1));
        }
        let wrong = subscribe(&served, "wrong", json!({"resourceSubscriptions": "all"}));
        assert_eq!(wrong.status(), "400", "{era}");
        served.stop();
    }
}

#[test]
fn what_may_not_be_read_cannot_be_followed_and_so_many_can() {
    let farm = offering("legacy");
    farm.settings(&format!("{QUICK}[groups.local]\ndeny = ['x/resource:fake://picture']\n"));
    let served = Served::start(&farm, &[]);
    let client = Speaker::older(&served);
    offers(&client, SHARED);
    let error = |uri: &str| client.ask("resources/subscribe", json!({ "uri": uri }))["error"].clone();
    let (denied, missing) = (error("kitbag+x:fake://picture"), error("kitbag+x:fake://pictures"));
    assert_eq!(denied["code"], -32002, "{denied}");
    assert_eq!(farm.events("x", "subscribe").len(), usize::from(missing.is_null()), "{missing}");
    let mut last = Value::Null;
    for number in 0..4 {
        last = error(&format!("kitbag+x:fake://echo/{number}"));
    }
    assert!(last["message"].as_str().unwrap().contains("`subscriptions` in `kitbag limits`"), "{last}");
    let none = client.ask("resources/subscribe", json!({}))["error"].clone();
    assert_eq!(none["code"], -32602, "{none}");
    served.stop();
}

#[test]
fn other_lists_of_resources_and_prompts_are_told_once_each() {
    for era in ["legacy", "modern"] {
        let farm = offering(era);
        let served = Served::start(&farm, &[]);
        let (client, other) = (Speaker::older(&served), Speaker::older(&served));
        offers(&client, SHARED);
        client.result("tools/list", json!({}));
        client.result("prompts/list", json!({}));
        let mut session = Stream::of(&served, client.id());
        let idle = Stream::of(&served, other.id());
        let wanted = json!({"resourcesListChanged": true, "promptsListChanged": true});
        let mut newer = subscribe(&served, "lists", wanted.clone());
        assert_eq!(newer.next().unwrap()["params"]["notifications"], wanted, "{era}");
        // A server that comes and goes offers what it offered.
        client.ask("tools/call", json!({"name": "x_die", "arguments": {"how": "exit"}}));
        assert!(wait_until(LONG, || farm.count("x", "start") == 2), "{era}");
        offers(&client, SHARED);
        client.result("tools/call", json!({"name": "x_grow", "arguments": {}}));
        for (stream, is_session) in [(&mut session, true), (&mut newer, false)] {
            let mut told = Vec::new();
            while told.len() < 2 + usize::from(is_session) {
                told.push(stream.next().unwrap()["method"].as_str().unwrap().to_owned());
            }
            told.sort();
            let lists =
                ["prompts", "resources", "tools"].map(|list| format!("notifications/{list}/list_changed"));
            assert_eq!(told, lists[..told.len()], "{era} {is_session}");
        }
        offers(&client, "grown/1");
        served.stop();
        assert_eq!(session.rest(), Vec::<Value>::new(), "{era}");
        assert_eq!(idle.rest(), Vec::<Value>::new(), "{era}: of what it never read it hears nothing");
        assert_eq!(newer.rest().len(), 1, "{era}: the end alone");
    }
}

#[test]
fn a_host_that_starts_kitbag_follows_resources_in_both_eras() {
    let farm = offering("legacy");
    let mut host = Started::start(&farm);
    host.greet("x_grow");
    let told = |message: &Value, id: &Value| {
        message["method"] == UPDATED
            && message["params"]["uri"] == SHARED
            && message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == *id
    };
    let read =
        |id: u64| request(id, "resources/read", &json!({"uri": "kitbag+x:fake://update/fake://shared"}));
    host.say(&request(2, "resources/subscribe", &json!({ "uri": SHARED })));
    assert_eq!(host.until(|message| message["id"] == 2)["result"], json!({}));
    host.say(&read(3));
    host.until(|message| told(message, &Value::Null));
    host.say(&request(4, "resources/unsubscribe", &json!({ "uri": SHARED })));
    let listen = json!({"notifications": {"resourceSubscriptions": [SHARED]}});
    host.say(&modern(&"s".into(), "subscriptions/listen", listen));
    host.until(|message| message["method"] == "notifications/subscriptions/acknowledged");
    host.say(&read(5));
    host.until(|message| {
        assert!(!told(message, &Value::Null), "{message}");
        told(message, &"s".into())
    });
    host.ends();
    farm.is_empty();
}
