//! f14: a reload takes over what changed, all of it, and disturbs nothing else.

use std::time::Duration;

use kitbag::{Kitbag, LinkState, LocalTool, OpenOptions, ToolCall};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, names, until};
use super::{LONG, pid, server};

#[tokio::test]
async fn f14_an_untrusted_file_with_a_mistake_blocks_no_reload() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    for (file, text) in [
        ("project/.mcp.json", "{\"mcpServers\": {"),
        ("project/kitbag.toml", "[agents.a\nallow = "),
        ("project/.vscode/mcp.json", "\u{0}\u{1}"),
    ] {
        farm.house.put(file, text);
        let name = format!("new{}", file.len());
        farm.add(&name, &[]);
        kit.reload().await.unwrap();
        kit.wait(LONG).await;
        kit.lives(&name).await;
        kit.lives("x").await;
    }
    assert_eq!(farm.count("x", "start"), 1);
    farm.close(kit).await;
}

/// How many of three calls at once reach the server, given that none is answered.
async fn at_once(farm: &Farm, kit: &Kitbag, expected: usize) {
    let before = farm.count("x", "call sleep");
    let view = kit.own_view();
    let slow = || kit.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":3600000}"#));
    let all = futures_util::future::join3(slow(), slow(), slow());
    let arrived = || farm.count("x", "call sleep") - before;
    let looking = async {
        assert!(until(LONG, || expected <= arrived()).await, "{} arrived", arrived());
        // A server that was started just now is asked for its tools beside the calls.
        assert!(until(LONG, || kit.on("x").in_flight() == expected).await);
        assert_eq!(arrived(), expected);
    };
    tokio::select! {
        _ = all => panic!("an hour is over"),
        () = looking => {}
    }
    assert!(until(LONG, || kit.on("x").in_flight() == 0).await);
}

#[tokio::test]
async fn f14_a_changed_concurrency_takes_effect() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\nconcurrency = 1\n");
    let kit = farm.open(calm()).await;
    at_once(&farm, &kit, 1).await;
    for concurrency in [2, 1, 3] {
        farm.settings(&format!("[servers.x]\nconcurrency = {concurrency}\n"));
        kit.reload().await.unwrap();
        at_once(&farm, &kit, concurrency).await;
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_server_that_need_no_longer_be_asked_for_is_started() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    let kit = farm.open(calm()).await;
    assert_eq!(kit.on("x").status().state, LinkState::Idle);
    farm.settings("[servers.x]\nlazy = false\n");
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Ready).await;
    assert_eq!(farm.count("x", "start"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_call_in_flight_ends_while_new_ones_go_to_the_new_server() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.drain = LONG;
    let kit = farm.open(limits).await;
    let old = pid(&kit, "x").await;
    let view = kit.own_view();
    let slow = kit.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":1500}"#));
    let change = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        farm.add("x", &["--tools", "1"]);
        kit.reload().await.unwrap();
    };
    let meanwhile = async {
        assert!(until(LONG, || farm.count("x", "start") == 2).await);
        let new = pid(&kit, "x").await;
        assert_ne!(new, old);
        assert!(testkit::proc::alive(old.parse().unwrap()), "the old one may end its call");
        // By an older view as well.
        let done = kit.call_tool(&view, ToolCall::new("mcp_x_pid", "{}")).await.unwrap();
        assert_eq!(first(&done), new);
    };
    let (slow, (), ()) = tokio::join!(slow, change, meanwhile);
    assert_eq!(first(&slow.unwrap()), "slept 1500 ms");
    assert!(until(LONG, || !testkit::proc::alive(old.parse().unwrap())).await);
    assert!(until(LONG, || names(&kit.own_view()).contains(&"mcp_x_extra_0001".to_owned())).await);
    farm.close(kit).await;
}

/// What never ends must not hold up a reload.
#[tokio::test]
async fn f14_a_call_that_does_not_end_is_not_waited_for() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.drain = Duration::from_millis(200);
    let kit = farm.open(limits).await;
    let view = kit.own_view();
    let slow = kit.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":3600000}"#));
    let change = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        farm.add("x", &["--tools", "1"]);
        tokio::time::timeout(Duration::from_secs(20), kit.reload()).await.unwrap().unwrap();
    };
    let (slow, ()) = tokio::join!(slow, change);
    let error = slow.unwrap_err();
    assert_eq!(error.kind, kitbag::ErrorKind::OutcomeUnknown, "{error}");
    kit.reaches("x", LinkState::Ready).await;
    assert_eq!(farm.count("x", "call sleep"), 1, "it was not made again");
    farm.close(kit).await;
}

