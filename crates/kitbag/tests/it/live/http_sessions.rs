//! Sessions at an address: kept, lost and renewed without a new process, and never a call that runs twice.

use std::time::Duration;

use kitbag::connect::RawCall;
use kitbag::{ErrorKind, LinkState};
use serde_json::json;
use tokio::task::JoinSet;

use super::farm::{Opens as _, Use as _, raw};
use super::{Hosted, calm, said, until};
use testkit::{PATIENCE, Since};

#[tokio::test]
async fn s4_13_one_session_serves_all_calls_and_is_left_in_the_end() {
    let hosted = Hosted::of("x", &["--era", "legacy"]);
    let kit = hosted.farm.open(calm()).await;
    for _ in 0..10 {
        kit.lives("x").await;
    }
    let one = hosted.farm.events("x", "session");
    assert_eq!(one.len(), 1, "{one:?}");
    let id = one[0].strip_prefix("session ").unwrap();
    let with = |line: &&String| line.contains(&format!("mcp-session-id={id}"));
    let requests = hosted.requests("x");
    // The probe and the handshake come before there is one.
    assert_eq!(requests.len() - requests.iter().filter(with).count(), 2, "{requests:#?}");
    assert!(requests.iter().filter(with).all(|line| line.contains("mcp-protocol-version=2025-11-25")));
    hosted.close(kit).await;
    assert_eq!(hosted.farm.count("x", "session-end"), 1);
}

/// Whatever a server says when it has forgotten a session, the next call works, and none runs twice.
#[tokio::test]
async fn t10_a_lost_session_is_renewed_and_no_call_runs_twice() {
    let modes = ["404", "400", "401", "500", "503"];
    for (mode, older) in modes.iter().flat_map(|mode| [(*mode, &[][..]), (*mode, &["--sse"][..])]) {
        // Three calls each: a list that is asked for at the beginning is not refused because of a call beside it.
        let fault = if mode == "404" { "h05:3".to_owned() } else { format!("h05:3,{mode}") };
        let hosted = Hosted::of("x", &[&["--era", "legacy", "--fault", &fault], older].concat());
        let kit = hosted.farm.open(calm()).await;
        let mut unknown = 0;
        for round in 0..12 {
            let token = format!("{mode}-{round}");
            match kit.ask("x", "count", json!({"token": token})).await {
                Ok(reply) => {
                    assert_eq!(said(&reply), token);
                    assert_eq!(hosted.farm.count("x", &format!("exec {token}")), 1, "{token}");
                }
                // A status of the server's own trouble does not say that nothing was done.
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{token}: {error}");
                    // The older transport may end the stream before an answer that is on its way.
                    assert!(mode.starts_with('5') || !older.is_empty(), "{token}: {error}");
                    unknown += 1;
                    assert!(hosted.farm.count("x", &format!("exec {token}")) <= 1, "{token}");
                }
            }
        }
        assert!(unknown <= 4, "{mode} {older:?}: {unknown} of 12");
        assert!(2 < hosted.farm.count("x", "session"), "{mode}");
        hosted.close(kit).await;
    }
}

/// A server that has forgotten us and says to come back later is not believed for ever.
#[tokio::test]
async fn t10_a_lost_session_is_renewed_though_its_server_says_to_come_back() {
    for older in [&[][..], &["--sse"]] {
        let hosted = Hosted::of("x", &[&["--era", "legacy", "--fault", "h05:3,503,wait"], older].concat());
        let kit = hosted.farm.open(calm()).await;
        let mut good = 0;
        for round in 0..12 {
            match kit.ask("x", "count", json!({"token": format!("t-{round}")})).await {
                Ok(_) => good += 1,
                Err(error) => assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}"),
            }
        }
        // Three in each session, and at most two to find out that it is over.
        assert!(6 <= good, "{older:?}: {good} of 12");
        assert!(2 <= hosted.farm.count("x", "session"), "{older:?}");
        hosted.close(kit).await;
    }
}

