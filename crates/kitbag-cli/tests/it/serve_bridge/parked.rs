//! Newer clients before older servers: a call waits here while its client answers what its server asks.

use serde_json::{Value, json};
use testkit::{Farm, wait_until};

use super::client::{Client, Era, LONG, Reply, Served, everything};
use crate::house::Runs as _;

const INVALID_PARAMS: i64 = -32602;

fn ask(token: &str) -> Value {
    json!({"name": "x_ask", "arguments": {"token": token, "b": {"y": 1, "x": 2}}})
}

/// A call that waits, and what its client was told.
#[track_caller]
fn waiting(client: &Client, call: &Value) -> Value {
    let asked = client.send("tools/call", call.clone());
    let result = asked.json()["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{asked:?}");
    result
}

#[track_caller]
fn is_refused(reply: &Reply) {
    assert_eq!(reply.error(), INVALID_PARAMS, "{reply:?}");
    let told = reply.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("no call waits") && told.contains("make the call anew"), "{told}");
}

#[test]
fn t40_a_waiting_call_goes_on_once_with_its_own_state_and_request() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    farm.add("y", &["--era", "legacy"]);
    let served = Served::start(&farm, &[]);
    let client = Client::http(&served, "c", Era::Newer, everything());
    let call = ask("t");
    let asked = waiting(&client, &call);
    let good = client.further(&call, &asked);
    let state = good["requestState"].as_str().unwrap().to_owned();
    assert!(64 <= state.len(), "256 bits: {state}");
    // Neither something like it, nor another request, nor another address.
    let mut flipped = state.clone().into_bytes();
    flipped[0] = if flipped[0] == b'0' { b'1' } else { b'0' };
    let (mut other_state, mut other_tool, mut other_arguments) = (good.clone(), good.clone(), good.clone());
    other_state["requestState"] = String::from_utf8(flipped).unwrap().into();
    other_tool["name"] = "y_ask".into();
    other_arguments["arguments"]["token"] = "u".into();
    for wrong in [other_state, other_tool, other_arguments] {
        is_refused(&client.send("tools/call", wrong));
    }
    let mut unreadable = good.clone();
    unreadable["inputResponses"] = json!({"question-1": 7});
    assert_eq!(client.send("tools/call", unreadable).error(), INVALID_PARAMS);
    // With the same arguments in another order it is the same request.
    let mut again = good.clone();
    again["arguments"] = json!({"b": {"x": 2, "y": 1}, "token": "t"});
    assert!(client.send("tools/call", again).said().contains("c:t 0"));
    is_refused(&client.send("tools/call", good));
    assert_eq!(farm.count("x", "call"), 1, "{:?}", farm.events("x", "call"));
    assert_eq!(farm.count("x", "interviewed"), 1);
    assert_eq!(farm.count("y", "call"), 0);
    served.stop();
    farm.is_empty();
}

#[test]
fn t40_a_waiting_call_is_its_users_own() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    farm.settings("[users.ada]\n[users.bob]\n");
    let token =
        |user: &str| farm.house.run(&["tokens", "add", "t", "--user", user]).exits(0).out.trim().to_owned();
    let (ada, bob) = (token("ada"), token("bob"));
    let served = Served::start(&farm, &["--require-token"]);
    let [ada, bob] = [("ada", ada), ("bob", bob)]
        .map(|(name, token)| Client::http_as(&served, name, Era::Newer, everything(), Some(&token)));
    let call = ask("hers");
    let hers = ada.further(&call, &waiting(&ada, &call));
    is_refused(&bob.send("tools/call", hers.clone()));
    assert!(ada.send("tools/call", hers).said().contains("ada:hers 0"));
    assert_eq!(farm.count("x", "interviewed"), 1);
    served.stop();
}

