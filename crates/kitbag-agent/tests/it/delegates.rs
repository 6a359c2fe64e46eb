//! Agent mode: the one tool of a server is a task for an agent of its own, whose calls are its user's like all others.

use std::sync::{Arc, Mutex};

use kitbag::connect::{Trace, TraceDirection, TraceLine};
use kitbag::{
    AgentRules, ApprovalAnswer, ApprovalRequest, Approver, BoxFuture, Kitbag, LocalTool, Mode, OpenOptions,
    Setup,
};
use kitbag_agent::{Agent, AgentEvent, ChatItem, Report};
use serde_json::{Value, json};
use testkit::Http;

use crate::scene::{Scene, VENDORS, ask, call, events, quick, server, spec};

/// A kit whose server `x` is shown in agent mode.
async fn kit(scene: &Scene, url: &str, options: OpenOptions) -> Kitbag {
    let mut spec = spec("x", url);
    spec.rules.mode = Some(Mode::Agent);
    let setup = Setup::from_specs(scene.env(), vec![spec]);
    let options = OpenOptions { limits: Some(options.limits.unwrap_or_else(quick)), ..options };
    Kitbag::open_with(setup, options).await.unwrap().0
}

/// What the model is told of its one call, as text.
fn told(agent: &Agent) -> String {
    let results = agent.talk().items().filter_map(|item| match item {
        ChatItem::Results(answers) => Some(Value::Array(answers[0].blocks.clone()).to_string()),
        _ => None,
    });
    results.last().unwrap()
}

/// The outer model gives a task, the inner one makes calls and answers, the outer one says it.
fn script(inner: &[Value]) -> Value {
    let query = call("mcp_x", json!({"query": "add 2 and 40"}));
    let first = json!({"calls": [query], "usage": [10, 1]});
    let last = json!({"text": ["The sum is 42."], "usage": [10, 1]});
    [first].into_iter().chain(inner.iter().cloned()).chain([last]).collect()
}

fn made(report: &Report) -> (Vec<&str>, Vec<&str>) {
    let outer = report.executions.iter().map(|one| one.tool.as_str()).collect();
    (outer, report.delegated.iter().map(|one| one.tool.as_str()).collect())
}

#[tokio::test]
async fn s1_15_a_server_in_agent_mode_is_one_tool_that_takes_a_query() {
    let server = server();
    for vendor in VENDORS {
        let scene = Scene::new(script(&[
            json!({"calls": [call("add", json!({"a": 2, "b": 40})), call("fail", json!({}))], "usage": [20, 2]}),
            json!({"text": ["It is 42."], "usage": [20, 2]}),
        ]));
        // A tool of nobody's server is none of its business.
        let note =
            LocalTool::with_schema("note", "Notes", json!({"type": "object"}), |_, _| async { Ok("noted") });
        let options = OpenOptions { local: vec![note], ..OpenOptions::default() };
        let kit = kit(&scene, server.url(), options).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let (events, error) = events(&mut agent, "What is 2 + 40?").await;
        assert!(error.is_none(), "{vendor}: {error:?}");
        let Some(AgentEvent::Done(report)) = events.last() else { panic!("{vendor}: {events:?}") };
        assert_eq!((report.text.as_str(), report.steps), ("The sum is 42.", 2), "{vendor}");
        assert_eq!(made(report), (vec!["mcp_x"], vec!["add", "fail"]), "{vendor}");
        assert_eq!((report.usage.input, report.usage.output), (60, 6), "{vendor}: all tokens count");
        let inner = events.iter().filter(|event| matches!(event, AgentEvent::Delegated { .. })).count();
        assert!(4 <= inner, "{vendor}: {events:?}");
        let result = told(&agent);
        for part in ["It is 42.", "Calls made:", "1. add {", "2. fail {}: failed: "] {
            assert!(result.contains(part), "{vendor}: {part} in {result}");
        }
        // The outer model pays for one tool; the inner one sees the server's, and only what it is asked.
        let bodies: Vec<String> = scene.model.bodies().iter().map(Value::to_string).collect();
        assert_eq!(bodies.len(), 4, "{vendor}");
        let shows = |body: &String, name: &str| body.contains(&format!("\"name\":\"{name}\""));
        assert!(shows(&bodies[0], "mcp_x") && !shows(&bodies[0], "add"), "{vendor}: {}", bodies[0]);
        assert!(shows(&bodies[0], "note") && !shows(&bodies[1], "note"), "{vendor}: {}", bodies[1]);
        assert!(shows(&bodies[1], "add") && !shows(&bodies[1], "mcp_x"), "{vendor}: {}", bodies[1]);
        assert!(bodies[1].contains("add 2 and 40") && !bodies[1].contains("What is 2 + 40?"), "{vendor}");
        kit.close().await;
    }
}

/// Says no, and remembers what it was asked.
#[derive(Default)]
struct SaysNo(Mutex<Vec<ApprovalRequest>>);

impl Approver for SaysNo {
    fn approve(&self, approval: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        self.0.lock().unwrap().push(approval);
        Box::pin(async { ApprovalAnswer::No })
    }
}

