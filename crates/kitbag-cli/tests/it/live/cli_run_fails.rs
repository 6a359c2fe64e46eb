//! What goes wrong with a model: a clear error, exit code 11, and what was said is kept.

use serde_json::{Value, json};
use testkit::FakeModel;

use super::Farm;
use super::cli_run::{calls, says, with};
use crate::house::{Ran, Runs as _};

/// Runs with a conversation that is kept.
fn kept(farm: &Farm, model: &FakeModel) -> Ran {
    with(farm, model, &["run", "--conversation", "new", "Hello"]).run()
}

/// The run fails by its model and says why; what was said is kept, and can be gone on with.
#[track_caller]
fn fails(farm: &Farm, ran: Ran, words: &[&str]) {
    let ran = ran.fails(11, "error[model]");
    for word in words {
        assert!(ran.err.contains(word), "no {word:?} in {}", ran.err);
    }
    let id = ran.err.lines().find_map(|line| line.strip_prefix("conversation ")).unwrap();
    let shown = farm.house.run(&["conversations", "show", id, "--json"]).exits(0).json();
    assert_eq!(shown["messages"][0]["text"], "Hello", "{shown}");
    let model = FakeModel::start(&json!({"turns": [says("Here.")]}));
    let ran = with(farm, &model, &["run", "--conversation", id, "Go on"]).run().exits(0);
    assert_eq!(ran.out, "Here.\n");
    let body = model.bodies().pop().unwrap().to_string();
    assert!(body.contains("Hello") && body.contains("Go on"), "{body}");
}

/// Runs against a model with this script.
#[track_caller]
fn fails_with(farm: &Farm, script: Value, words: &[&str]) {
    let model = FakeModel::start(&script);
    fails(farm, kept(farm, &model), words);
}

#[test]
fn s4_17_what_goes_wrong_with_a_model_is_told_with_exit_code_11_and_the_conversation_is_kept() {
    let farm = Farm::new();
    farm.settings("[limits]\nmodel_backoff = '1ms'\nmodel_tries = 2\n");
    fails_with(
        &farm,
        json!({"key": "right", "turns": []}),
        &["refuses the key (401", "check OPENAI_API_KEY"],
    );
    fails_with(
        &farm,
        json!({"models": ["other"], "turns": []}),
        &["is not known there (404", "OPENAI_BASE_URL"],
    );
    fails_with(&farm, json!({"turns": [{"text": ["a", "b"], "broken": true}]}), &["cannot be read"]);
    fails_with(&farm, json!({"turns": [{"text": ["a", "b"], "cut": "reset"}]}), &["broke off", "try again"]);
    fails_with(&farm, json!({"turns": [{"text": ["a"], "stop": "length"}]}), &["ran out of tokens"]);
    fails_with(&farm, json!({"turns": [{"status": 503, "error": "busy"}]}), &["after 2 tries"]);
    let mut model = FakeModel::start(&json!({"turns": []}));
    model.stop();
    fails(&farm, kept(&farm, &model), &["cannot be reached", "check OPENAI_BASE_URL"]);
}

#[test]
fn s4_17_an_endless_loop_of_a_model_ends_with_exit_code_11() {
    let farm = Farm::of("x", &[]);
    fails_with(
        &farm,
        json!({"turns": [calls(&[("add", json!({"a": 1, "b": 1}))])]}),
        &["made the same call again and again"],
    );
    farm.is_empty();
}

#[test]
fn s4_17_a_call_with_broken_json_is_told_to_the_model_which_goes_on() {
    let farm = Farm::of("x", &[]);
    let broken = calls(&[("add", json!("{\"a\": 1, \"b\""))]);
    let model =
        FakeModel::start(&json!({"turns": [broken, calls(&[("add", json!({"a": 1, "b": 1}))]), says("2.")]}));
    let ran = with(&farm, &model, &["run", "Hello", "--json"]).run().exits(0).json();
    assert_eq!((&ran["answer"], ran["errors"].as_array().unwrap().len()), (&json!("2."), 1), "{ran}");
    assert!(ran["errors"][0].as_str().unwrap().contains("JSON"), "{ran}");
    farm.is_empty();
}
