//! The files change while servers run: only what changed is touched.

use std::time::Duration;

use kitbag::{ErrorKind, Kitbag, LinkState, ServerName};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, first, names, said, until};

const LONG: Duration = Duration::from_secs(30);

async fn pid(kit: &Kitbag, server: &str) -> String {
    said(&kit.ask(server, "pid", json!({})).await.unwrap())
}

#[tokio::test]
async fn s2_8_only_the_changed_server_is_started_again() {
    let farm = Farm::of("same", &[]);
    farm.add("other", &[]);
    farm.add("gone", &[]);
    let kit = farm.open(calm()).await;
    let (same, other, gone) = (pid(&kit, "same").await, pid(&kit, "other").await, pid(&kit, "gone").await);
    farm.add("other", &["--tools", "2"]);
    farm.remove("gone");
    farm.add("new", &[]);
    let faults = kit.reload().await.unwrap();
    // What was replaced or removed has ended when it comes back.
    for pid in [&other, &gone] {
        assert!(!testkit::proc::alive(pid.parse().unwrap()), "still there");
    }
    kit.wait(LONG).await;
    assert_eq!(pid(&kit, "same").await, same);
    assert_eq!((farm.count("same", "start"), farm.count("same", "list")), (1, 1));
    assert_ne!(pid(&kit, "other").await, other);
    assert_eq!(farm.count("other", "start"), 2);
    assert!(until(LONG, || names(&kit.own_view()).contains(&"mcp_other_extra_0001".to_owned())).await);
    kit.lives("new").await;
    assert!(kit.link(&ServerName::parse("gone").unwrap()).is_none());
    let error = kit.call("mcp_gone_add", r#"{"a":1,"b":1}"#).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    println!("{faults:?}");
    farm.close(kit).await;
}

/// Whoever watches the catalog sees the old tools, then the new ones, and never the old ones again.
#[tokio::test]
async fn s2_8_what_a_replaced_server_listed_does_not_come_back() {
    let farm = Farm::of("x", &["--tools", "1"]);
    let kit = farm.open(calm()).await;
    kit.reaches("x", LinkState::Ready).await;
    let server = ServerName::parse("x").unwrap();
    for round in 2..12 {
        let mut watch = kit.watch();
        farm.add("x", &["--tools", &round.to_string()]);
        let watching = async {
            let mut seen = Vec::new();
            while watch.changed().await.is_ok() {
                let now = watch.borrow_and_update().clone();
                let extra = now.part(&server).map_or(0, |part| {
                    part.tools.iter().filter(|tool| tool.name.as_str().starts_with("extra_")).count()
                });
                seen.push((extra, now.away(&server).map(|away| away.why.clone())));
                if extra == round && now.away(&server).is_none() {
                    break;
                }
            }
            seen
        };
        let both = async { tokio::join!(watching, kit.reload()) };
        let (seen, reloaded) = tokio::time::timeout(LONG, both).await.unwrap();
        reloaded.unwrap();
        let order: Vec<usize> = seen.iter().map(|(extra, _)| *extra).collect();
        assert!(order.is_sorted(), "{seen:?}");
        assert!(seen.iter().all(|(_, away)| away.as_deref() != Some("stopped")), "another's end: {seen:?}");
        kit.call("mcp_x_add", r#"{"a":1,"b":1}"#).await.unwrap();
    }
    farm.close(kit).await;
}

/// A removed server stays away, however its link's last words come in between.
#[tokio::test]
async fn s3_10_a_removed_server_does_not_come_back() {
    let farm = Farm::of("stays", &[]);
    farm.add("goes", &[]);
    let kit = farm.open(calm()).await;
    let server = ServerName::parse("goes").unwrap();
    for _ in 0..10 {
        farm.remove("goes");
        let link = kit.on("goes");
        kit.reload().await.unwrap();
        let back = || kit.snapshot().part(&server).is_some() || kit.snapshot().away(&server).is_some();
        // Its last words are said once it has stopped; others go on meanwhile.
        assert!(until(LONG, || link.status().state == LinkState::Stopped).await, "{:?}", link.status());
        for _ in 0..5 {
            kit.lives("stays").await;
            assert!(!back(), "it came back");
        }
        farm.add("goes", &[]);
        kit.reload().await.unwrap();
        kit.lives("goes").await;
    }
    assert_eq!(farm.count("stays", "start"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_8_rules_change_without_a_restart() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let before = pid(&kit, "x").await;
    let rows = [
        ("[servers.x.tools.echo]\nname = 'say'", "say", "mcp_x_ehco"),
        ("[servers.x]\ninclude = ['echo']", "mcp_x_echo", "mcp_x_add"),
        ("[servers.x]\nexclude = ['add']\nnames = 'bare'", "echo", "add"),
        ("[agents.a]\nallow = ['x/*']", "mcp_x_echo", "say"),
    ];
    for (settings, there, not_there) in rows {
        farm.settings(settings);
        kit.reload().await.unwrap();
        assert!(
            names(&kit.own_view()).contains(&there.to_owned()),
            "{settings}: {:?}",
            names(&kit.own_view())
        );
        assert_eq!(first(&kit.call(there, r#"{"message":"hi"}"#).await.unwrap()), "hi", "{settings}");
        assert_eq!(kit.call(not_there, "{}").await.unwrap_err().kind, ErrorKind::NotFound, "{settings}");
    }
    assert_eq!(pid(&kit, "x").await, before);
    assert_eq!((farm.count("x", "start"), farm.count("x", "list")), (1, 1));
    farm.close(kit).await;
}

/// A call that is under way when the files change ends as it would have.
#[tokio::test]
async fn s2_8_a_reload_disturbs_no_call_to_a_server_that_stays() {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    let slow = kit.call_tool(&view, kitbag::ToolCall::new("mcp_x_sleep", r#"{"ms":600}"#));
    let change = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        farm.add("y", &["--tools", "1"]);
        farm.settings("[servers.x]\ntag = 'new '");
        kit.reload().await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, change);
    assert_eq!(first(&slow.unwrap()), "slept 600 ms");
    // A view that somebody still holds is as good as it was.
    let old = kit.call_tool(&view, kitbag::ToolCall::new("mcp_x_add", r#"{"a":1,"b":1}"#)).await.unwrap();
    assert_eq!(first(&old), "2");
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_8_a_half_written_file_ends_nothing() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    kit.lives("x").await;
    let whole = std::fs::read_to_string(farm.house.path("kit/config/mcp.json")).unwrap();
    farm.house.put("kit/config/mcp.json", &whole[..whole.len() / 2]);
    let faults = kit.reload().await.unwrap();
    assert!(faults.iter().any(|fault| fault.place.is_some()), "{faults:?}");
    kit.lives("x").await;
    farm.house.put("kit/config/mcp.json", whole);
    assert!(kit.reload().await.unwrap().is_empty());
    kit.lives("x").await;
    assert_eq!(farm.count("x", "start"), 1);
    farm.close(kit).await;
}
