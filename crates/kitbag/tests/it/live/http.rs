//! Servers at an address: both transports, both eras, every form of answer.

use std::time::Duration;

use kitbag::LinkState;
use kitbag::connect::RawCall;
use serde_json::json;
use tokio::task::JoinSet;

use super::farm::{Opens as _, Use as _, raw};
use super::{Hosted, calm, said, until};

#[tokio::test]
async fn s4_4_streamable_http_in_both_eras_and_all_forms() {
    let sessions: &[(&str, &[&str], &str, bool)] = &[
        ("legacy", &["--era", "legacy"], "2025-11-25", true),
        ("stateless", &["--era", "legacy", "--stateless"], "2025-11-25", false),
        ("modern", &["--era", "modern"], "2026-07-28", false),
        ("both", &["--era", "both"], "2026-07-28", false),
    ];
    for (name, args, version, session) in sessions {
        for form in ["auto", "json", "sse"] {
            let hosted = Hosted::of("x", &[args, &["--answer", form, "--page", "5"][..]].concat());
            let kit = hosted.farm.open(calm()).await;
            kit.lives("x").await;
            let status = kit.on("x").status();
            assert_eq!(status.state, LinkState::Ready, "{name} {form}: {status:?}");
            assert_eq!(status.version.as_deref(), Some(*version), "{name} {form}");
            assert_eq!((status.transport, status.session), (Some("http"), *session), "{name} {form}");
            assert!(15 < kit.on("x").tools().tools.len(), "{name} {form}: all pages");
            let (notes, mut heard) = kit.on("x").mailbox();
            let reply = kit.noted("x", "progress", json!({"n": 3, "ms": 5}), notes).await.unwrap();
            assert!(!said(&reply).is_empty());
            let mut steps = Vec::new();
            while let Some(note) = heard.recv().await {
                steps.push(note.params.get().to_owned());
            }
            // An answer as one JSON body has no room for notes; with a session they may come on its other stream.
            let expected = if form != "json" {
                3..=3
            } else if *session {
                0..=3
            } else {
                0..=0
            };
            assert!(expected.contains(&steps.len()), "{name} {form}: {steps:?}");
            assert!(steps.is_sorted(), "{name} {form}: {steps:?}");
            hosted.close(kit).await;
            assert_eq!(hosted.farm.count("x", "session-end"), usize::from(*session), "{name} {form}");
        }
    }
}

#[tokio::test]
async fn s4_4_the_older_transport_is_found_by_the_rule() {
    for kind in ["http", "sse", "auto"] {
        let hosted = Hosted::new();
        hosted.add("x", &["--era", "legacy", "--sse"], &json!({"type": kind}));
        let kit = hosted.farm.open(calm()).await;
        kit.lives("x").await;
        let status = kit.on("x").status();
        assert_eq!((status.transport, status.era), (Some("sse"), Some("legacy")), "{kind}");
        let posts = |path: &str| {
            let posts = hosted.requests("x");
            posts.iter().filter(|line| line.starts_with(&format!("http POST {path} "))).count()
        };
        // An address that ends like that is not asked for anything else first.
        assert_eq!(posts("/sse") == 0, kind != "http", "{kind}: {:?}", hosted.requests("x"));
        let (notes, mut heard) = kit.on("x").mailbox();
        kit.noted("x", "progress", json!({"n": 3}), notes).await.unwrap();
        let mut count = 0;
        while heard.recv().await.is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
        hosted.close(kit).await;
    }
    // And the other way round: what is called SSE but is not.
    let hosted = Hosted::new();
    hosted.add("x", &["--era", "modern"], &json!({"type": "sse"}));
    let kit = hosted.farm.open(calm()).await;
    kit.lives("x").await;
    assert_eq!(kit.on("x").status().transport, Some("http"));
    hosted.close(kit).await;
}

#[tokio::test]
async fn t15_over_http_the_era_is_found_by_the_answer_and_remembered() {
    for probe in ["error", "invalid"] {
        let hosted = Hosted::of("x", &["--era", "legacy", "--legacy-probe", probe]);
        for round in [1, 2] {
            let kit = hosted.farm.open(calm()).await;
            kit.lives("x").await;
            assert_eq!(kit.on("x").status().version.as_deref(), Some("2025-11-25"));
            hosted.close(kit).await;
            let asked = hosted
                .requests("x")
                .iter()
                .filter(|line| line.contains("mcp-method=server/discover"))
                .count();
            assert_eq!(asked, 1, "{probe} {round}: {:#?}", hosted.requests("x"));
        }
    }
}

/// A question that came to nothing says nothing about the era: a server of both is not taken for an older one for
/// good.
#[tokio::test]
async fn t15_a_probe_that_is_cut_is_not_remembered() {
    let faults = ["rst", "fin", "half", "500", "503", "500,error", "unwell", "rst,both", "503,error,both"];
    for fault in faults {
        let hosted = Hosted::of("x", &["--era", "both", "--fault", &format!("h20:{fault}")]);
        let kit = hosted.farm.open(calm()).await;
        kit.reaches("x", LinkState::Ready).await;
        kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap();
        let spoken = kit.on("x").status().version;
        hosted.close(kit).await;
        let eras = hosted.farm.house.path("kit/cache/eras.json");
        let kept = std::fs::read_to_string(&eras).unwrap_or_default();
        assert!(!kept.contains("legacy"), "{fault}: {spoken:?} {kept}");
        let kit = hosted.farm.open(calm()).await;
        kit.lives("x").await;
        assert_eq!(kit.on("x").status().version.as_deref(), Some("2026-07-28"), "{fault}");
        hosted.close(kit).await;
        assert!(std::fs::read_to_string(&eras).unwrap().contains("modern"), "{fault}");
    }
}

