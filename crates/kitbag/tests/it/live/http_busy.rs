//! Servers that are busy: left alone for as long as they ask, within bounds, and never behind a call's back.

use std::time::Duration;

use kitbag::{ErrorKind, LinkState};
use serde_json::json;

use super::farm::{Opens as _, Use as _};
use super::{Hosted, calm, until};
use testkit::Since;

const LONG: Duration = Duration::from_secs(30);

/// Opens a server that is busy at first, with these bounds of the back-off, and leaves it alone for this long at least.
async fn opened(fault: &str, first: Duration, most: Duration, least: Duration) {
    let hosted = Hosted::of("x", &["--era", "both", "--fault", fault]);
    let mut limits = calm();
    (limits.restart_first, limits.restart_most) = (first, most);
    let began = Since::now();
    let kit = hosted.farm.start(limits);
    kit.reaches("x", LinkState::Ready).await;
    began.at_least(least);
    assert_eq!(kit.on("x").status().restarts, 1, "{fault}");
    // Being busy says nothing about the era.
    assert_eq!(kit.on("x").status().version.as_deref(), Some("2026-07-28"), "{fault}");
    hosted.close(kit).await;
    let log = hosted.farm.log("x");
    assert_eq!(log.lines().count(), 1, "{fault}: {log}");
    let class = if fault.contains("429") { "rate limited" } else { "refused" };
    assert!(log.starts_with(&format!("ERROR cannot connect: {class}: answered ")), "{fault}: {log}");
}

#[tokio::test]
async fn a_busy_server_is_left_alone_for_as_long_as_it_asks() {
    let (brief, long) = (Duration::from_millis(1), Duration::from_secs(3600));
    for fault in ["h19:1", "h19:1,429", "h19:1,error", "h19:1,429,error"] {
        opened(fault, brief, long, Duration::from_secs(1)).await;
    }
}

/// Being refused twice is no reason to give a server up that said when to come back.
#[tokio::test]
async fn a_first_call_waits_for_a_server_that_says_when_to_come_back() {
    let hosted = Hosted::of("x", &["--fault", "h19:3"]);
    let mut limits = calm();
    limits.restart_most = Duration::from_millis(100);
    let kit = hosted.farm.start(limits);
    let result = kit.call("mcp_x_echo", r#"{"message": "here"}"#).await.unwrap();
    assert_eq!(super::first(&result), "here");
    hosted.close(kit).await;
}

#[tokio::test]
async fn a_server_that_asks_for_too_much_is_tried_again_all_the_same() {
    let (brief, most) = (Duration::from_millis(1), Duration::from_millis(400));
    for fault in ["h19:1,long", "h19:1,429,long", "h19:1,date", "h19:1,429,date"] {
        opened(fault, brief, most, most).await;
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_no_wish() {
    let (brief, long) = (Duration::from_millis(1), Duration::from_secs(3600));
    // Without a wish a refusal of the newer question is no reason not to ask the older one.
    for fault in ["h19:2,junk", "h19:1,429,junk", "h19:2,bare", "h19:1,429,bare"] {
        opened(fault, brief, long, Duration::ZERO).await;
    }
}

#[tokio::test]
async fn a_call_that_comes_too_often_is_told_when_to_come_back() {
    for (mode, said) in [
        ("429,call", "; try again in 1 s"),
        ("429,call,error", "; try again in 1 s"),
        ("429,call,long", "; try again in 86400 s"),
        ("429,call,date", "; try again in "),
        ("429,call,junk", ""),
        ("429,call,bare", ""),
    ] {
        let hosted = Hosted::of("x", &["--era", "modern", "--fault", &format!("h19:1,{mode}")]);
        let kit = hosted.farm.open(calm()).await;
        let error = kit.ask("x", "count", json!({"token": "once"})).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::RateLimited, "{mode}: {error}");
        assert_eq!(error.message.contains("try again"), !said.is_empty(), "{mode}: {error}");
        assert!(error.message.contains(said), "{mode}: {error}");
        // It was not made, and nobody made it behind the caller's back.
        assert_eq!(hosted.farm.count("x", "exec once"), 0, "{mode}");
        kit.ask("x", "count", json!({"token": "once"})).await.unwrap();
        assert_eq!(hosted.farm.count("x", "exec once"), 1, "{mode}");
        hosted.close(kit).await;
    }
}

/// What may have been carried out is not to be tried again, whatever the server asks for.
#[tokio::test]
async fn a_call_that_may_have_been_made_is_not_told_to_come_back() {
    for era in ["modern", "legacy"] {
        let hosted = Hosted::of("x", &["--era", era, "--fault", "h19:1,503,call"]);
        let kit = hosted.farm.open(calm()).await;
        kit.lives("x").await;
        let error = kit.ask("x", "echo", json!({"message": "a"})).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
        assert!(!error.message.contains("try again"), "{error}");
        kit.ask("x", "echo", json!({"message": "a"})).await.unwrap();
        hosted.close(kit).await;
        // Who says when to come back has not forgotten us.
        assert_eq!(hosted.farm.count("x", "session"), usize::from(era == "legacy"));
    }
}

#[tokio::test]
async fn a_list_that_is_asked_for_too_often_is_asked_for_again_later() {
    for (fault, said) in [
        ("h19:1,429,list", "tools cannot be listed: answered 429"),
        ("h19:1,429,list,error", "tools cannot be listed: answered 429"),
        ("h19:1,503,list", "tools cannot be listed: answered 503"),
        ("h19:1,503,list,error", "tools cannot be listed: answered 503"),
        ("h19:1,429,page", "tool list cut short: the list broke off: rate limited: answered 429"),
    ] {
        let hosted = Hosted::of("x", &["--era", "legacy", "--page", "5", "--fault", fault]);
        let mut limits = calm();
        (limits.restart_first, limits.restart_most) = (Duration::from_millis(1), Duration::from_secs(30));
        let began = Since::now();
        let kit = hosted.farm.start(limits);
        let link = kit.on("x");
        let whole = || 15 < link.tools().tools.len() && link.status().state == LinkState::Ready;
        assert!(until(Duration::from_secs(10), whole).await, "{fault}: {:?}", link.status());
        began.at_least(Duration::from_secs(1));
        kit.lives("x").await;
        hosted.close(kit).await;
        let log = hosted.farm.log("x");
        assert_eq!(log.lines().count(), 1, "{fault}: {log}");
        assert!(log.starts_with(&format!("WARNING {said}")), "{fault}: {log}");
        assert_eq!(hosted.farm.count("x", "session"), 1, "{fault}");
    }
}

#[tokio::test]
async fn a_busy_server_is_not_asked_for_its_list_sooner_than_it_wants() {
    let hosted = Hosted::of("x", &["--era", "modern", "--fault", "h19:200,429,list,long"]);
    let mut limits = calm();
    limits.refresh = Duration::from_millis(5);
    (limits.restart_first, limits.restart_most) = (Duration::from_millis(1), Duration::from_millis(700));
    let kit = hosted.farm.start(limits);
    kit.reaches("x", LinkState::Degraded).await;
    let began = Since::now();
    let asked = || hosted.requests("x").iter().filter(|line| line.contains("mcp-method=tools/list")).count();
    let within_bound = || {
        let lists = asked();
        let most = 2 + began.periods(Duration::from_millis(700));
        assert!(lists <= most, "{lists} of {most}");
        4 <= lists
    };
    assert!(until(LONG, within_bound).await, "{} lists", asked());
    hosted.close(kit).await;
}
