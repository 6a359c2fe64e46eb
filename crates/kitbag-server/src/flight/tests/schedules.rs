//! Whatever two to four clients do, in whatever order: each call has its own result, or none; and nothing is left of it.

use std::sync::Arc;

use kitbag::connect::raw::{Message, decode};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::{JoinSet, yield_now};
use tokio_util::task::TaskTracker;

use super::stage::{Stage, answer_of, everything, incoming, request, value, work};
use super::{Outcome, Speech};
use crate::client::Client;

/// How many schedules are tried.
const SCHEDULES: u64 = if option_env!("KITBAG_FULL_TESTS").is_some() { 1_000 } else { 30 };

/// Numbers that a seed settles (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    async fn wait(&mut self) {
        for _ in 0..self.below(12) {
            yield_now().await;
        }
    }
}

/// How a call is meant to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    Finish,
    /// Is cancelled by its id.
    Cancel,
    /// Its client leaves.
    Leave,
    /// Its client never answers, and leaves or never comes back.
    Silence,
}

/// What became of a call.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Done,
    Gone,
    /// It waits for a client that never comes back.
    Waits,
}

struct Call {
    client: Arc<Client>,
    speech: Speech,
    server: &'static str,
    token: String,
    times: usize,
    plan: Plan,
    dice: Dice,
}

impl Call {
    async fn make(mut self) -> (String, Plan, End) {
        self.dice.wait().await;
        let end = match self.speech {
            Speech::Legacy => self.older().await,
            Speech::Modern => self.newer().await,
        };
        (self.token, self.plan, end)
    }

    /// Whether the result is this call's own.
    fn check(&self, outcome: &Outcome) {
        let result = value(outcome.as_ref().unwrap_or_else(|error| panic!("{}: {error}", self.token)));
        let text = result["content"][0]["text"].as_str().unwrap();
        let (token, answers): (String, Vec<Value>) =
            serde_json::from_str(text).unwrap_or_else(|_| panic!("{}: {text}", self.token));
        assert_eq!((&token, answers.len()), (&self.token, self.times));
        for (round, answer) in answers.iter().enumerate() {
            let own = format!("{}/{round}", self.token);
            // An older server without any sign which call asks: while several wait, nobody is asked.
            let is_refused = self.server == "old" && (answer.is_null() || answer["action"] == "decline");
            assert!(is_refused || answer["content"]["name"] == own, "{own}: {answer}");
        }
    }

    async fn older(&mut self) -> End {
        let (out, mut told) = mpsc::channel(64);
        let made = incoming(
            &json!(self.token),
            &work(self.server, &self.token, self.times),
            &json!({}),
            self.speech,
        );
        let mut running = JoinSet::new();
        running.spawn(request(self.client.clone(), made, out));
        let mut left = self.dice.below(40);
        loop {
            tokio::select! {
                biased;
                Some(message) = told.recv() => self.hear(&message).await,
                done = running.join_next() => {
                    let outcome = done.unwrap().unwrap();
                    if self.plan == Plan::Finish {
                        self.check(&outcome);
                    }
                    return End::Done;
                }
                () = yield_now(), if self.plan != Plan::Finish => {
                    left = left.saturating_sub(1);
                    match self.plan {
                        Plan::Cancel if left == 0 => self.cancel(),
                        Plan::Leave | Plan::Silence if left == 0 => return End::Gone,
                        _ => {}
                    }
                }
            }
        }
    }

    /// Answers a question, whichever of its calls it is about.
    async fn hear(&mut self, message: &str) {
        let Ok(Message::Request { id, .. }) = decode(message.as_bytes()) else { return };
        if self.plan == Plan::Silence {
            return;
        }
        let question: Value = serde_json::from_str(message).unwrap();
        let owner = question["params"]["message"].as_str().unwrap();
        let client = self.token.split('-').next().unwrap();
        assert!(owner.starts_with(&format!("{client}-")), "{client} was asked for {owner}");
        self.dice.wait().await;
        let result = to_raw_value(&answer_of(&question)).unwrap();
        self.client.told(Message::Answer { id: id.get().parse().unwrap(), outcome: Ok(&result) });
    }