/// A server that lets the question hang is asked it once in a run, as it costs a whole clock, and again in the next.
#[tokio::test]
async fn t15_a_probe_that_hangs_is_not_repeated_and_not_remembered() {
    let hosted = Hosted::of("x", &["--era", "legacy", "--stateless", "--legacy-probe", "silent"]);
    let mut limits = calm();
    limits.probe = Duration::from_millis(300);
    for round in 1..=2 {
        let kit = hosted.farm.open(limits.clone()).await;
        kit.lives("x").await;
        hosted.crash("x");
        let again = async {
            kit.reaches("x", LinkState::Reconnecting).await;
            hosted.again("x");
        };
        let (called, ()) = tokio::join!(kit.ask("x", "add", json!({"a": 1, "b": 1})), again);
        called.unwrap();
        hosted.close(kit).await;
        let probes = hosted.requests("x");
        let probes = probes.iter().filter(|line| line.contains("mcp-method=server/discover")).count();
        assert_eq!(probes, round);
        let eras = hosted.farm.house.path("kit/cache/eras.json");
        assert!(!eras.exists(), "{:?} {:#?}", std::fs::read_to_string(&eras), hosted.requests("x"));
    }
}

/// What was remembered of a newer server is forgotten when it has become an older one that cannot be asked.
#[tokio::test]
async fn t15_a_server_that_became_older_and_hangs_is_not_asked_at_every_start() {
    let hosted = Hosted::of("x", &["--era", "modern"]);
    let eras = hosted.farm.house.path("kit/cache/eras.json");
    let mut limits = calm();
    limits.probe = Duration::from_millis(300);
    let kit = hosted.farm.open(limits.clone()).await;
    kit.lives("x").await;
    hosted.close(kit).await;
    assert!(std::fs::read_to_string(&eras).unwrap().contains("modern"));
    hosted.again_with("x", &["--era", "legacy", "--stateless", "--legacy-probe", "silent"]);
    let kit = hosted.farm.open(limits).await;
    kit.lives("x").await;
    hosted.crash("x");
    let again = async {
        kit.reaches("x", LinkState::Reconnecting).await;
        hosted.again("x");
    };
    let probes = || hosted.requests("x").iter().filter(|line| line.contains("server/discover")).count();
    let before = probes();
    let (called, ()) = tokio::join!(kit.ask("x", "add", json!({"a": 1, "b": 1})), again);
    called.unwrap();
    assert_eq!(probes(), before, "asked again in the same run");
    hosted.close(kit).await;
    assert!(!std::fs::read_to_string(&eras).unwrap().contains("modern"));
}

#[tokio::test]
async fn a_change_of_tools_is_heard_over_http() {
    for args in [&["--era", "legacy"][..], &["--era", "modern"], &["--era", "legacy", "--sse"]] {
        let hosted = Hosted::of("x", args);
        let kit = hosted.farm.open(calm()).await;
        let before = kit.on("x").tools().tools.len();
        let listens = || {
            let all = hosted.requests("x");
            all.iter().any(|line| line.starts_with("http GET")) || 0 < hosted.farm.count("x", "listen")
        };
        assert!(until(Duration::from_secs(10), listens).await, "{args:?}");
        kit.ask("x", "grow", json!({})).await.unwrap();
        let grown = until(Duration::from_secs(10), || before < kit.on("x").tools().tools.len()).await;
        assert!(grown, "{args:?}: {:#?}", hosted.requests("x"));
        hosted.close(kit).await;
    }
}

/// Many at once, each on a request of its own: everybody gets their own answer.
#[tokio::test]
async fn t22_answers_over_http_reach_the_call_they_belong_to() {
    for args in
        [&["--era", "legacy"][..], &["--era", "modern", "--answer", "sse"], &["--era", "legacy", "--sse"]]
    {
        let hosted = Hosted::new();
        hosted.add("x", args, &json!({}));
        let kit = hosted.farm.open(calm()).await;
        let mut calls = JoinSet::new();
        for number in 0..100 {
            let link = kit.on("x");
            calls.spawn(async move {
                let message = format!("m{number}");
                let reply =
                    link.call(RawCall::new("echo", &raw(&json!({"message": message})))).await.unwrap();
                assert_eq!(said(&reply), message);
            });
        }
        while let Some(done) = calls.join_next().await {
            done.unwrap();
        }
        kit.lives("x").await;
        hosted.close(kit).await;
    }
}

/// Newer servers see that nobody listens any more; older ones are told.
#[tokio::test]
async fn cancelling_reaches_a_server_at_an_address() {
    for (args, posts) in
        [(&["--era", "legacy"][..], 1), (&["--era", "modern"], 0), (&["--era", "legacy", "--sse"], 1)]
    {
        let hosted = Hosted::of("x", args);
        let kit = hosted.farm.open(calm()).await;
        let call = kit.ask("x", "slow_progress", json!({"n": 1000, "ms": 10}));
        let _ = tokio::time::timeout(Duration::from_millis(300), call).await;
        let before = hosted.requests("x").len();
        let told = until(Duration::from_secs(10), || hosted.farm.count("x", "cancelled") == 1).await;
        assert!(told, "{args:?}: {:#?}", hosted.requests("x"));
        assert_eq!(hosted.requests("x").len() - before, posts, "{args:?}: {:#?}", hosted.requests("x"));
        kit.lives("x").await;
        hosted.close(kit).await;
    }
}
