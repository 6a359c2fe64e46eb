//! Who comes in, what ends with a token, and who is at a limit.

use std::time::Duration;

use kitbag::store::{AuditDecision, AuditQuery, AuditScope, AuditStore as _, TokenStore as _};
use serde_json::json;

use crate::client::names;
use crate::place::{Place, user};

const LONG: Duration = Duration::from_secs(30);

/// Ends a test that waits for what does not come.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, work).await.unwrap()
}

fn call(name: &str) -> serde_json::Value {
    json!({"name": name, "arguments": {}})
}

#[tokio::test]
async fn t40_a_session_and_its_stream_are_their_users() {
    let place = Place::new("", |_| {}).await;
    let mut ada = place.client("ada").await;
    ada.begin().await;
    let mut bob = place.client("bob").await;
    bob.session.clone_from(&ada.session);
    assert_eq!(bob.old("tools/list", json!({})).await.status, 404, "another's session");
    assert_eq!(bob.get("/mcp", "Accept: text/event-stream\r\n").await.status, 404, "its stream");
    bob.send("DELETE", "/mcp", "", "").await;
    assert_eq!(bob.answer().await.status, 404, "its end");
    assert!(names(&ada.old("tools/list", json!({})).await).contains(&"a_alpha".to_owned()), "still ada's");
    place.close().await;
}

#[tokio::test]
async fn t40_a_revoked_token_ends_streams_and_calls_of_its_user_alone() {
    let place = Place::new("", |_| {}).await;
    let mut streams = Vec::new();
    for name in ["ada", "bob"] {
        let mut client = place.client(name).await;
        client.begin().await;
        let head = client.get("/mcp", "Accept: text/event-stream\r\n").await;
        assert_eq!(head.status, 200, "{head:?}");
        streams.push(client);
    }
    let mut waiting = place.client("ada").await;
    waiting.tell("/mcp", "tools/call", call("a_wait")).await;
    soon(place.gate.came.next()).await;
    place.store.revoke_token(&user("ada"), "t").await.unwrap();
    assert_eq!(soon(streams[0].event()).await, None, "the stream ends");
    assert_eq!(soon(waiting.answer()).await.status, 401, "the call ends");
    soon(place.gate.gone.next()).await;
    let refused = place.client("ada").await.get("/mcp", "").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some(r#"Bearer realm="kitbag", error="invalid_token""#));
    let mut bob = place.client("bob").await;
    assert!(bob.listed("/mcp").await.contains(&"b_alpha".to_owned()), "others go on");
    place.close().await;
}

#[tokio::test]
async fn t40_a_token_of_a_user_who_is_gone_lets_nobody_in() {
    let place = Place::new("", |_| {}).await;
    let token = place.token("zoe").await;
    let mut zoe = place.stranger().await;
    zoe.token = format!("Authorization: Bearer {token}\r\n");
    let refused = zoe.ask("/mcp", "tools/list", json!({})).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    assert!(refused.body.contains("not known any more"), "{refused:?}");
    place.close().await;
}

#[tokio::test]
async fn s2_18_a_tool_that_is_denied_vanishes_from_an_open_session() {
    let place = Place::new("[groups.g]\nallow = [\"*/*\"]\n[users.ada]\ngroups = [\"g\"]\n", |_| {}).await;
    let mut ada = place.client("ada").await;
    ada.begin().await;
    let mut stream = place.client("ada").await;
    stream.session.clone_from(&ada.session);
    assert_eq!(stream.get("/mcp", "Accept: text/event-stream\r\n").await.status, 200);
    assert!(names(&ada.old("tools/list", json!({})).await).contains(&"a_alpha".to_owned()));
    let denied = "[groups.g]\nallow = [\"*/*\"]\ndeny = [\"a/alpha\"]\n[users.ada]\ngroups = [\"g\"]\n";
    place.settings(denied).await;
    let event = soon(stream.event()).await.unwrap();
    assert!(event.contains("notifications/tools/list_changed"), "{event}");
    assert!(!names(&ada.old("tools/list", json!({})).await).contains(&"a_alpha".to_owned()));
    assert_eq!(ada.old("tools/call", call("a_alpha")).await.json()["error"]["code"], -32602);
    place.close().await;
}

#[tokio::test]
async fn t17_a_user_who_asks_too_fast_is_told_when_to_come_again_and_others_are_served() {
    let place = Place::new("", |limits| (limits.serve_rate, limits.serve_burst) = (1, 3)).await;
    let (mut ada, mut bob) = (place.client("ada").await, place.client("bob").await);
    let mut last = ada.ask("/mcp", "tools/list", json!({})).await;
    for _ in 0..4 {
        last = ada.ask("/mcp", "tools/list", json!({})).await;
    }
    assert_eq!(last.status, 429, "{last:?}");
    assert!(last.header("retry-after").unwrap().parse::<u64>().unwrap() <= 1, "{last:?}");
    assert_eq!(last.json()["error"]["data"]["kitbag/kind"], "rate_limited");
    assert!(!bob.listed("/mcp").await.is_empty(), "another user");
    place.close().await;
}

#[tokio::test]
async fn t17_a_user_with_too_many_calls_is_refused_and_others_are_served() {
    let place = Place::new("", |limits| limits.serve_calls = 2).await;
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut client = place.client("ada").await;
        client.tell("/mcp", "tools/call", call("a_wait")).await;
        soon(place.gate.came.next()).await;
        open.push(client);
    }
    let mut ada = place.client("ada").await;
    let refused = ada.ask("/mcp", "tools/call", call("a_alpha")).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    assert!(refused.body.contains("serve_calls"), "{refused:?}");
    let mut bob = place.client("bob").await;
    assert_eq!(soon(bob.ask("/mcp", "tools/call", call("a_alpha"))).await.status, 200, "another user");
    drop(open);
    soon(place.gate.gone.next()).await;
    soon(place.gate.gone.next()).await;
    let mut again = ada.ask("/mcp", "tools/call", call("a_alpha")).await;
    while again.status == 429 {
        again = soon(ada.ask("/mcp", "tools/call", call("a_alpha"))).await;
    }
    assert_eq!(again.status, 200, "{again:?}");
    place.close().await;
}

