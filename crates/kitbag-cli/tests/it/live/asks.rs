//! Servers that ask for what nobody offered.

use std::time::Duration;

use kitbag::ErrorKind;
use serde_json::json;

use super::farm::Use as _;
use super::{Farm, calm, said, until};

const LONG: Duration = Duration::from_secs(30);

#[tokio::test]
async fn t16_what_nobody_asked_for_is_refused() {
    for era in ["legacy", "modern"] {
        let farm = Farm::of("x", &["--fault", "s26", "--era", era]);
        let kit = farm.open(calm()).await;
        for number in 0..5 {
            let reply = kit.ask("x", "echo", json!({"message": format!("m{number}")})).await.unwrap();
            assert_eq!(said(&reply), format!("m{number}"));
        }
        let all = until(LONG, || 220 <= farm.count("x", "answered")).await;
        let answers = farm.events("x", "answered");
        assert!(all, "{era}: only {} answers", answers.len());
        assert!(answers.iter().all(|answer| answer.ends_with(" error -32601")), "{era}: {answers:?}");
        kit.lives("x").await;
        farm.close(kit).await;
    }
}

#[tokio::test]
async fn t16_a_server_that_keeps_asking_gets_no_answer_of_ours() {
    let farm = Farm::of("x", &["--fault", "s27", "--era", "legacy"]);
    let mut limits = calm();
    limits.wait_total = Duration::from_secs(1);
    let kit = farm.open(limits).await;
    let error = kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    kit.lives("x").await;
    farm.close(kit).await;

    // The newer protocol asks by its answer, which ends the call: nothing is sent after it.
    let farm = Farm::of("x", &["--fault", "s27", "--era", "modern"]);
    let kit = farm.open(calm()).await;
    let error = kit.ask("x", "echo", json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::ServerError, "{error}");
    assert!(error.message.contains("asks for input"), "{error}");
    kit.lives("x").await;
    assert_eq!(farm.count("x", "asked"), 1);
    farm.close(kit).await;
}
