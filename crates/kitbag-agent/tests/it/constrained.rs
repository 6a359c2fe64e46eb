//! The constrained agent: replies are forced into calls of permitted tools, over every wire format, and by a real model.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kitbag::{AgentRules, Kitbag, LocalTool, OpenOptions, ServerName, ServerSpec, Setup};
use kitbag_agent::{
    AgentError, Ended, FirstReply, ModelChoice, ModelError, RetryHeat, Talk, TalkRole, TextAgent, choose,
};
use serde_json::{Value, json};

use crate::scene::{Scene, VENDORS, quick, server};

/// The schema a request forces, wherever its API has it.
fn forced(body: &Value) -> Value {
    let places = [
        "/response_format/json_schema/schema",
        "/text/format/schema",
        "/output_config/format/schema",
        "/generationConfig/responseJsonSchema",
        "/format",
    ];
    places.iter().find_map(|place| body.pointer(place)).cloned().unwrap_or(Value::Null)
}

/// The tools among which a reply may choose, and whether it may be an answer.
fn choices(body: &Value) -> (Vec<String>, bool) {
    let reply = &forced(body)["properties"]["reply"];
    let ways = reply["anyOf"].as_array().cloned().unwrap_or_else(|| vec![reply.clone()]);
    let names = |way: &Value| way["properties"]["tool"]["enum"].as_array().cloned().unwrap_or_default();
    let tools = ways.iter().flat_map(names).map(|name| name.as_str().unwrap().to_owned()).collect();
    (tools, ways.iter().any(|way| way["properties"].get("answer").is_some()))
}

