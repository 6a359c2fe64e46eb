//! `kitbag conversations`: what was said is found again, read, handed on without secrets, and removed.

use serde_json::json;
use testkit::FakeModel;

use super::Farm;
use super::cli_run::{calls, says, with};
use crate::house::Runs as _;
use crate::pty::{self, uncoloured};

const SECRET: &str = "PLANTED-SECRET-0815-4711";

#[test]
fn s4_18_kept_conversations_are_listed_shown_saved_and_removed() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"API_TOKEN": SECRET}}));
    let turn =
        calls(&[("echo", json!({"message": format!("```\n{SECRET}")})), ("add", json!({"a": 2, "b": "x"}))]);
    let model = FakeModel::start(&json!({"turns": [turn, says("It is 42.")]}));
    let said = ["run", "--conversation", "new", "What is\u{1b}[2J 2 + 40?", "--json"];
    let ran = with(&farm, &model, &said).run().exits(0).json();
    let id = ran["conversation"].as_str().unwrap().to_owned();

    let rows = farm.house.run(&["conversations", "--json"]).exits(0).json();
    assert_eq!((&rows[0]["id"], &rows[0]["first"]), (&json!(id), &json!("What is\u{1b}[2J 2 + 40?")));
    assert!(rows[0]["changed"].as_str().unwrap().ends_with('Z'), "{rows}");
    let list = pty::run(&farm.house, 80, &["conversations"], &[]).exits(0);
    let list = uncoloured(&list.out);
    assert!(list.contains(&id) && list.lines().all(|line| line.chars().count() <= 80), "{list}");

    let shown = farm.house.run(&["conversations", "show", &id, "--json"]).exits(0).json();
    let messages = shown["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "assistant"]);
    let made = &messages[1]["calls"];
    assert_eq!((&made[0]["tool"], &made[0]["result"]["is_error"]), (&json!("echo"), &json!(false)));
    assert_eq!(made[1]["arguments"], json!({"a": 2, "b": "x"}));
    assert_eq!(made[1]["result"]["is_error"], json!(true), "each result stands beside its call: {made}");
    assert_eq!(messages[2]["text"], "It is 42.");
    assert_eq!(messages[1]["usage"], json!({"input": 7, "cached": 0, "output": 3}));

    let text = farm.house.run(&["conversations", "show", &id]).exits(0).out;
    for word in
        ["## User\n", "Call of `echo`:\n\n````json\n", "Result:\n\n````text\n", "Error:\n", "It is 42."]
    {
        assert!(text.contains(word), "no {word:?} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let painted = pty::run(&farm.house, 80, &["conversations", "show", &id], &[]).exits(0).out;
    assert!(painted.contains("\u{1b}[1mUser") && !painted.contains("\u{1b}[2J"), "{painted:?}");

    for name in ["talk.md", "talk.json"] {
        farm.house.run(&["conversations", "save", &id, name]).exits(0);
        let saved = std::fs::read_to_string(farm.house.path("project").join(name)).unwrap();
        assert!(saved.contains("It is 42.") && saved.contains("***") && !saved.contains(SECRET), "{saved}");
        assert!(!saved.contains('\u{1b}'), "{saved:?}");
        farm.house.run(&["conversations", "save", &id, name]).fails(2, "exists already");
    }
    farm.house.run(&["conversations", "save", &id, "talk"]).fails(2, "neither .md nor .json");
    farm.house.run(&["conversations", "show", "nosuch"]).fails(5, "no conversation nosuch");
    farm.house.run(&["conversations", "show", "../x"]).fails(2, "is not the id");
    farm.settings("[users.eve]\n");
    farm.house.run(&["conversations", "show", &id, "--user", "eve"]).fails(5, "no conversation");
    let eves = farm.house.run(&["conversations", "--user", "eve", "--json"]).exits(0).json();
    assert_eq!(eves, json!([]));

    farm.house.run(&["conversations", "remove", &id]).exits(0);
    farm.house.run(&["conversations", "remove", &id]).fails(5, "no conversation");
    assert_eq!(farm.house.run(&["conversations", "--json"]).exits(0).json(), json!([]));
    farm.is_empty();
}

#[test]
fn what_a_chat_saves_is_without_the_secrets_of_servers() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"env": {"API_TOKEN": SECRET}}));
    let turn = calls(&[("echo", json!({"message": SECRET}))]);
    let model = FakeModel::start(&json!({"turns": [turn, says("Done.")]}));
    with(&farm, &model, &["chat"]).input(format!("Say {SECRET}\n/save a.md\n/save b.json\n")).run().exits(0);
    for name in ["a.md", "b.json"] {
        let saved = std::fs::read_to_string(farm.house.path("project").join(name)).unwrap();
        assert!(
            saved.contains("Done.") && saved.contains("***") && !saved.contains(SECRET),
            "{name}: {saved}"
        );
    }
    farm.is_empty();
}
