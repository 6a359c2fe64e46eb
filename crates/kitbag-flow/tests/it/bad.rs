//! Drawings that are wrong, and what is said about them before anything runs.

use std::collections::HashMap;

use kitbag_flow::{CheckOptions, Drawing, Flow, Severity, Value};
use testkit::in_time;

use crate::scene::{Printed, example, flow, host, lines, printed, problems};

fn read(text: &str) -> Vec<kitbag_flow::Problem> {
    match Drawing::read("made/up.xircuits", text) {
        Ok(drawing) => problems(&drawing),
        Err(problem) => vec![problem],
    }
}

#[track_caller]
fn told(text: &str, words: &[&str]) {
    let problems = read(text);
    let told = lines(&problems);
    assert!(problems.iter().any(|problem| problem.severity == Severity::Error), "{told}");
    assert!(problems.iter().all(|problem| !problem.fix.is_empty()), "{told}");
    for word in words.iter().chain(&["made/up.xircuits"]) {
        assert!(told.contains(word), "no {word:?} in {told}");
    }
}

/// HelloXircuits with one thing changed.
#[track_caller]
fn changed(from: &str, to: &str, words: &[&str]) {
    let text = example("HelloXircuits").text().to_owned();
    assert!(text.contains(from), "{from}");
    told(&text.replacen(from, to, 1), words);
}

#[test]
fn a_file_that_is_no_workflow_is_said_to_be_none() {
    told("", &["not a workflow", "not JSON"]);
    told("[1, 2]", &["not a workflow", "layers"]);
    told("{\"layers\": []}", &["not a workflow", "diagram-nodes"]);
    told(
        "{\"layers\": [{\"type\": \"diagram-nodes\", \"models\": {}}, {\"type\": \"diagram-links\", \"models\": {}}]}",
        &["no Start node"],
    );
}

#[test]
fn s0_26_unknown_components_ports_and_links_are_named() {
    changed(
        "\"name\": \"ConcatString\"",
        "\"name\": \"ConcatStirng\"",
        &["ConcatStirng", "xai_utils", "use ConcatString", "at 345,165"],
    );
    changed(
        "\"name\": \"Print\"",
        "\"name\": \"RunParallelThread\"",
        &["RunParallelThread", "does not run natively"],
    );
    changed(
        "\"label\": \"out\"",
        "\"label\": \"result\"",
        &["node \"ConcatString\"", "no output \"result\"", "its outputs are out"],
    );
    let link = "\"sourcePort\": \"";
    changed(link, "\"sourcePort\": \"nowhere-", &["not in the file", "draw the link again"]);
}

#[test]
fn s0_26_extra_and_missing_ports_of_other_versions_are_tolerated() {
    let text = example("HelloXircuits").text().replace("\"label\": \"b\"", "\"label\": \"newer\"");
    let problems = read(&text);
    assert!(problems.iter().all(|problem| problem.severity == Severity::Note), "{}", lines(&problems));
    assert!(lines(&problems).contains("no input \"newer\""), "{}", lines(&problems));
}

#[test]
fn a_missing_compulsory_input_is_named() {
    let mut drawing = Drawing::build("x");
    drawing.then("DictGetItem", [("the_dict", Value::dict([]))]);
    let told = lines(&problems(&drawing.finish().unwrap()));
    assert!(told.contains("node \"DictGetItem\"") && told.contains("compulsory input \"key\""), "{told}");
}

#[test]
fn a_cycle_of_data_is_refused() {
    let mut drawing = Drawing::build("x");
    let first = drawing.then("ConcatString", [("a", "x".into())]);
    let second = drawing.then("ConcatString", [("a", "y".into())]);
    drawing.connect((first, "out"), (second, "b"));
    drawing.connect((second, "out"), (first, "b"));
    let problems = problems(&drawing.finish().unwrap());
    let told = lines(&problems);
    assert!(
        told.contains("port \"b\"") && told.contains("itself reads") && told.contains("SetVariable"),
        "{told}"
    );
    assert_eq!(problems.len(), 1, "{told}");
}

#[test]
fn two_start_nodes_are_one_too_many() {
    let text = example("HelloXircuits").text().replacen("\"type\": \"comment\"", "\"type\": \"Start\"", 1);
    told(&text, &["a second Start node"]);
}

#[test]
fn wrong_literals_say_how_they_are_written() {
    for (kind, label, fix) in [
        ("int", "five", "write a whole number"),
        ("int", "1+1", "write a whole number"),
        ("float", "1,5.2", "write a number"),
        ("boolean", "true", "write True or False"),
        ("list", "a, b", "write JSON values"),
        ("dict", "\"a\" 1", "write JSON without the outer braces"),
        ("chat", "hello", "write JSON"),
        ("tuple", "(1", "write values of Python"),
    ] {
        let text = example("HelloXircuits").text().to_owned();
        let text = text.replacen("\"type\": \"string\"", &format!("\"type\": {kind:?}"), 1);
        let text = text.replacen("\"label\": \"Xircuits!\"", &format!("\"label\": {label:?}"), 1);
        told(&text, &[fix, "Literal String"]);
    }
}

#[test]
fn s0_8_an_unknown_provider_is_refused_with_its_name_before_anything_runs() {
    let drawing = example("agent_example");
    let provider = drawing.literals().into_iter().find(|literal| literal.text == "openai").unwrap();
    let told = lines(&problems(&drawing.set_literal(&provider.node, "opnai").unwrap()));
    assert!(told.contains("'opnai' is not supported") && told.contains("port \"agent_provider\""), "{told}");
}