/// What is kept of the arguments of its calls, as text.
fn keeper() -> LocalTool {
    let schema = json!({
        "type": "object", "required": ["n"],
        "properties": {"n": {"type": "number"}, "note": {"type": "string"}, "tree": {"$ref": "#/$defs/tree"}},
        "$defs": {"tree": {"type": "object", "properties": {"under": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}},
    });
    LocalTool::with_schema("keep", "Keeps it", schema, |arguments, _| async move {
        Ok(Value::Object(arguments).to_string())
    })
}

#[tokio::test]
async fn replies_are_forced_into_permitted_calls_over_every_wire_format() {
    for vendor in VENDORS {
        let server = server();
        let scene = Scene::new(json!([
            {"text": ["{\"reply\": {\"tool\": \"add\", \"argu", "ments\": {\"a\": 2, \"b\": 40}}}"]},
            {"text": ["{\"reply\": {\"answer\": \"It is 42.\"}}"]},
        ]));
        let kit = scene.kit(Vec::new(), &[("calc", server.url())]).await;
        let rules = AgentRules {
            allow: vec!["calc/add".to_owned(), "calc/echo".to_owned()],
            names: Some(kitbag_core::names::NameForm::Bare),
            ..AgentRules::default()
        };
        let agent = TextAgent::constrained(scene.model(vendor), kit.clone()).rules(rules);
        let done = testkit::in_time(agent.run(&Talk::question("What is 2 + 40?"))).await.unwrap();
        assert_eq!(
            (done.last_response.as_str(), done.report.ended),
            ("It is 42.", Ended::Answered),
            "{vendor}"
        );
        assert_eq!(done.conversation.messages()[2].text, "SYSTEM:\n42", "{vendor}");
        let body = &scene.model.bodies()[0];
        let (mut tools, may_answer) = choices(body);
        tools.sort();
        assert_eq!(
            (tools, may_answer),
            (vec!["add".to_owned(), "echo".to_owned()], true),
            "{vendor}: {body}"
        );
        assert!(body.get("tools").is_none() && body.to_string().contains("add: "), "{vendor}: {body}");
        kit.close().await;
    }
}

#[tokio::test]
async fn numbers_of_a_forced_call_keep_their_digits_and_what_a_strict_form_added_is_taken_back() {
    for vendor in VENDORS {
        let call = "{\"reply\": {\"tool\": \"keep\", \"arguments\": {\"n\": 12345678901234567890.5, \"note\": null, \
                    \"tree\": {\"under\": [{\"under\": []}]}}}}";
        // Only OpenAI's form names every argument, with null for one that is not given.
        let call = if vendor == "anthropic" { call.replace(" \"note\": null,", "") } else { call.to_owned() };
        let scene = Scene::new(json!([{"text": [call]}, {"text": ["{\"reply\": {\"answer\": \"done\"}}"]}]));
        let kit = scene.kit(vec![keeper()], &[]).await;
        let agent = TextAgent::constrained(scene.model(vendor), kit.clone());
        let mut sent = String::new();
        let talk = Talk::question("go");
        let done = agent.run_with(&talk, |event| {
            if let kitbag_agent::AgentEvent::Call { arguments, .. } = event {
                sent = arguments;
            }
        });
        let done = testkit::in_time(done).await.unwrap();
        assert!(sent.contains("12345678901234567890.5") && !sent.contains("note"), "{vendor}: {sent}");
        assert_eq!(done.report.errors().count(), 0, "{vendor}: {:?}", done.conversation);
        // A schema that contains itself is whole in the form: each reference leads to a definition that is there.
        let schema = forced(&scene.model.bodies()[0]);
        let text = schema.to_string();
        for target in text.split("\"$ref\":\"#/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(schema.pointer(&format!("/{target}")).is_some(), "{vendor} {target}: {schema}");
        }
        assert!(text.contains("$ref"), "{vendor}: {schema}");
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_18_in_its_last_thought_a_constrained_model_can_only_answer_and_in_its_first_it_may_have_to_call()
{
    let scene = Scene::new(json!([
        {"text": ["{\"reply\": {\"tool\": \"keep\", \"arguments\": {\"n\": 1}}}"]},
        {"text": ["{\"reply\": {\"tool\": \"keep\", \"arguments\": {\"n\": 2}}}"]},
        {"text": ["{\"reply\": {\"answer\": \"done\"}}"]},
    ]));
    let kit = scene.kit(vec![keeper()], &[]).await;
    let agent = TextAgent::constrained(scene.model("openai"), kit.clone()).first_reply(FirstReply::Call);
    let done = testkit::in_time(agent.max_thoughts(3).run(&Talk::question("go"))).await.unwrap();
    assert_eq!(
        (done.report.steps, done.report.executions.len(), done.last_response.as_str()),
        (3, 2, "done")
    );
    let allowed: Vec<(bool, bool)> = scene
        .model
        .bodies()
        .iter()
        .map(|body| (choices(body).0.contains(&"keep".to_owned()), choices(body).1))
        .collect();
    assert_eq!(allowed, [(true, false), (true, true), (false, true)]);
    kit.close().await;
}

#[tokio::test]
async fn a_host_that_forces_nothing_is_told_the_form_and_a_tool_that_is_not_permitted_is_not_called() {
    let scene = Scene::new(json!([
        {"text": ["Sure! I will keep it."]},
        {"text": ["{\"reply\": {\"tool\": \"launch\", \"arguments\": {}}}"]},
        {"text": ["{\"tool\": \"keep\", \"arguments\": {\"n\": \"many\"}}"]},
        {"text": ["{\"answer\": \"I give up.\"}"]},
    ]));
    let kit = scene.kit(vec![keeper()], &[]).await;
    let agent = TextAgent::constrained(scene.model("openai"), kit.clone());
    let done = testkit::in_time(agent.run(&Talk::question("go"))).await.unwrap();
    let all = done.conversation.messages();
    assert!(all[2].text.starts_with("SYSTEM:\nERROR: Reply with one JSON object"), "{all:?}");
    assert!(all[4].text.contains("launch") && all[4].text.starts_with("SYSTEM:\nERROR:"), "{all:?}");
    assert!(all[6].text.contains("invalid_arguments"), "{all:?}");
    assert_eq!(done.last_response, "I give up.");
    // Each of them was a failure.
    let heat: Vec<Value> = scene.model.bodies().iter().map(|body| body["temperature"].clone()).collect();
    assert_eq!(Value::from(heat), json!([0.5, 0.6, 0.7, 0.8]));
    kit.close().await;
}

#[tokio::test]
async fn of_too_many_tools_only_the_names_are_spelt_out() {
    for (most_tools, most_bytes) in [(1, 1 << 20), (100, 300)] {
        let scene = Scene::new(json!([{"text": ["{\"reply\": {\"answer\": \"done\"}}"]}]));
        let other =
            LocalTool::with_schema("other", "Another", json!({"type": "object"}), |_, _| async { Ok("x") });
        let mut limits = quick();
        (limits.constrained_tools, limits.constrained_schema) = (most_tools, most_bytes);
        let setup = Setup::from_specs(scene.env(), Vec::<ServerSpec>::new());
        let options =
            OpenOptions { local: vec![keeper(), other], limits: Some(limits), ..OpenOptions::default() };
        let kit = Kitbag::open_with(setup, options).await.unwrap().0;
        let agent = TextAgent::constrained(scene.model("openai"), kit.clone());
        testkit::in_time(agent.run(&Talk::question("go"))).await.unwrap();
        let body = &scene.model.bodies()[0];
        let ways = forced(body)["properties"]["reply"]["anyOf"].clone();
        assert_eq!(ways.as_array().unwrap().len(), 2, "one for all calls, one for an answer: {ways}");
        let (tools, may_answer) = choices(body);
        assert!(
            tools.contains(&"keep".to_owned()) && tools.contains(&"other".to_owned()) && may_answer,
            "{ways}"
        );
        assert_eq!(ways[0]["properties"]["arguments"], json!({"type": "object"}));
        assert_eq!(body["response_format"]["json_schema"]["strict"], json!(false));
        kit.close().await;
    }
}

#[tokio::test]
async fn without_tools_nothing_is_forced() {
    let scene = Scene::new(json!([{"text": ["Hello!"]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let agent = TextAgent::constrained(scene.model("openai"), kit.clone());
    let done = testkit::in_time(agent.run(&Talk::question("hi"))).await.unwrap();
    assert_eq!((done.last_response.as_str(), forced(&scene.model.bodies()[0])), ("Hello!", Value::Null));
    kit.close().await;
}

/// The model of testdata/models, served on loopback until this is dropped.
struct RealModel {
    child: Child,
    url: String,
}

impl RealModel {
    fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models/serve.py");
        let mut python = Command::new(testkit::tool("py-model/bin/python"));
        python.env_clear().arg("-B").arg(script);
        let piped = python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "the model did not start: {url:?}");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for RealModel {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "where node is; there is no `Env` value before this one")]
fn path() -> String {
    std::env::var("PATH").unwrap()
}

#[tokio::test]
async fn a_real_model_calls_a_tool_of_a_real_server() {
    let real = RealModel::start();
    let scene = Scene::new(json!([]));
    let env = scene.env().with("OPENAI_BASE_URL", &format!("{}/v1", real.url));
    let choice = ModelChoice { flag: Some("openai/smollm2".to_owned()), agent: None };
    let model = choose(&choice, &env, &kitbag::Limits::default()).unwrap();
    let name = ServerName::parse("everything").unwrap();
    let script = testkit::tool("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let spec = ServerSpec::program(name.clone(), "node", [script.to_str().unwrap(), "stdio"]);
    let path = path();
    let setup = Setup::from_specs(scene.env().with("PATH", &path), vec![spec]);
    let (kit, _) = Kitbag::open(setup).await.unwrap();
    testkit::in_time(kit.wait_for_servers(&[name], testkit::PATIENCE)).await;
    // One tool with two numbers and a short prompt: it reads some twenty tokens a second on a busy machine.
    let rules = AgentRules { allow: vec!["everything/get-sum".to_owned()], ..AgentRules::default() };
    let agent = TextAgent::constrained(model, kit.clone())
        .rules(rules)
        .servers(["everything"])
        .system("Use the tool, then answer. {provided_system}")
        .heat(RetryHeat::Temperature { first: 0.0, step: 0.0, most: 0.0 })
        .first_reply(FirstReply::Call)
        .max_thoughts(2)
        .max_tokens(160);
    let mut results = Vec::new();
    let talk = Talk::question("What is 2 plus 3?");
    let run = agent.run_with(&talk, |event| {
        if let kitbag_agent::AgentEvent::Result(outcome) = event {
            results.push(outcome);
        }
    });
    let done = tokio::time::timeout(std::time::Duration::from_secs(240), run).await.unwrap();
    let [result] = results.as_slice() else { panic!("{results:?} {done:?}") };
    assert!(
        !result.is_error && result.tool.contains("sum") && result.text.contains("The sum of"),
        "{result:?}"
    );
    match done {
        Ok(done) => {
            assert_eq!((done.report.steps, done.report.ended), (2, Ended::Answered), "{done:?}");
            let last = done.conversation.messages().last().unwrap();
            assert_eq!((last.role, &last.text), (TalkRole::Assistant, &done.last_response));
        }
        // So small a model may not find the end of its answer.
        Err(AgentError::Model(ModelError::OutOfTokens { .. })) => {}
        Err(error) => panic!("{error}"),
    }
    kit.close().await;
}
