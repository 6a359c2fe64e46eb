//! `kitbag flow`, as it is typed.

use serde_json::json;
use testkit::{FakeModel, Farm};

use crate::house::Runs as _;

fn example(name: &str) -> String {
    format!("{}/../../testdata/xircuits/{name}.xircuits", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_flow_prints_its_lines_and_takes_arguments() {
    let farm = Farm::new();
    let ran = farm.house.run(&["flow", "run", &example("HelloXircuits")]).exits(0);
    assert_eq!(ran.out, "Hello Xircuits!\n");
    let file = example("ArgumentParameters");
    let ran = farm.house.run(&["flow", "run", &file, "str1=a=", "str2=b", "--trace"]).exits(0);
    assert_eq!(ran.out, "a=b\n");
    assert!(ran.err.contains("ConcatString 0.") && ran.err.contains(" ms\nPrint 0."), "{}", ran.err);
    let ran = farm.house.run(&["flow", "run", &file, "str1=a", "str2=b", "--json"]).exits(0).json();
    assert_eq!(ran, json!({"ok": true, "printed": "ab\n", "outputs": {}}));
    farm.house.run(&["flow", "run", &file, "st1=a"]).fails(2, "str1=");
    farm.house.run(&["flow", "run", &file]).fails(1, "unsupported operand type(s) for +");
}

#[test]
fn s0_26_check_names_what_is_wrong_before_anything_runs() {
    let farm = Farm::new();
    let ran =
        farm.house.run(&["flow", "check", &example("HelloXircuits"), &example("AgentTemplate")]).exits(3);
    assert!(ran.out.contains("HelloXircuits.xircuits: ok\n"), "{}", ran.out);
    assert!(
        ran.out.contains("error: ") && ran.out.contains("ConverseRun of library xai_converse"),
        "{}",
        ran.out
    );
    farm.house.run(&["flow", "run", &example("AgentTemplate")]).fails(3, "Converse");
    farm.house.run(&["flow", "run", "nosuch.xircuits"]).fails(3, "cannot be read");
    let list = farm.house.run(&["flow", "list", "--json"]).exits(0).json();
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"AgentUseMCPTools") && names.contains(&"ForEach"), "{names:?}");
}

#[test]
fn s0_2_s0_26_a_new_flow_runs_with_its_server_which_nothing_starts_before() {
    let farm = Farm::of("x", &[]);
    let turns = json!([{"text": ["TOOL: add {\"a\": 2, \"b\": 40}"]}, {"text": ["It is 42."]}]);
    let model = FakeModel::start(&json!({ "turns": turns }));
    let file = farm.house.at("agent.xircuits");
    let new = ["flow", "new", &file, "--server", "x", "--model", "openai/scripted"];
    farm.house.run(&new).exits(0);
    farm.house.run(&new).fails(2, "cannot be written");
    farm.house
        .run(&["flow", "new", &farm.house.at("b.xircuits"), "--server", "y"])
        .fails(5, "no server is called");
    farm.house.run(&["flow", "check", &file]).exits(0);
    farm.is_empty();
    let shown = farm.house.run(&["flow", "show", &file]).exits(0);
    assert!(shown.out.starts_with("graph LR\n") && shown.out.contains("x: add, "), "{}", shown.out);
    let url = format!("{}/v1", model.url());
    let ask = ["flow", "run", &file, "question=2 + 40?"];
    let ran = farm.house.ask(&ask).env("OPENAI_BASE_URL", &url).env("OPENAI_API_KEY", "k").run().exits(0);
    assert_eq!(ran.out, "It is 42.\n");
    // A model that fails is no answer.
    let ran =
        farm.house.ask(&ask).env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").env("OPENAI_API_KEY", "k").run();
    ran.fails(11, "AgentRun");
    farm.is_empty();
}
