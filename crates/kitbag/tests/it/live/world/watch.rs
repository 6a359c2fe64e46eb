//! f14: whoever follows the files loses no change, whenever it comes, and every file that decides something counts.

use std::future::Future;
use std::time::Duration;

use kitbag::files::{SecretStore, TrustStore};
use kitbag::{Kitbag, Limits, Secret, ToolCall};
use serde_json::json;

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, until};
use super::{LONG, approve, server, variable};

/// Looks often.
pub(super) fn quick() -> Limits {
    let mut limits = calm();
    limits.watch = Duration::from_millis(20);
    limits.drain = LONG;
    limits
}

/// Follows the files for as long as something else is done.
pub(super) async fn following<T>(kit: &Kitbag, work: impl Future<Output = T>) -> T {
    tokio::select! {
        () = kit.follow_files(|_| {}) => panic!("it does not end by itself"),
        done = work => done,
    }
}

async fn comes(kit: &Kitbag, name: &str) {
    assert!(until(LONG, || kit.link(&server(name)).is_some()).await, "{name} does not come");
    kit.wait(LONG).await;
}

async fn goes(kit: &Kitbag, name: &str) {
    assert!(until(LONG, || kit.link(&server(name)).is_none()).await, "{name} does not go");
}

#[tokio::test]
async fn f14_what_changes_while_calls_end_is_not_lost() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(quick()).await;
    let view = kit.own_view();
    let slow = kit.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":2000}"#));
    let change = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        farm.add("x", &["--tools", "1"]);
        // The new one runs; the old one is waited for.
        assert!(until(LONG, || farm.count("x", "start") == 2).await);
        farm.add("late", &[]);
    };
    following(&kit, async {
        let (slow, ()) = tokio::join!(slow, change);
        assert_eq!(first(&slow.unwrap()), "slept 2000 ms");
        comes(&kit, "late").await;
    })
    .await;
    kit.lives("late").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_what_changed_before_anyone_followed_is_not_lost() {
    let farm = Farm::of("x", &[]);
    let setup = farm.setup();
    farm.add("early", &[]);
    let kit = Kitbag::start(setup, farm.options(quick()));
    following(&kit, comes(&kit, "early")).await;
    kit.lives("early").await;
    farm.close(kit).await;
}

/// A file that was looked for, in vain or not.
#[tokio::test]
async fn f14_files_that_come_and_go_are_followed() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(quick()).await;
    let file = "kit/config/servers/y.json";
    following(&kit, async {
        for _ in 0..2 {
            let mut entry = farm.entry("y", &[], &json!({}));
            entry["name"] = "y".into();
            farm.house.put(file, entry.to_string());
            comes(&kit, "y").await;
            farm.settings("[servers.x]\nenabled = false\n");
            goes(&kit, "x").await;
            std::fs::remove_file(farm.house.path(file)).unwrap();
            goes(&kit, "y").await;
            std::fs::remove_file(farm.house.path("kit/config/kitbag.toml")).unwrap();
            comes(&kit, "x").await;
        }
    })
    .await;
    farm.close(kit).await;
}

/// What a folder's `.env` says and what was approved decide whether its servers run.
#[tokio::test]
async fn f15_an_approval_that_is_void_ends_a_server_whose_files_are_followed() {
    let farm = Farm::of("x", &[]);
    let entry = farm.entry("p", &[], &json!({"env": {"MODE": "${P_MODE}"}}));
    farm.house.put("project/.mcp.json", json!({"mcpServers": {"p": entry}}).to_string());
    farm.house.put("project/.env", "P_MODE=good\n");
    let kit = farm.open(quick()).await;
    let folders = kit.setup().folders.clone();
    following(&kit, async {
        assert!(kit.link(&server("p")).is_none());
        approve(&farm, "p");
        comes(&kit, "p").await;
        assert_eq!(variable(&kit, "p", "MODE").await, "good");
        farm.house.put("project/.env", "P_MODE=evil\n");
        goes(&kit, "p").await;
        farm.house.put("project/.env", "P_MODE=good\n");
        comes(&kit, "p").await;
        TrustStore::revoke(&folders, |approval| approval.server == "p").unwrap();
        goes(&kit, "p").await;
    })
    .await;
    kit.lives("x").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn f14_a_new_answer_is_followed() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"ANSWER": "${input:key}"}}));
    let kit = farm.open(quick()).await;
    let setup = kit.setup();
    let spec = setup.used().next().unwrap();
    following(&kit, async {
        for answer in ["one", "two"] {
            let before = farm.count("x", "start");
            SecretStore::keep(&setup.folders, &setup.user, spec, "key", &Secret::new(answer)).unwrap();
            assert!(until(LONG, || farm.count("x", "start") == before + 1).await, "{answer}");
            kit.wait(LONG).await;
            assert_eq!(variable(&kit, "x", "ANSWER").await, answer);
        }
    })
    .await;
    farm.close(kit).await;
}
