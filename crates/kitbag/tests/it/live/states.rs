//! The life of a link: every state it can be in, and the way back from each.

use std::time::Duration;

use kitbag::{ErrorKind, Kitbag, LinkState, ServerName};
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, said, until};
use testkit::Since;

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn s3_14_f6_a_killed_server_is_started_again_as_it_was_given() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.restart_first = Duration::from_secs(1);
    limits.steady = Duration::from_secs(600);
    let kit = farm.open(limits).await;
    let before = kit.own_view();
    assert!(before.tools().iter().all(|row| before.is_available(row)));
    // The first end is recovered from at once, the second after a pause.
    kit.ask("x", "die", json!({"how": "kill"})).await.unwrap_err();
    let back = kit.ask("x", "add", json!({"a": 2, "b": 3})).await;
    assert_eq!(said(&back.unwrap()), "5");
    kit.reaches("x", LinkState::Ready).await;
    kit.ask("x", "die", json!({"how": "kill"})).await.unwrap_err();
    kit.reaches("x", LinkState::Reconnecting).await;
    let away = kit.own_view();
    assert_eq!(away.tools().len(), before.tools().len());
    let theirs = away.tools().iter().filter(|row| row.tool.server.as_str() == "x");
    assert!(theirs.clone().count() > 0);
    assert!(theirs.clone().all(|row| !away.is_available(row)), "away, and still listed");
    let status = kit.on("x").status();
    assert!(status.error.as_ref().is_some_and(|why| why.root.contains("signal 9")), "{status:?}");
    // Configured anew while it is down, it comes back as it was given, and is another once the files are read.
    farm.add("x", &["--tools", "7"]);
    let reply = kit.ask("x", "add", json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(said(&reply), "5");
    assert_eq!(kit.on("x").status().restarts, 2);
    assert_eq!(kit.own_view().tools().len(), before.tools().len());
    kit.reload().await.unwrap();
    assert!(until(LONG, || kit.own_view().tools().len() == before.tools().len() + 7).await);
    farm.close(kit).await;
}