#[test]
fn s0_10_a_server_that_is_not_configured_is_told_and_stops_nothing() {
    let mut drawing = Drawing::build("x");
    drawing.then("AgentUseMCPTools", [("server_name", "wether".into())]);
    let drawing = drawing.finish().unwrap();
    let servers = Some(vec!["weather".to_owned()]);
    let flow = Flow::new(&drawing, &CheckOptions { servers, ..CheckOptions::default() }).unwrap();
    let told = lines(flow.notes());
    assert!(told.contains("no server is called \"wether\"") && told.contains("write \"weather\""), "{told}");
    assert_eq!(flow.notes()[0].severity, Severity::Warning);
}

#[tokio::test]
async fn arguments_are_checked_by_name_and_kind() {
    let mut drawing = Drawing::build("x");
    let print = drawing.then("Print", []);
    drawing.argument("count", "int", (print, "msg"));
    let second = drawing.then("Print", []);
    drawing.argument("flag", "boolean", (second, "msg"));
    let drawing = drawing.finish().unwrap();
    assert_eq!(printed(&drawing, &[("count", " 7 "), ("flag", "yes")]).await, "7\nTrue\n");
    assert_eq!(printed(&drawing, &[]).await, "None\nNone\n");
    let flow = flow(&drawing);
    let error = flow.values([("count", "many")]).unwrap_err().to_string();
    assert!(error.contains("count") && error.contains("int") && error.contains("many"), "{error}");
    assert!(flow.values([("cuont", "1")]).unwrap_err().to_string().contains("cuont"));
}

#[tokio::test]
async fn a_flow_without_end_is_stopped_by_its_limits() {
    let mut drawing = Drawing::build("x");
    let node = drawing.then("LoopComponent", [("condition", true.into())]);
    drawing.branch(
        node,
        "body",
        "CounterComponent",
        [("start_number", 0_i64.into()), ("step", 1_i64.into())],
    );
    drawing.after(node);
    let drawing = drawing.finish().unwrap();
    let mut limits = kitbag::Limits::default();
    limits.flow_steps = 1000;
    let printed = Printed::default();
    let host = host(&printed).limits(limits);
    let error = in_time(flow(&drawing).run(&host, HashMap::new())).await.unwrap_err().to_string();
    assert!(error.contains("flow_steps") && error.contains("1000"), "{error}");
}

#[tokio::test]
async fn a_value_that_grows_without_end_is_stopped_also_where_failures_are_caught() {
    let mut drawing = Drawing::build("x");
    let variable =
        drawing.then("DefineVariableComponent", [("name", "v".into()), ("value", "0123456789".into())]);
    let handler = drawing.then("ExceptionHandler", []);
    let node = drawing.branch(handler, "body", "LoopComponent", [("condition", true.into())]);
    let twice = drawing.branch(node, "body", "ConcatString", []);
    drawing.connect((variable, "ref"), (twice, "a"));
    drawing.connect((variable, "ref"), (twice, "b"));
    let set = drawing.then("SetVariableComponent", [("name", "v".into())]);
    drawing.connect((twice, "out"), (set, "value"));
    drawing.branch(handler, "handler", "Print", [("msg", "caught".into())]);
    drawing.after(handler);
    let drawing = drawing.finish().unwrap();
    let mut limits = kitbag::Limits::default();
    limits.flow_value = 1 << 16;
    let printed = Printed::default();
    let host = host(&printed).limits(limits);
    let error = in_time(flow(&drawing).run(&host, HashMap::new())).await.unwrap_err().to_string();
    assert!(error.contains("flow_value") && error.contains("ConcatString"), "{error}");
    assert_eq!(printed.text(), "");
}

#[test]
fn drawings_and_files_beyond_their_bounds_are_not_read() {
    let mut limits = kitbag::Limits::default();
    limits.flow_nodes = 5;
    let options = CheckOptions { limits: limits.clone().into(), ..CheckOptions::default() };
    let problems = Flow::new(&example("HelloXircuits"), &options).unwrap_err();
    assert!(lines(&problems).contains("flow_nodes"), "{}", lines(&problems));
    limits.flow_file = 100;
    let problem = kitbag_flow::load(&crate::scene::file("HelloXircuits.xircuits"), &limits).unwrap_err();
    assert!(problem.to_string().contains("flow_file"), "{problem}");
}

#[tokio::test]
async fn a_drawing_may_be_a_node_of_another_one_but_not_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut inner = Drawing::build("inner");
    let concat = inner.then("ConcatString", [("a", "in: ".into())]);
    inner.argument("word", "string", (concat, "b"));
    let counter = inner.then("CounterComponent", [("start_number", 1_i64.into()), ("step", 1_i64.into())]);
    inner.output((concat, "out"));
    inner.output((counter, "out_number"));
    std::fs::write(folder.path().join("inner.xircuits"), inner.finish().unwrap().text()).unwrap();
    let mut outer = Drawing::build("outer");
    let node = outer.workflow("inner.py", [("word", "hello".into())]);
    let again = outer.workflow("inner.py", [("word", "you".into())]);
    let print = outer.then("Print", []);
    outer.connect((node, "output"), (print, "msg"));
    outer.output((again, "output"));
    outer.output((again, "output_1"));
    let place = folder.path().join("outer.xircuits");
    let drawing = Drawing::read(&place, outer.finish().unwrap().text()).unwrap();
    assert_eq!(printed(&drawing, &[]).await, "in: hello\noutput:\n'in: you'\noutput_1:\n1\n");
    let mut own = Drawing::build("own");
    own.workflow("own.py", []);
    let own = own.finish().unwrap();
    let place = folder.path().join("own.xircuits");
    std::fs::write(&place, own.text()).unwrap();
    let told = lines(&problems(&Drawing::read(&place, own.text()).unwrap()));
    assert!(told.contains("contains itself"), "{told}");
}
