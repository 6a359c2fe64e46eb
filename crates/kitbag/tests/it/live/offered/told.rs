//! What servers tell and complete: subscriptions that outlive a crash, completion, log levels.

use kitbag::connect::LogLevel;
use kitbag::offered::CompletionReference;
use kitbag::{CallOptions, ErrorKind, ToolCall};
use serde_json::{Map, Value, json};
use testkit::in_time;

use super::super::farm::{Opens as _, Use as _};
use super::super::{Farm, calm, until};
use super::{LONG, read, two};

#[tokio::test]
async fn who_subscribes_hears_of_changes_also_after_a_crash() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--offers", "good", "--era", era]);
        let kit = farm.open(calm()).await;
        let view = kit.own_view();
        let mut updates = kit.subscribe(&view, "kitbag+x:fake://shared").await.unwrap();
        let listens = if era == "legacy" { "subscribe" } else { "listen" };
        let before = if era == "legacy" { 1 } else { 2 };
        assert!(until(LONG, || farm.count("x", listens) == before).await, "{era}");
        // Of another resource nothing is told.
        read(&kit, &view, "kitbag+x:fake://update/fake://other").await.unwrap();
        read(&kit, &view, "kitbag+x:fake://update/fake://shared").await.unwrap();
        assert_eq!(in_time(updates.next()).await.unwrap(), "kitbag+x:fake://shared", "{era}");
        kit.ask("x", "die", json!({"how": "kill"})).await.unwrap_err();
        assert!(until(LONG, || farm.count("x", listens) == 2 * before).await, "{era}");
        read(&kit, &view, "kitbag+x:fake://update/fake://shared/part").await.unwrap();
        // A newer server may have told of the first one on each of its streams.
        let part = async { while updates.next().await.unwrap() != "kitbag+x:fake://shared/part" {} };
        in_time(part).await;
        drop(updates);
        if era == "legacy" {
            assert!(until(LONG, || farm.count("x", "unsubscribe") == 1).await);
        }
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn subscriptions_are_bounded_and_refused_where_nothing_is_told() {
    let mut limits = calm();
    limits.subscriptions = 1;
    let farm = Farm::of("x", &["--offers", "good", "--era", "legacy"]);
    farm.add("tools_only", &[]);
    let kit = farm.open(limits).await;
    let view = kit.own_view();
    let first = kit.subscribe(&view, "kitbag+x:fake://shared").await.unwrap();
    let _same = kit.subscribe(&view, "kitbag+x:fake://shared").await.unwrap();
    assert_eq!(farm.count("x", "subscribe"), 1, "once, however many listen");
    let error = kit.subscribe(&view, "kitbag+x:fake://picture").await.err().unwrap();
    assert!(error.message.contains("`subscriptions` in `kitbag limits`"), "{error}");
    drop(first);
    let error = kit.subscribe(&view, "kitbag+tools_only:fake://shared").await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    let error = kit.subscribe(&view, "kitbag+nobody:fake://shared").await.err().unwrap();
    assert_eq!(error.kind, ErrorKind::NotFound, "{error}");
    farm.close(kit).await;
}

#[tokio::test]
async fn arguments_are_completed_by_their_server_alone() {
    let farm = two();
    farm.settings("[groups.local]\ndeny = ['y/prompt:greet']\n");
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let known = Map::from_iter([("name".to_owned(), "Ada".into())]);
    let complete = async |reference| {
        let done = kit.complete(&view, reference, ("style", "f"), &known, CallOptions::default()).await;
        done.map(|done| serde_json::from_str::<Value>(done.result.get()).unwrap())
    };
    for reference in [
        CompletionReference::Prompt("mcp_x_greet"),
        CompletionReference::Resource("kitbag+x:fake://echo/{text}"),
    ] {
        let done = complete(reference).await.unwrap();
        assert_eq!(done["completion"]["values"], json!(["formal", "friendly"]));
    }
    assert_eq!(farm.events("x", "complete").len(), 2);
    let denied = complete(CompletionReference::Prompt("mcp_y_greet")).await.unwrap_err();
    assert_eq!((denied.kind, farm.count("y", "complete")), (ErrorKind::NotFound, 0));
    let nothing = complete(CompletionReference::Resource("kitbag+tools_only:fake://a")).await.unwrap();
    assert_eq!(nothing["completion"]["values"], json!([]));
    farm.close(kit).await;
}

#[tokio::test]
async fn a_call_says_how_much_is_to_be_logged() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let kit = farm.open(calm()).await;
        let heard = async |log_level| {
            let (sender, mut notes) = tokio::sync::mpsc::channel(64);
            let options = CallOptions { notifications: Some(sender), log_level, ..CallOptions::default() };
            let call = ToolCall::new("mcp_x_log", r#"{"n":2}"#).with(options);
            kit.call_tool(&kit.own_view(), call).await.unwrap();
            let mut count = 0;
            while notes.try_recv().is_ok() {
                count += 1;
            }
            count
        };
        assert_eq!(heard(Some(LogLevel::Debug)).await, 2, "{era}");
        assert_eq!(heard(None).await, if era == "legacy" { 2 } else { 0 }, "{era}");
        farm.close(kit).await;
    }
}