#[tokio::test]
async fn t10_a_server_that_is_started_anew_goes_on_being_used() {
    for args in [&["--era", "legacy"][..], &["--era", "modern"], &["--era", "legacy", "--sse"]] {
        let hosted = Hosted::of("x", args);
        let kit = hosted.farm.open(calm()).await;
        let link = kit.on("x");
        for round in 0..3 {
            kit.ask("x", "add", json!({"a": 2, "b": 3})).await.unwrap();
            hosted.crash("x");
            // Gone for a while: calls wait for it.
            let mut calls = JoinSet::new();
            let link = link.clone();
            calls.spawn(async move {
                let arguments = raw(&json!({"a": 4, "b": 5}));
                link.call(RawCall::new("add", &arguments)).await.map(|reply| said(&reply))
            });
            kit.reaches("x", LinkState::Reconnecting).await;
            hosted.again("x");
            let answer = calls.join_next().await.unwrap().unwrap();
            assert_eq!(answer.as_deref().ok(), Some("9"), "{args:?} {round}: {answer:?}");
        }
        hosted.close(kit).await;
    }
}

#[tokio::test]
async fn t18_a_call_whose_answer_is_lost_over_http_is_not_made_again() {
    for era in ["legacy", "modern"] {
        for fault in ["h10", "h10:fin", "h04:json", "h13:ran", "h15", "h15:chunk"] {
            let hosted = Hosted::of("x", &["--era", era, "--fault", fault]);
            let kit = hosted.farm.open(calm()).await;
            let error = kit.ask("x", "count", json!({"token": "once"})).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{era} {fault}: {error}");
            kit.lives("x").await;
            // One that runs on after the reset may note itself later than its loss is known here.
            let ran = |words: &str| hosted.farm.count("x", words);
            until(Duration::from_secs(10), || 1 <= ran("exec once")).await;
            assert_eq!(ran("exec once"), 1, "{era} {fault}");
            // The operator's word makes it one to be made again; it is lost each time.
            let arguments = raw(&json!({"token": "more"}));
            let again = RawCall { repeatable: true, ..RawCall::new("count", &arguments) };
            assert!(kit.on("x").call(again).await.is_err());
            until(Duration::from_secs(10), || 3 <= ran("exec more")).await;
            hosted.close(kit).await;
            assert_eq!((ran("exec once"), ran("exec more")), (1, 3), "{era} {fault}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_broke_off_is_taken_up_where_it_ended() {
    for fault in ["h04", "h04:rst", "h14:post"] {
        let hosted = Hosted::of("x", &["--era", "legacy", "--fault", fault, "--answer", "sse"]);
        let mut limits = calm();
        limits.resume = Duration::from_millis(30);
        let kit = hosted.farm.open(limits).await;
        let reply = kit
            .ask("x", "count", json!({"token": "once"}))
            .await
            .unwrap_or_else(|error| panic!("{fault}: {error}"));
        assert_eq!(said(&reply), "once", "{fault}");
        assert_eq!(hosted.farm.count("x", "exec once"), 1, "{fault}");
        let resumed = hosted.requests("x").iter().filter(|line| line.contains("last-event-id=")).count();
        assert!(1 <= resumed, "{fault}");
        hosted.close(kit).await;
    }
}

/// A server that bids us to come back at once is not hammered.
#[tokio::test]
async fn coming_back_is_paced_whatever_the_server_says() {
    let hosted = Hosted::of("x", &["--era", "legacy", "--fault", "h14"]);
    let began = Since::now();
    let kit = hosted.farm.open(calm()).await;
    let gets = || hosted.requests("x").iter().filter(|line| line.starts_with("http GET")).count();
    let within_bound = || {
        let gets = gets();
        // Every wait is twice as long as the one before.
        let most = 3 + (began.periods(kit.limits().resume / 10) + 1).ilog2() as usize;
        assert!(gets <= most, "{gets} of {most}");
        2 <= gets
    };
    assert!(until(PATIENCE, within_bound).await, "{} requests", gets());
    for _ in 0..50 {
        kit.lives("x").await;
        within_bound();
    }
    hosted.close(kit).await;
}

#[tokio::test]
async fn s4_10_an_address_that_is_gone_says_so_and_comes_back() {
    let hosted = Hosted::of("x", &["--era", "modern"]);
    let mut limits = calm();
    limits.wait_agent = Duration::from_millis(300);
    let kit = hosted.farm.open(limits).await;
    kit.lives("x").await;
    hosted.crash("x");
    let error = kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    assert!(error.message.contains("refused"), "{error}");
    kit.reaches("x", LinkState::Reconnecting).await;
    hosted.again("x");
    kit.reaches("x", LinkState::Ready).await;
    assert!(until(Duration::from_secs(5), || kit.on("x").in_flight() == 0).await);
    hosted.close(kit).await;
}