/// Whoever no longer waits for a change has not undone it.
#[tokio::test]
async fn f14_a_change_that_nobody_waits_for_ends_its_servers_all_the_same() {
    for way in ["reload", "restart", "stop", "close"] {
        let farm = Farm::of("x", &[]);
        let mut limits = calm();
        limits.drain = LONG;
        let kit = farm.open(limits).await;
        let old: u32 = pid(&kit, "x").await.parse().unwrap();
        let (view, x) = (kit.own_view(), server("x"));
        let slow = kit.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":1500}"#));
        let change = async {
            assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
            farm.add("x", &["--tools", "1"]);
            let changing = async {
                match way {
                    "reload" => drop(kit.reload().await.unwrap()),
                    "restart" => kit.restart(&x).await.unwrap(),
                    "stop" => kit.stop(&x).await.unwrap(),
                    _ => kit.close().await,
                }
            };
            let is_changed = || match way {
                "reload" | "restart" => farm.count("x", "start") == 2,
                "stop" => kit.status().iter().any(|row| row.status.state == LinkState::Stopped),
                _ => kit.links().is_empty(),
            };
            // It is dropped as soon as it waits for nothing but the call in flight.
            tokio::select! {
                () = changing => {}
                changed = until(LONG, is_changed) => assert!(changed, "{way}"),
            }
        };
        let (slow, ()) = tokio::join!(slow, change);
        assert_eq!(first(&slow.unwrap()), "slept 1500 ms", "{way}: what is in flight may end");
        assert!(until(LONG, || !testkit::proc::alive(old)).await, "{way}: it is still there");
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn f14_a_server_called_local_takes_no_local_tools_place() {
    let greet =
        LocalTool::with_schema("greet", "Here", json!({"type": "object"}), |_, _| async move { Ok("hello") });
    let farm = Farm::of("x", &[]);
    let kit = farm.open_with(OpenOptions { local: vec![greet], ..farm.options(calm()) }).await;
    assert_eq!(first(&kit.call("greet", "{}").await.unwrap()), "hello");
    for _ in 0..2 {
        farm.add("local", &[]);
        kit.reload().await.unwrap();
        kit.reaches("local", LinkState::Ready).await;
        assert!(until(LONG, || names(&kit.own_view()).contains(&"mcp_local_add".to_owned())).await);
        assert_eq!(first(&kit.call("greet", "{}").await.unwrap()), "hello");
        assert_eq!(first(&kit.call("local/add", r#"{"a":1,"b":2}"#).await.unwrap()), "3");
        farm.remove("local");
        kit.reload().await.unwrap();
        assert_eq!(first(&kit.call("greet", "{}").await.unwrap()), "hello");
        assert!(!names(&kit.own_view()).contains(&"mcp_local_add".to_owned()));
    }
    farm.close(kit).await;
}

/// A link that stays shows what a fresh start would.
#[tokio::test]
async fn f14_other_bounds_of_definitions_take_effect_without_a_restart() {
    let farm = Farm::new();
    let long = "word ".repeat(500);
    let large = json!({"type": "object", "properties": {"a": {"type": "string", "description": long}}});
    farm.add_echo(
        "x",
        &json!([
            {"name": "talks", "description": long, "inputSchema": {"type": "object"}},
            {"name": "large", "inputSchema": large},
        ]),
    );
    let options = || OpenOptions { limits: None, ..farm.options(calm()) };
    let kit = farm.open_with(options()).await;
    let mut seen = Vec::new();
    for limits in ["", "description = '1KiB'", "schema_bytes = '1KiB'", "drain = '4s'", ""] {
        farm.settings(&format!("[limits]\n{limits}\n"));
        kit.reload().await.unwrap();
        let fresh = farm.open_with(options()).await;
        let part = |kit: &Kitbag| kit.snapshot().part(&server("x")).unwrap().clone();
        assert_eq!(part(&kit), part(&fresh), "{limits}");
        seen.push(part(&kit));
        fresh.close().await;
    }
    assert_ne!(seen[0], seen[1], "a shorter description");
    assert_ne!(seen[0], seen[2], "a schema too many");
    assert_eq!((&seen[0], &seen[0]), (&seen[3], &seen[4]));
    assert_eq!(farm.count("x", "start"), 1);
    farm.close(kit).await;
}

/// What a server lists belongs to the values it runs with.
#[tokio::test]
async fn f9_a_replaced_servers_tools_are_not_shown_as_the_new_ones() {
    let farm = Farm::of("x", &["--tools", "1"]);
    let kit = farm.open(calm()).await;
    assert!(names(&kit.own_view()).contains(&"mcp_x_extra_0001".to_owned()));
    farm.add_with("x", &[], &json!({"command": "no-such-program-anywhere"}));
    kit.reload().await.unwrap();
    kit.reaches("x", LinkState::Failed).await;
    assert!(!names(&kit.own_view()).iter().any(|name| name.starts_with("mcp_x_")), "another's tools");
    // The same server with another clock is the same server.
    farm.add("x", &["--tools", "1"]);
    kit.reload().await.unwrap();
    kit.wait(LONG).await;
    farm.add_with("x", &["--tools", "1"], &json!({"timeout": 20}));
    let before = farm.count("x", "start");
    kit.reload().await.unwrap();
    assert!(names(&kit.own_view()).contains(&"mcp_x_extra_0001".to_owned()), "listed until it lists again");
    assert!(until(LONG, || farm.count("x", "start") == before + 1).await);
    farm.close(kit).await;
}
