//! `kitbag run` and `kitbag chat`: a model with a script, real servers, and what stands on which stream.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use testkit::FakeModel;

use super::Farm;
use crate::house::{Run, Runs as _};

/// A turn in which tools are called.
fn calls(calls: &[(&str, Value)]) -> Value {
    let call = |(name, arguments): &(&str, Value)| json!({"name": name, "arguments": arguments});
    json!({"text": ["Let me look."], "calls": calls.iter().map(call).collect::<Vec<_>>(), "usage": [7, 3]})
}

fn says(text: &str) -> Value {
    json!({"text": [text], "usage": [5, 2]})
}

/// A command with the model of a script.
fn with(farm: &Farm, model: &FakeModel, args: &[&str]) -> Run {
    farm.house
        .ask(args)
        .env("OPENAI_BASE_URL", &format!("{}/v1", model.url()))
        .env("OPENAI_MODEL", "scripted")
}

#[test]
fn s4_17_the_answer_is_on_stdout_and_everything_else_on_stderr() {
    let farm = Farm::of("x", &[]);
    let model =
        FakeModel::start(&json!({"turns": [calls(&[("add", json!({"a": 2, "b": 40}))]), says("It is 42.")]}));
    let ran = with(&farm, &model, &["run", "What is 2 + 40?"]).run().exits(0);
    assert_eq!(ran.out, "It is 42.\n");
    assert!(ran.err.contains("Let me look.") && ran.err.contains("calls add"), "{}", ran.err);
    assert!(ran.err.contains("add done in"), "{}", ran.err);
    assert!(model.bodies()[1].to_string().contains("\"42\""), "{:?}", model.bodies()[1]);
    let ran = with(&farm, &model, &["run", "Again", "--json"]).run().exits(0).json();
    assert_eq!((&ran["ok"], &ran["answer"], &ran["steps"]), (&json!(true), &json!("It is 42."), &json!(1)));
    assert_eq!((&ran["agent_state"], &ran["connection"]), (&json!("with_mcp"), &json!("connected")));
    assert_eq!(ran["model"], "openai/scripted");
    farm.is_empty();
}

#[test]
fn s2_9_an_autonomous_agent_is_told_instruction_blank_line_description() {
    let farm = Farm::of("mem-agent", &[]);
    farm.settings("[agents.worker]\ninstruction = 'Work.'\nmodel = 'openai/other'\nmax_steps = 2\n");
    let turn = calls(&[("mcp_mem_agent_add", json!({"a": 1, "b": 1}))]);
    let model = FakeModel::start(&json!({"turns": [turn.clone(), says("done")]}));
    let ran = with(&farm, &model, &["run", "--agent", "autonomous", "Do it", "--json"]).run().exits(0).json();
    assert_eq!(ran["tools"], json!(["mcp_mem_agent_add"]));
    let system = model.bodies()[0]["messages"][0]["content"].as_str().unwrap().to_owned();
    let (instruction, description) = system.split_once("\n\n## MCP Tools Available\n\n").unwrap();
    assert!(
        !instruction.is_empty() && !instruction.contains("\n\n") && description.contains("mcp_mem_agent_add")
    );
    farm.is_empty();
}

#[test]
fn agents_are_driven_as_kitbag_toml_says() {
    let farm = Farm::of("x", &[]);
    farm.settings("[agents.worker]\ninstruction = 'Be terse.'\nmodel = 'openai/other'\nmax_steps = 2\nallow = ['x/add']\n");
    let turn = |n: u32| calls(&[("mcp_x_add", json!({"a": n, "b": 1}))]);
    let model = FakeModel::start(&json!({"turns": [turn(1), turn(2), turn(3), says("never")]}));
    let ran = with(&farm, &model, &["run", "--agent", "worker", "Go"])
        .run()
        .fails(11, "made 2 replies and no answer");
    assert!(ran.err.contains("--max-steps"), "{}", ran.err);
    let body = &model.bodies()[0];
    assert_eq!(body["model"], "other");
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be terse."));
    let names: Vec<&str> = body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"mcp_x_add") && !names.contains(&"mcp_x_echo"), "{names:?}");
    // The flag comes first, and an agent nobody knows is told.
    with(&farm, &model, &["run", "--agent", "worker", "--model", "openai/third", "Go"]).run();
    assert_eq!(model.bodies()[2]["model"], "third");
    with(&farm, &model, &["run", "--agent", "wroker", "Go"]).run().fails(5, "no agent is called");
    farm.is_empty();
}

