//! Lists that were good and are not any more: the last good one stays, and is said to be old.

use std::time::Duration;

use kitbag::{ErrorKind, Kitbag, LinkState};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, names, until};

const LONG: Duration = Duration::from_secs(30);

async fn calls_work(farm: &Farm, kit: &Kitbag) {
    let before = farm.count("x", "exec one");
    kit.call("mcp_x_one", r#"{"argument_1":"v"}"#).await.unwrap();
    assert_eq!(farm.count("x", "exec one"), before + 1);
}

#[tokio::test]
async fn t29_a_bad_refresh_keeps_the_last_good_list_until_it_is_corrected() {
    for (how, page) in [("error", 100), ("garbage", 100), ("timeout", 100), ("half", 100), ("half", 2)] {
        let farm = Farm::of("x", &["--fault", "c15", "--page", &page.to_string()]);
        let mut limits = calm();
        limits.wait_list = Duration::from_secs(1);
        let kit = farm.open(limits).await;
        kit.reaches("x", LinkState::Ready).await;
        let before = names(&kit.own_view());
        assert_eq!(before.len(), 9, "{before:?}");
        kit.call("mcp_x_break_list", &json!({"how": how}).to_string()).await.unwrap();
        kit.reaches("x", LinkState::Degraded).await;
        let view = kit.own_view();
        assert_eq!(names(&view), before, "{how}");
        assert!(view.tools().iter().all(|shown| view.is_available(shown)), "{how}: it can still be called");
        let error = kit.on("x").status().error.unwrap().to_string();
        assert!(!error.is_empty(), "{how}");
        calls_work(&farm, &kit).await;
        // A tool that came meanwhile is not known yet, and comes with the next good list.
        kit.call("mcp_x_add_tool", "{}").await.unwrap();
        let unknown = kit.call("mcp_x_added_1", "{}").await.unwrap_err();
        assert_eq!(unknown.kind, ErrorKind::NotFound, "{how}");
        kit.call("mcp_x_mend_list", "{}").await.unwrap();
        let whole = || names(&kit.own_view()).contains(&"mcp_x_added_1".to_owned());
        assert!(until(LONG, whole).await, "{how}: {:?}", kit.on("x").status());
        kit.reaches("x", LinkState::Ready).await;
        assert_eq!(kit.on("x").status().error, None, "{how}");
        assert_eq!((names(&kit.own_view()).len(), farm.count("x", "start")), (10, 1), "{how}");
        calls_work(&farm, &kit).await;
        farm.close(kit).await;
    }
}

/// A list that broke is not what is remembered: the next start lists the last good one.
#[tokio::test]
async fn t29_what_is_remembered_is_the_last_good_list() {
    let farm = Farm::of("x", &["--fault", "c15", "--start-delay", "500"]);
    let kit = farm.open(calm()).await;
    kit.reaches("x", LinkState::Ready).await;
    let before = names(&kit.own_view());
    kit.call("mcp_x_break_list", r#"{"how":"garbage"}"#).await.unwrap();
    kit.reaches("x", LinkState::Degraded).await;
    farm.close(kit).await;
    let kit = farm.start(calm());
    assert_eq!(names(&kit.own_view()), before);
    farm.close(kit).await;
}