#[tokio::test]
async fn t17_one_session_has_so_many_calls_and_another_of_its_user_its_own() {
    let place = Place::new("", |limits| limits.serve_session_calls = 1).await;
    let mut first = place.client("ada").await;
    first.begin().await;
    let mut waiting = place.client("ada").await;
    waiting.session.clone_from(&first.session);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call("a_wait")});
    waiting.send("POST", "/mcp", "Accept: application/json, text/event-stream\r\n", &body.to_string()).await;
    soon(place.gate.came.next()).await;
    let refused = first.old("tools/call", call("a_alpha")).await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.body.contains("serve_session_calls"), "{refused:?}");
    let mut second = place.client("ada").await;
    second.begin().await;
    assert_eq!(second.old("tools/call", call("a_alpha")).await.status, 200);
    place.close().await;
}

#[tokio::test]
async fn numbers_are_the_operators_and_strangers_learn_nothing() {
    let place = Place::new("", |_| {}).await;
    let mut ada = place.client("ada").await;
    ada.ask("/mcp", "tools/call", call("a_alpha")).await;
    ada.ask("/mcp", "tools/call", call("a_none")).await;
    let mut stranger = place.stranger().await;
    assert_eq!(stranger.get("/mcp", "").await.status, 401);
    assert_eq!(stranger.get("/metrics", "").await.status, 401);
    assert_eq!(stranger.get("/healthz", "").await.body, "ok\n");
    assert_eq!(stranger.get("/readyz", "").await.body, "ready\n");
    assert_eq!(ada.get("/metrics", "").await.status, 404, "what another may not see is not there");
    assert_eq!(ada.get("/readyz", "").await.body, "ready\n");
    let mut local = place.client("local").await;
    assert_eq!(local.get("/readyz", "").await.json()["servers"]["ready"], 2);
    let page = local.get("/metrics", "").await.body;
    for line in [
        r#"kitbag_calls_total{server="a",kind="ok"} 1"#,
        r#"kitbag_calls_total{server="",kind="not_found"} 1"#,
        r#"kitbag_call_duration_seconds_count{server="a"} 1"#,
        r#"kitbag_refused_total{reason="no_token"} 2"#,
        r#"kitbag_server_state{server="a",state="ready"} 4"#,
        r#"kitbag_server_restarts_total{server="b"} 0"#,
        "kitbag_audit_lost_total 0",
        "kitbag_sessions 0",
        "kitbag_calls_open 0",
    ] {
        assert!(page.lines().any(|found| found == line), "no {line} in\n{page}");
    }
    assert!(!page.contains("ada") && !page.contains("alpha"), "neither users nor tools: {page}");
    place.close().await;
}

#[tokio::test]
async fn a_call_that_its_client_leaves_is_counted_by_its_server() {
    let place = Place::new("", |_| {}).await;
    let mut ada = place.client("ada").await;
    ada.tell("/mcp", "tools/call", call("b_wait")).await;
    soon(place.gate.came.next()).await;
    drop(ada);
    soon(place.gate.gone.next()).await;
    let mut local = place.client("local").await;
    let line = r#"kitbag_calls_total{server="b",kind="cancelled"} 1"#;
    soon(async {
        while !local.get("/metrics", "").await.body.contains(line) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    place.close().await;
}

#[tokio::test]
async fn s2_18_every_call_of_the_endpoint_is_a_row_with_its_user_agent_decision_and_id() {
    let rules = "[agents.x]\nallow = [\"a/*\"]\n[groups.g]\nallow = [\"*/*\"]\ndeny = [\"a/bravo\"]\n\
                 [users.ada]\ngroups = [\"g\"]\n";
    let place = Place::new(rules, |_| {}).await;
    let mut ada = place.client("ada").await;
    ada.ask("/mcp/a/x", "tools/call", call("a_alpha")).await;
    let denied = ada.ask("/mcp", "tools/call", call("a_bravo")).await.json();
    place.users.of("ada").audit().unwrap().flush(LONG).await.unwrap();
    let query = AuditQuery::newest(AuditScope::User(user("ada")), 10);
    let rows = place.store.page(&query).await.unwrap();
    let told: Vec<_> = rows
        .iter()
        .map(|entry| (entry.row.agent.as_deref(), entry.row.tool.as_deref(), entry.row.decision))
        .collect();
    let wanted =
        [(None, Some("a_bravo"), AuditDecision::Denied), (Some("x"), Some("alpha"), AuditDecision::Allowed)];
    assert_eq!(told, wanted);
    assert_eq!(denied["error"]["data"]["kitbag/call"], rows[0].row.call.clone().unwrap());
    assert_ne!(rows[0].row.call, rows[1].row.call);
    place.close().await;
}