#[test]
fn s4_20_without_a_model_the_variables_to_set_are_named() {
    let farm = Farm::new();
    let ran = farm.house.run(&["run", "Hello"]).fails(11, "set OPENAI_API_KEY");
    assert!(ran.err.contains("OLLAMA_MODEL") && ran.err.contains("error[model]"), "{}", ran.err);
    farm.house.ask(&["run", "Hello"]).env("KITBAG_MODEL", "gpt-5").run().fails(11, "<provider>/<name>");
    farm.house
        .ask(&["run", "Hello"])
        .env("OPENAI_API_KEY", "k")
        .env("MODEL_MEMORY_LIMIT", "few")
        .run()
        .fails(3, "MODEL_MEMORY_LIMIT");
    farm.house.run(&["run", "  "]).fails(2, "the message is empty");
}

#[test]
fn a_wrong_key_is_never_printed() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"key": "right", "turns": []}));
    let ran = with(&farm, &model, &["run", "Hello"]).env("OPENAI_API_KEY", "sk-wrong-geheim-0815").run();
    let ran = ran.fails(11, "check OPENAI_API_KEY");
    assert!(ran.err.contains("401") && !ran.all().contains("geheim"), "{}", ran.err);
}

#[test]
fn s4_18_conversations_have_ids_and_are_found_again() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"turns": [says("Hello Ada."), says("Ada.")]}));
    let ran =
        with(&farm, &model, &["run", "--conversation", "new", "I am Ada", "--json"]).run().exits(0).json();
    let id = ran["conversation"].as_str().unwrap();
    with(&farm, &model, &["run", "--conversation", id, "Who am I?"]).run().exits(0);
    let sent = model.bodies()[1]["messages"].clone();
    let said: Vec<&str> =
        sent.as_array().unwrap().iter().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said[1..], ["I am Ada", "Hello Ada.", "Who am I?"]);
    with(&farm, &model, &["run", "--conversation", "nosuch", "?"]).run().fails(5, "no conversation nosuch");
    with(&farm, &model, &["run", "--conversation", "../x", "?"]).run().fails(2, "is not the id");
    farm.settings("[users.eve]\n");
    with(&farm, &model, &["run", "--conversation", id, "--user", "eve", "?"])
        .run()
        .fails(5, "no conversation");
}

#[test]
fn s4_17_a_chat_tells_who_answers_with_which_tools_and_which_servers_failed() {
    let farm = Farm::of("x", &[]);
    farm.enter("gone", json!({"url": "http://127.0.0.1:9/mcp"}));
    let turn = calls(&[("add", json!({"a": 2, "b": 40}))]);
    let model = FakeModel::start(&json!({"turns": [turn, says("It is 42."), says("Nothing was said.")]}));
    let lines = "What is 2 + 40?\n/tools\n/servers\n/nonsense\n/clear\nWhat did I say?\n/quit\nnot read\n";
    let ran = with(&farm, &model, &["chat"]).input(lines).run().exits(0);
    assert_eq!(ran.out, "Let me look.\nIt is 42.\nNothing was said.\n");
    for word in [
        "openai/scripted at http://127.0.0.1",
        "conversation ",
        "tools: ",
        "gone",
        "/nonsense is not a command",
    ] {
        assert!(ran.err.contains(word), "no {word:?} in {}", ran.err);
    }
    let last = model.bodies().pop().unwrap();
    assert!(!last.to_string().contains("2 + 40"), "{last}");
    farm.is_empty();
}

#[test]
fn a_model_that_fails_does_not_end_a_chat() {
    let farm = Farm::new();
    let model = FakeModel::start(&json!({"turns": [{"status": 400, "error": "no"}, says("Here.")]}));
    let ran = with(&farm, &model, &["chat"]).input("one\ntwo\n").run().exits(0);
    assert_eq!(ran.out, "Here.\n");
    assert!(
        ran.err.contains("error[model]") && ran.err.contains("refuses the request (400: no)"),
        "{}",
        ran.err
    );
}

