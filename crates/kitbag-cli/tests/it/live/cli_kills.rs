//! Conversations of processes that are killed at any moment: the next one goes on with what was said, each call of it has its one
//! result, and what a model was once told is not forgotten.

use std::process::Stdio;

use fastrand::Rng;
use serde_json::{Value, json};
use testkit::{FakeModel, PATIENCE, check_calls, wait_until};

use super::Farm;
use crate::house::{Run, Runs as _};

/// How many conversations there are, and how often each is killed.
const CONVERSATIONS: u64 = if option_env!("KITBAG_FULL_TESTS").is_some() { 40 } else { 2 };
const KILLS: usize = 4;

const VENDORS: [&str; 5] = ["openai", "openai-responses", "anthropic", "gemini", "ollama"];

/// Replies with several calls each, which take their time, and some without.
fn script(rng: &mut Rng) -> Value {
    let turns = (0..80).map(|turn| {
        let call = |place: usize| match place % 3 {
            0 => json!({"name": "echo", "arguments": {"message": format!("{turn}-{place}")}}),
            1 => json!({"name": "sleep", "arguments": {"ms": 20}}),
            _ => json!({"name": "fail", "arguments": {}}),
        };
        let calls: Vec<Value> = (0..rng.usize(0..4)).map(call).collect();
        json!({"text": ["a ", "b ", "c "], "calls": calls})
    });
    json!({"turns": turns.collect::<Vec<_>>()})
}

fn said(farm: &Farm, model: &FakeModel, vendor: &str, args: &[&str]) -> Run {
    let ask = farm.house.ask(args).env("KITBAG_MODEL", &format!("{vendor}/scripted"));
    let ask = ask.env("OPENAI_BASE_URL", &format!("{}/v1", model.url()));
    let all = ["ANTHROPIC_BASE_URL", "GEMINI_BASE_URL", "OLLAMA_BASE_URL"];
    all.iter()
        .fold(ask, |ask, variable| ask.env(variable, model.url()))
        .env("ANTHROPIC_API_KEY", "k")
        .env("GEMINI_API_KEY", "k")
}

#[test]
fn s4_18_a_conversation_goes_on_however_often_its_process_is_killed() {
    let seed = testkit::seed().unwrap_or(20_261_119);
    for number in 0..CONVERSATIONS {
        let mut rng = Rng::with_seed(seed.wrapping_add(number));
        let farm = Farm::of("x", &[]);
        let model = FakeModel::start(&script(&mut rng));
        let first = said(&farm, &model, "openai", &["run", "--conversation", "new", "message-0.", "--json"]);
        let id = first.run().json()["conversation"].as_str().unwrap().to_owned();
        for kill in 1..=KILLS {
            let vendor = VENDORS[rng.usize(..VENDORS.len())];
            let (text, before) = (format!("message-{kill}."), model.requests().len());
            let args = ["run", "--conversation", &id, &text, "--max-steps", "8"];
            let mut command = said(&farm, &model, vendor, &args).command();
            let quiet = || Stdio::null();
            let mut child = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().unwrap();
            // At any moment after its message was told to the model; it may have ended by then.
            let most = before + rng.usize(1..4);
            wait_until(PATIENCE, || most <= model.requests().len() || child.try_wait().unwrap().is_some());
            for _ in 0..rng.usize(..2_000) {
                std::thread::yield_now();
            }
            let _ = child.kill();
            child.wait().unwrap();
        }
        let last =
            said(&farm, &model, "openai", &["run", "--conversation", &id, "The end.", "--max-steps", "1"]);
        last.run();
        let requests = model.requests();
        for request in &requests {
            check_calls(request).unwrap_or_else(|why| panic!("seed {seed}+{number}: {why} in {request}"));
        }
        let sent = requests.last().unwrap()["body"].to_string();
        let told = |text: &String| requests.iter().any(|request| request["body"].to_string().contains(text));
        let messages = (0..=KILLS).map(|kill| format!("message-{kill}.")).filter(told);
        let places: Vec<_> = messages.map(|text| sent.find(&text)).collect();
        let is_whole = places.iter().all(Option::is_some) && places.is_sorted();
        assert!(is_whole && places.len() == KILLS + 1, "seed {seed}+{number}: {places:?} in {sent}");
        farm.is_empty();
    }
}
