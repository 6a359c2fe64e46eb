//! Clients before servers inside this process: single rules, and schedules chosen at random.

mod schedules;
mod stage;

use std::time::Duration;

use kitbag::UserId;
use serde_json::json;

use super::*;
use crate::endpoint::Scope;
use stage::{Stage, everything};

fn incoming(params: Value) -> Incoming {
    stage::incoming(&json!(1), &params, &json!({}), Speech::Modern)
}

#[tokio::test]
async fn a_claim_is_of_what_is_asked_for_and_not_how_it_is_written() {
    let stage = Stage::new().await;
    let client = stage.client("local");
    let claim = |params: Value| claim(&client, &incoming(params)).unwrap();
    let first = claim(json!({"name": "a", "arguments": {"x": 1, "y": {"p": 1, "q": [1, {"b": 2, "a": 3}]}}}));
    let same = json!({"arguments": {"y": {"q": [1, {"a": 3, "b": 2}], "p": 1}, "x": 1}, "name": "a",
        "inputResponses": {}, "requestState": "s"});
    assert_eq!(claim(same), first);
    for other in [
        json!({"name": "b", "arguments": {"x": 1, "y": {"p": 1, "q": [1, {"b": 2, "a": 3}]}}}),
        json!({"name": "a", "arguments": {"x": 1, "y": {"p": 1, "q": [{"b": 2, "a": 3}, 1]}}}),
        json!({"name": "a"}),
    ] {
        assert_ne!(claim(other), first);
    }
    let elsewhere = Claim { scope: Scope::Agent("coder".to_owned()), ..first.clone() };
    let anothers = Claim { user: UserId::parse("ada").unwrap(), ..first.clone() };
    assert!(elsewhere != first && anothers != first);
    stage.close().await;
}

#[tokio::test]
async fn waiting_calls_end_when_their_time_is_up_and_so_does_whoever_looks() {
    let mut limits = kitbag::Limits::default();
    limits.serve_parked_time = Duration::from_millis(100);
    limits.late_questions = Duration::ZERO;
    let stage = Stage::within(limits).await;
    let client = stage.client("local");
    for round in 0..2 {
        let asked = stage.ask(&client, "old", &format!("t-{round}"), 1, &everything()).await.unwrap();
        assert!(asked.get().contains("input_required"), "{asked}");
        stage.until(|| client.parked.len() == 0).await;
        stage.until(|| stage.in_flight() == 0).await;
    }
    stage.until(|| *stage.ledger.cancelled.lock().unwrap() == 2).await;
    stage.close().await;
}