#[test]
fn s4_18_a_process_that_is_killed_in_a_call_leaves_a_conversation_that_goes_on() {
    let farm = Farm::of("x", &[]);
    let both = calls(&[("count", json!({"token": "once"})), ("sleep", json!({"ms": 600_000}))]);
    let model = FakeModel::start(&json!({"turns": [says("Hello."), both, says("It was cut off.")]}));
    let ran = with(&farm, &model, &["run", "--conversation", "new", "Hi", "--json"]).run().exits(0).json();
    let id = ran["conversation"].as_str().unwrap().to_owned();
    let mut command = with(&farm, &model, &["run", "--conversation", &id, "Sleep"]).command();
    let mut child =
        command.stderr(Stdio::piped()).stdout(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    let told = BufReader::new(child.stderr.take().unwrap());
    // What was told was written down before.
    assert!(told.lines().map(Result::unwrap).any(|line| line.contains("count done in")));
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = with(&farm, &model, &["run", "--conversation", &id, "What happened?"]).run().exits(0);
    assert_eq!(ran.out, "It was cut off.\n");
    let sent = model.bodies().pop().unwrap()["messages"].as_array().unwrap().clone();
    let roles: Vec<&str> = sent.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "tool", "tool", "user"]);
    assert!(sent[6]["content"].as_str().unwrap().contains("program ended"), "{}", sent[6]);
    assert_eq!(farm.events("x", "exec once").len(), 1, "no call is made twice");
    farm.is_empty();
}

#[test]
fn an_agent_that_calls_tools_by_text_answers_on_stdout() {
    let farm = Farm::of("x", &[]);
    let call = "I will add.\nTOOL: add {\"a\": 2, \"b\": 40}\nSYSTEM:\n43";
    let model = FakeModel::start(&json!({"turns": [says(call), says("It is 42.")]}));
    let ran = with(&farm, &model, &["run", "--agent", "text", "What is 2 + 40?"]).run().exits(0);
    assert_eq!(ran.out, "It is 42.\n");
    assert!(ran.err.contains("I will add.") && ran.err.contains("calls add"), "{}", ran.err);
    assert!(ran.err.contains("add done in") && !ran.err.contains("43"), "{}", ran.err);
    let bodies = model.bodies();
    assert!(bodies[0].get("tools").is_none() && bodies[1].to_string().contains("SYSTEM:\\n42"), "{bodies:?}");
    let ran = with(&farm, &model, &["run", "--agent", "text", "Again", "--json"]).run().exits(0).json();
    assert_eq!(
        (&ran["ok"], &ran["answer"], &ran["agent_state"]),
        (&json!(true), &json!("It is 42."), &json!("with_mcp"))
    );
    let model = FakeModel::start(&json!({"turns": [says(call)]}));
    with(&farm, &model, &["run", "--agent", "text", "--max-steps", "2", "Go"])
        .run()
        .fails(11, "made 2 replies and no answer");
    let kept = ["run", "--agent", "text", "--conversation", "new", "Go"];
    with(&farm, &model, &kept).run().fails(2, "keeps no conversation");
    farm.is_empty();
}

#[test]
fn an_agent_of_kitbag_toml_says_how_its_model_is_driven() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[agents.worker]\nkind = 'constrained'\nallow = ['x/add']\ninstruction = 'Be terse.'\nmax_steps = 3\n\
         [agents.writer]\nmode = 'text'\n",
    );
    let turns = json!([
        says("{\"reply\": {\"tool\": \"mcp_x_add\", \"arguments\": {\"a\": 2, \"b\": 40}}}"),
        says("{\"reply\": {\"answer\": \"It is 42.\"}}"),
    ]);
    let model = FakeModel::start(&json!({ "turns": turns }));
    let ran = with(&farm, &model, &["run", "--agent", "worker", "What is 2 + 40?"]).run().exits(0);
    assert_eq!(ran.out, "It is 42.\n");
    let body = &model.bodies()[0];
    let schema = body["response_format"]["json_schema"]["schema"].to_string();
    assert!(schema.contains("mcp_x_add") && !schema.contains("mcp_x_echo"), "{schema}");
    assert!(body["messages"][0]["content"].as_str().unwrap().starts_with("Be terse."), "{body}");
    // Tools that are shown as text are called by text.
    let model =
        FakeModel::start(&json!({"turns": [says("TOOL: mcp_x_add {\"a\": 2, \"b\": 40}"), says("done")]}));
    let ran = with(&farm, &model, &["run", "--agent", "writer", "Go"]).run().exits(0);
    assert_eq!(ran.out, "done\n");
    assert!(ran.err.contains("mcp_x_add done in"), "{}", ran.err);
    farm.is_empty();
}