#[tokio::test]
async fn s3_17_all_pages_are_listed_and_changes_seen() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--page", "5", "--tools", "23", "--era", era]);
        let kit = farm.open(calm()).await;
        let list = kit.on("x").tools();
        let extra = list.tools.iter().filter(|tool| tool.name.as_str().starts_with("extra_")).count();
        assert_eq!((extra, &list.truncated), (23, &None));
        assert!(list.tools.len().div_ceil(5) <= farm.count("x", "list"));
        // What we do not know of a definition survives.
        let raw = list.tools.iter().find(|tool| tool.name.as_str() == "extra_0001").unwrap().raw.get();
        assert!(raw.contains(r#""annotations":{"readOnlyHint":true}"#), "{raw}");
        let before = list.tools.len();
        assert_eq!(said(&kit.ask("x", "grow", json!({})).await.unwrap()), "grown_1");
        let has = || kit.on("x").tools().tools.iter().any(|tool| tool.name.as_str() == "grown_1");
        assert!(until(LONG, has).await, "{era}: not listed again");
        assert_eq!(kit.on("x").tools().tools.len(), before + 1);
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn s4_9_every_state_is_reached() {
    let farm = Farm::of("ready", &[]);
    farm.add_with("disabled", &[], &json!({"disabled": true}));
    farm.add_with("idle", &[], &json!({"lazy": true}));
    farm.add("starting", &["--fault", "s05"]);
    farm.add("degraded", &["--fault", "s22:9000,2000"]);
    farm.add("reconnecting", &["--fault", "s09"]);
    farm.add_with("failed", &[], &json!({"command": "no-such-program-anywhere"}));
    farm.add("stopped", &[]);
    let held = json!({"mcpServers": {"held": {"command": "true"}}});
    farm.house.put("project/.mcp.json", held.to_string());
    let kit = farm.start(calm());
    for name in ["ready", "idle", "starting", "degraded", "reconnecting", "failed"] {
        let state = [LinkState::Ready, LinkState::Idle, LinkState::Starting, LinkState::Degraded]
            .into_iter()
            .chain([LinkState::Reconnecting, LinkState::Failed])
            .find(|state| state.as_str() == name);
        kit.reaches(name, state.unwrap()).await;
    }
    kit.on("stopped").settled().await;
    kit.stop(&ServerName::parse("stopped").unwrap()).await.unwrap();
    kit.reaches("stopped", LinkState::Stopped).await;
    for row in kit.status() {
        assert_eq!(row.status.state.as_str(), row.name, "{:?}", row.status);
        let needs_reason = matches!(row.name.as_str(), "degraded" | "reconnecting" | "failed");
        assert!(!needs_reason || row.status.error.is_some(), "{row:?}");
    }
    assert_eq!(kit.status().len(), 9, "all nine");
    let failed = kit.on("failed").status().error.unwrap().to_string();
    assert!(failed.contains("no-such-program-anywhere"), "{failed}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s4_10_a_server_lost_later_fails_its_own_calls_only() {
    let farm = Farm::new();
    let program = farm.house.path("fake-copy");
    std::fs::copy(testkit::bin("fake-mcp"), &program).unwrap();
    farm.add_with("a", &[], &json!({"command": program}));
    farm.add("b", &[]);
    let mut limits = calm();
    limits.wait_agent = Duration::from_millis(500);
    let kit = farm.open(limits).await;
    kit.lives("a").await;
    // Gone for good: not even its program is there any more.
    std::fs::remove_file(&program).unwrap();
    kit.ask("a", "die", json!({"how": "kill"})).await.unwrap_err();
    let error = kit.ask("a", "add", json!({"a": 1, "b": 1})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    assert!(error.message.contains("fake-copy"), "{error}");
    kit.lives("b").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn s4_19_a_required_server_that_is_missing_fails_the_opening() {
    let farm = Farm::of("good", &[]);
    farm.add_with("needed", &[], &json!({"command": "no-such-program-anywhere", "required": true}));
    let opened = Kitbag::open_with(farm.setup(), farm.options(calm())).await;
    let error = opened.err().unwrap();
    assert_eq!(error.server.as_str(), "needed");
    assert!(error.why.contains("no-such-program-anywhere"), "{error}");
    farm.is_empty();
    // Not required, the same is a fault and no more.
    farm.add_with("needed", &[], &json!({"command": "no-such-program-anywhere"}));
    let (kit, faults) = Kitbag::open_with(farm.setup(), farm.options(calm())).await.unwrap();
    assert_eq!(faults.len(), 1, "{faults:?}");
    kit.lives("good").await;
    farm.close(kit).await;
}

/// Nobody waits in line: what is good is listed while one that hangs and one that is slow are still starting.
#[tokio::test]
async fn s2_10_servers_are_contacted_side_by_side() {
    let farm = Farm::new();
    farm.add("a-hung", &["--fault", "s05"]);
    farm.add("b-slow", &["--fault", "s29:60000"]);
    for name in ["good-1", "good-2", "good-3"] {
        farm.add(name, &[]);
    }
    let kit = farm.start(calm());
    for name in ["good-1", "good-2", "good-3"] {
        kit.reaches(name, LinkState::Ready).await;
        assert!(!kit.on(name).tools().tools.is_empty());
    }
    for name in ["a-hung", "b-slow"] {
        assert_eq!(
            (kit.on(name).status().state, farm.count(name, "start")),
            (LinkState::Starting, 1),
            "{name}"
        );
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn a_lazy_server_starts_on_first_need() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"lazy": true}));
    let (kit, faults) = Kitbag::open_with(farm.setup(), farm.options(calm())).await.unwrap();
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!((kit.on("x").status().state, farm.count("x", "start")), (LinkState::Idle, 0));
    kit.lives("x").await;
    assert_eq!(farm.count("x", "start"), 1);
    kit.reaches("x", LinkState::Ready).await;
    farm.close(kit).await;
}

/// Twenty times as fast: 60 s are 3 s.
#[tokio::test]
async fn t11_a_crash_loop_slows_down_and_says_why() {
    for (fault, code, words) in [("s08", 3, "fatal: giving up"), ("s09", 0, "exit code 0")] {
        let farm = Farm::new();
        farm.add_with("x", &["--fault", fault], &json!({"env": {"FAKE_SECRET": "PLANTED/+ secret"}}));
        let fast = kitbag::Limits::default().faster(20);
        let mut limits = calm();
        (limits.restart_first, limits.restart_most) = (fast.restart_first, fast.restart_most);
        let began = Since::now();
        let kit = farm.start(limits);
        // The first try asks both ways, so it is the second wait that comes first. A start may be seen late, never
        // early.
        let waits = (1..).map(|round| fast.restart_first * (1 << round));
        let mut least = waits.scan(Duration::ZERO, |all, wait| {
            *all += wait;
            Some(*all)
        });
        for starts in 3..=5 {
            assert!(until(LONG, || starts <= farm.count("x", "start")).await, "{fault}: no start {starts}");
            began.at_least(least.next().unwrap());
        }
        kit.reaches("x", LinkState::Reconnecting).await;
        let status = kit.on("x").status();
        let error = status.error.unwrap().to_string();
        assert_eq!(status.state, LinkState::Reconnecting);
        assert!(error.contains(&format!("exit code {code}")) && error.contains(words), "{fault}: {error}");
        assert!(!error.contains("PLANTED"), "{error}");
        let fault_shown: Value = json!(kit.faults().iter().map(|fault| &fault.message).collect::<Vec<_>>());
        assert!(fault_shown.to_string().contains("exit code"), "{fault_shown}");
        farm.close(kit).await;
    }
}