#[test]
fn a_waiting_call_is_cancelled_when_its_time_is_up() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    farm.settings("[limits]\nserve_parked_time = \"300ms\"\n");
    let served = Served::start(&farm, &[]);
    let client = Client::http(&served, "c", Era::Newer, everything());
    let call = ask("t");
    let late = client.further(&call, &waiting(&client, &call));
    assert!(wait_until(LONG, || farm.count("x", "cancelled") == 1), "its server is told");
    is_refused(&client.send("tools/call", late));
    assert_eq!((farm.count("x", "call"), farm.count("x", "interviewed")), (1, 0));
    served.stop();
    farm.is_empty();
}

#[test]
fn so_many_calls_wait_and_the_questions_of_others_are_refused() {
    for limits in ["serve_parked = 1", "serve_parked_all = 1"] {
        let farm = Farm::of("x", &["--era", "legacy"]);
        farm.add("y", &["--era", "legacy"]);
        farm.settings(&format!("[limits]\n{limits}\n"));
        let served = Served::start(&farm, &[]);
        let client = Client::http(&served, "c", Era::Newer, everything());
        let call = ask("one");
        let one = client.further(&call, &waiting(&client, &call));
        let two = client.call("y_ask", &json!({"token": "two"}));
        assert!(two.said().contains("decline"), "{limits}: {two:?}");
        assert!(client.send("tools/call", one).said().contains("c:one 0"), "{limits}");
        let three = client.call("y_ask", &json!({"token": "three"}));
        assert!(three.said().contains("c:three 0"), "{limits}: {three:?}");
        served.stop();
    }
}

#[test]
fn what_a_client_left_out_is_asked_again() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let served = Served::start(&farm, &[]);
    let client = Client::http(&served, "c", Era::Newer, everything());
    let call = json!({"name": "x_ask", "arguments": {"token": "t", "kinds": ["sampling", "elicitation"]}});
    let mut asked = waiting(&client, &call);
    // Both may have come at once, or one after the other.
    while asked["inputRequests"].as_object().unwrap().len() < 2 {
        let mut nothing = client.further(&call, &asked);
        nothing["inputResponses"] = json!({});
        asked = waiting(&client, &nothing);
    }
    let mut half = client.further(&call, &asked);
    half["inputResponses"].as_object_mut().unwrap().shift_remove("question-1");
    half["inputResponses"]["never-asked"] = json!({});
    let rest = waiting(&client, &half);
    let left: Vec<&String> = rest["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(left, ["question-1"]);
    let done = client.send("tools/call", client.further(&call, &rest));
    assert_eq!(done.said().matches("c:t 0").count(), 2, "{done:?}");
    served.stop();
}

#[test]
fn a_question_that_its_server_takes_back_is_taken_back_from_the_client() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let served = Served::start(&farm, &[]);
    let arguments = json!({"token": "keep-silent", "withdraw": 200});
    let older = Client::http(&served, "c", Era::Older, everything());
    let reply = older.call("x_ask", &arguments);
    assert_eq!(reply.said(), "withdrawn");
    let [question, withdrawn] = &reply.heard[..] else { panic!("{reply:?}") };
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{reply:?}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"], "{reply:?}");
    // A newer client learns it when it comes back.
    let newer = Client::http(&served, "c", Era::Newer, everything());
    let call = json!({"name": "x_ask", "arguments": arguments});
    let asked = waiting(&newer, &call);
    assert!(wait_until(LONG, || farm.count("x", "withdrawn") == 2));
    assert_eq!(newer.send("tools/call", newer.further(&call, &asked)).said(), "withdrawn");
    served.stop();
}

#[test]
fn waiting_calls_end_with_the_process_or_the_pipe_of_their_client() {
    let farm = Farm::of("x", &["--era", "legacy"]);
    let served = Served::start(&farm, &[]);
    let client = Client::http(&served, "c", Era::Newer, everything());
    waiting(&client, &ask("t"));
    served.stop();
    farm.is_empty();
    let client = Client::pipe(&farm, "c", Era::Newer, everything());
    waiting(&client, &ask("t"));
    assert_eq!(client.asked.lock().unwrap().len(), 0);
    client.leave();
    farm.is_empty();
}