    fn cancel(&self) {
        let params = to_raw_value(&json!({"requestId": self.token})).unwrap();
        self.client
            .told(Message::Notification { method: "notifications/cancelled".into(), params: Some(&params) });
    }

    async fn newer(&mut self) -> End {
        let first = work(self.server, &self.token, self.times);
        let (mut params, mut spent) = (first.clone(), Vec::new());
        for round in 0.. {
            let made =
                incoming(&json!(format!("{}#{round}", self.token)), &params, &everything(), self.speech);
            let (client, mut running) = (self.client.clone(), JoinSet::new());
            let (out, _told) = mpsc::channel(64);
            running.spawn(request(client, made, out));
            if matches!(self.plan, Plan::Leave | Plan::Cancel) && self.dice.below(2) == 0 {
                self.dice.wait().await;
                return End::Gone;
            }
            let outcome = running.join_next().await.unwrap().unwrap();
            let result = value(outcome.as_ref().unwrap_or_else(|error| panic!("{}: {error}", self.token)));
            if result["resultType"] != "input_required" {
                self.check(&outcome);
                self.replay(&spent).await;
                return End::Done;
            }
            if self.plan == Plan::Silence {
                return End::Waits;
            }
            params = first.clone();
            for (key, question) in result["inputRequests"].as_object().unwrap() {
                let owner = question["params"]["message"].as_str().unwrap();
                assert!(
                    owner.starts_with(&format!("{}/", self.token)),
                    "{} was asked for {owner}",
                    self.token
                );
                params["inputResponses"][key] = answer_of(question);
            }
            params["requestState"] = result["requestState"].clone();
            spent.push(params.clone());
            self.dice.wait().await;
        }
        unreachable!("every round ends or asks")
    }

    /// Comes back once more with what was used up: nothing of an older server's runs twice.
    async fn replay(&mut self, spent: &[Value]) {
        if self.server != "old" {
            return;
        }
        for params in spent {
            let made = incoming(&json!("again"), params, &everything(), self.speech);
            let again = request(self.client.clone(), made, mpsc::channel(64).0).await;
            assert!(again.is_err(), "{}: {again:?}", self.token);
        }
    }
}

async fn play(seed: u64) {
    let mut dice = Dice(seed);
    let stage = Stage::new().await;
    let (mut calls, mut clients) = (JoinSet::new(), Vec::new());
    for number in 0..2 + dice.below(3) {
        let client = stage.client("local");
        clients.push(client.clone());
        let speech = if dice.below(2) == 0 { Speech::Legacy } else { Speech::Modern };
        for call in 0..1 + dice.below(4) {
            let plan = [Plan::Finish, Plan::Finish, Plan::Cancel, Plan::Leave, Plan::Silence];
            let plan = plan[usize::try_from(dice.below(5)).unwrap()];
            let server = if dice.below(2) == 0 { "old" } else { "new" };
            let times = usize::try_from(dice.below(4)).unwrap();
            let (token, client) = (format!("{seed}c{number}-{call}"), client.clone());
            let dice = Dice(dice.below(u64::MAX));
            calls.spawn(Call { client, speech, server, token, times, plan, dice }.make());
        }
    }
    let mut waits = 0;
    while let Some(ended) = calls.join_next().await {
        let (token, plan, end) = ended.unwrap();
        let finished = stage.ledger.finished.lock().unwrap().get(&token).copied().unwrap_or_default();
        assert!(finished <= 1, "{token} ran {finished} times");
        assert!(plan != Plan::Finish || finished == 1, "{token}: {end:?}");
        // Who leaves may do so just after the call was put aside.
        waits += usize::from(end != End::Done);
    }
    assert_eq!(*stage.ledger.strayed.lock().unwrap(), Vec::<String>::new());
    let parked = stage.endpoint.parked();
    assert!(parked.len() <= waits, "{} wait, {waits} may", parked.len());
    parked.clear();
    // Nothing is left of any call or question.
    stage.until(|| stage.in_flight() == 0 && clients.iter().all(|client| client.open() == (0, 0))).await;
    stage.close().await;
}

#[tokio::test]
async fn any_schedule_of_calls_questions_cancels_and_leaving() {
    for seed in 0..SCHEDULES {
        let played = TaskTracker::new().spawn(play(seed));
        assert!(played.await.is_ok(), "seed {seed}");
    }
}