#[tokio::test]
async fn s1_15_calls_in_agent_mode_are_judged_approved_and_recorded_like_all_others() {
    let server = server();
    let scene = Scene::new(script(&[
        json!({"calls": [call("add", json!({"a": 2, "b": 40})), call("echo", json!({"message": "no"}))]}),
        json!({"text": ["I may not."]}),
    ]));
    let approver = Arc::new(SaysNo::default());
    let options = OpenOptions { approver: Some(approver.clone()), ..OpenOptions::default() };
    let kit = kit(&scene, server.url(), options).await;
    let rules =
        AgentRules { approve: vec!["x/add".into()], deny: vec!["x/echo".into()], ..AgentRules::default() };
    let mut agent = Agent::autonomous(scene.model("openai"), kit.clone()).rules(rules);
    let report = ask(&mut agent, "Add").await;
    let asked = approver.0.lock().unwrap().clone();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!((asked[0].server.as_str(), asked[0].tool.as_str()), ("x", "add"));
    assert_eq!(&asked[0].user, kit.user());
    assert!(report.delegated.iter().all(|one| one.error.is_some()), "{report:?}");
    assert!(!scene.model.bodies()[1].to_string().contains("mcp_x_echo\""), "denied is not shown");
    // What was called stands in the records of its user, whichever way it ended.
    let tools: Vec<String> = kit.recent_calls().iter().map(|call| call.tool.to_string()).collect();
    assert!(tools.iter().any(|tool| tool.contains("add")), "{tools:?}");
    kit.close().await;
}

#[tokio::test]
async fn s1_15_a_task_in_agent_mode_has_its_own_step_limit_and_no_agent_below_it() {
    let server = server();
    let steps: Vec<Value> =
        (0..3).map(|n| json!({"calls": [call("mcp_x_echo", json!({"message": n.to_string()}))]})).collect();
    let scene = Scene::new(script(&steps));
    let mut limits = quick();
    limits.delegate_steps = 3;
    let options = OpenOptions { limits: Some(limits), ..OpenOptions::default() };
    let kit = kit(&scene, server.url(), options).await;
    let mut agent = Agent::autonomous(scene.model("openai"), kit.clone());
    let report = ask(&mut agent, "Add").await;
    assert_eq!(report.text, "The sum is 42.");
    assert_eq!(made(&report), (vec!["mcp_x"], vec!["mcp_x_echo"; 3]));
    let result = told(&agent);
    assert!(result.contains("made 3 replies for it and no answer"), "{result}");
    assert!(report.executions[0].error.is_some() && result.contains("3. mcp_x_echo"), "{report:?}");
    kit.close().await;
}

#[tokio::test]
async fn s1_15_a_server_without_tools_in_agent_mode_asks_no_model() {
    let mut gone = server();
    gone.stop();
    let scene = Scene::new(json!([
        {"calls": [call("mcp_x", json!({"query": "add"})), call("mcp_x", json!({}))]}, {"text": ["It is away."]},
    ]));
    let kit = kit(&scene, gone.url(), OpenOptions::default()).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    let report = ask(&mut agent, "Add").await;
    assert_eq!((report.text.as_str(), scene.model.requests().len()), ("It is away.", 2));
    let errors: Vec<&str> = report.errors().collect();
    assert!(
        errors[0].contains("x has no tool that may be used now: ") && errors[1].contains("query"),
        "{errors:?}"
    );
    kit.close().await;
}

/// Tells when a call is at its server, and when it is cancelled there.
struct Watch(tokio::sync::mpsc::Sender<&'static str>);

impl Trace for Watch {
    fn trace(&self, line: &TraceLine) {
        let words = [("\"tools/call\"", "called"), ("notifications/cancelled", "cancelled")];
        for (_, told) in words.iter().filter(|(word, _)| line.text.contains(word)) {
            if line.direction == TraceDirection::Sent {
                let _ = self.0.try_send(told);
            }
        }
    }
}

#[tokio::test]
async fn s1_15_a_cancel_reaches_the_server_of_a_task_in_agent_mode() {
    let server = Http::start(&["--era", "legacy"]);
    let (sender, mut told_of) = tokio::sync::mpsc::channel(8);
    let scene = Scene::new(script(&[json!({"calls": [call("sleep", json!({"ms": 600_000}))]})]));
    let options = OpenOptions { trace: Some(Arc::new(Watch(sender))), ..OpenOptions::default() };
    let kit = kit(&scene, server.url(), options).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    let mut run = agent.send("Go");
    let called = async {
        loop {
            tokio::select! {
                event = run.next() => assert!(event.unwrap().is_ok()),
                told = told_of.recv() => return assert_eq!(told, Some("called")),
            }
        }
    };
    testkit::in_time(called).await;
    drop(run);
    assert_eq!(testkit::in_time(told_of.recv()).await, Some("cancelled"));
    assert_eq!(ask(&mut agent, "Stop").await.text, "The sum is 42.");
    assert!(told(&agent).contains("cancelled by the user"), "{}", told(&agent));
    kit.close().await;
}
