//! Calls: side by side, one after the other, given up, and with something said on the way.

use std::time::Duration;

use kitbag::{ErrorKind, LinkState};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, said, until};
use testkit::{Since, in_time};

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn one_call_too_many_waits_for_its_turn() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"concurrency": 2}));
    let kit = farm.open(calm()).await;
    let has_ended = std::sync::atomic::AtomicBool::new(false);
    let long = || async {
        let reply = kit.ask("x", "sleep", json!({"ms": 600})).await;
        has_ended.store(true, std::sync::atomic::Ordering::SeqCst);
        reply
    };
    let third = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 2).await);
        let reply = kit.ask("x", "echo", json!({"message": "third"})).await.unwrap();
        (said(&reply), farm.count("x", "call sleep"))
    };
    let watched = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 2).await);
        // As long as both are in flight the third one is not on the wire.
        let is_over = || {
            let on_the_wire = farm.count("x", "call echo");
            let is_over = has_ended.load(std::sync::atomic::Ordering::SeqCst);
            assert!(is_over || on_the_wire == 0);
            is_over
        };
        assert!(until(LONG, is_over).await);
    };
    let (a, b, third, ()) = tokio::join!(long(), long(), third, watched);
    assert!(a.is_ok() && b.is_ok());
    assert_eq!(third, ("third".to_owned(), 2));
    farm.close(kit).await;
}

/// Those that do not get their turn in time never left.
#[tokio::test]
async fn a_call_that_gets_no_turn_was_not_delivered() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"concurrency": 1}));
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(1);
    let kit = farm.open(limits).await;
    let slow = || kit.ask("x", "sleep", json!({"ms": 600_000}));
    let waiting = async {
        assert!(until(LONG, || farm.count("x", "call sleep") == 1).await);
        futures_util::future::join_all((0..8).map(|_| slow())).await
    };
    let (first, rest) = tokio::join!(slow(), waiting);
    assert_eq!(first.unwrap_err().kind, ErrorKind::OutcomeUnknown);
    // One of them has the place until its own time is over, and then the time of all is. In that very moment
    // another may still get its turn.
    let kinds: Vec<ErrorKind> = rest.into_iter().map(|one| one.unwrap_err().kind).collect();
    let unsent = kinds.iter().filter(|kind| **kind == ErrorKind::Timeout).count();
    assert!(
        kinds.iter().all(|kind| matches!(kind, ErrorKind::Timeout | ErrorKind::OutcomeUnknown)),
        "{kinds:?}"
    );
    kit.ask("x", "add", json!({"a": 1, "b": 1})).await.unwrap();
    assert!(0 < unsent && farm.count("x", "call sleep") <= 9 - unsent, "{kinds:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn dropping_a_call_cancels_it_for_the_server_too() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let kit = farm.open(calm()).await;
        let call = kit.ask("x", "sleep", json!({"ms": 600_000}));
        let started = until(LONG, || farm.count("x", "call sleep") == 1);
        tokio::select! {
            _ = call => panic!("nobody answers that"),
            started = started => assert!(started),
        }
        assert!(until(LONG, || farm.count("x", "cancelled") == 1).await, "{era}: not told");
        assert_eq!(kit.on("x").in_flight(), 0);
        kit.lives("x").await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn notes_come_in_order_and_before_the_answer() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--era", era]);
        let kit = farm.open(calm()).await;
        for _ in 0..12 {
            let (notes, mut mailbox) = mpsc::channel(64);
            let reply = kit.noted("x", "progress", json!({"n": 20}), notes).await.unwrap();
            assert_eq!(said(&reply), "20 steps");
            let seen: Vec<u64> = std::iter::from_fn(|| mailbox.try_recv().ok())
                .filter_map(|note| {
                    serde_json::from_str::<Value>(note.params.get()).unwrap()["progress"].as_u64()
                })
                .collect();
            assert_eq!(seen, (1..=20).collect::<Vec<u64>>(), "{era}");
        }
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn the_idle_clock_ends_silence_and_progress_winds_it_up() {
    let farm = Farm::of("x", &[]);
    let mut limits = calm();
    limits.wait_idle = Duration::from_secs(1);
    limits.wait_total = Duration::from_secs(600);
    let kit = farm.open(limits).await;
    let began = Since::now();
    let silent = in_time(kit.ask("x", "sleep", json!({"ms": 600_000}))).await.unwrap_err();
    assert_eq!(silent.kind, ErrorKind::OutcomeUnknown, "{silent}");
    began.at_least(Duration::from_secs(1));
    let talking = kit.ask("x", "progress", json!({"n": 20, "ms": 100})).await.unwrap();
    assert_eq!(said(&talking), "20 steps");
    assert!(Duration::from_secs(2) <= talking.took, "{:?}", talking.took);
    farm.close(kit).await;
}

#[tokio::test]
async fn the_connect_clock_ends_a_server_that_never_answers() {
    let farm = Farm::of("mute", &["--fault", "s05"]);
    farm.add("slow", &["--fault", "s29:500"]);
    let mut limits = calm();
    limits.wait_stdio = Duration::from_secs(5);
    limits.probe = Duration::from_secs(2);
    let kit = farm.start(limits);
    let began = Since::now();
    kit.reaches("mute", LinkState::Reconnecting).await;
    began.at_least(Duration::from_secs(5));
    let error = kit.on("mute").status().error.unwrap().to_string();
    assert!(error.contains("5s") || error.contains("no answer within"), "{error}");
    // Silence before the first byte is no fault.
    kit.lives("slow").await;
    assert_eq!(farm.count("slow", "start"), 1);
    farm.close(kit).await;
}

/// Out of its hands after the handshake, it never gets to list: connected, but without tools.
#[tokio::test]
async fn the_list_clock_ends_a_list_that_never_comes() {
    let farm = Farm::of("x", &["--fault", "s12"]);
    let mut limits = calm();
    limits.wait_list = Duration::from_secs(1);
    let kit = farm.start(limits);
    kit.reaches("x", LinkState::Degraded).await;
    let error = kit.on("x").status().error.unwrap().to_string();
    assert!(error.contains("tools cannot be listed"), "{error}");
    farm.close(kit).await;
}

#[tokio::test]
async fn a_call_of_what_is_not_there_or_fails_says_so() {
    let farm = Farm::of("x", &[]);
    let kit = farm.open(calm()).await;
    let unknown = kit.ask("x", "nothing", json!({})).await.unwrap_err();
    assert_eq!((unknown.kind, unknown.code), (ErrorKind::ServerError, Some(-32602)));
    let error = kit.ask("x", "rpc_error", json!({"code": -32050})).await.unwrap_err();
    assert_eq!((error.kind, error.code), (ErrorKind::ServerError, Some(-32050)));
    let nobody = kit.ask("y", "echo", json!({})).await.unwrap_err();
    assert_eq!(nobody.kind, ErrorKind::NotFound);
    kit.lives("x").await;
    farm.close(kit).await;
}
