//! Calls that fail, repeat, are cancelled or belong to a server that is gone: the model is told, and each call has one
//! result.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kitbag::LocalTool;
use kitbag_agent::{Agent, AgentEvent, AgentState, ChatItem, Ended, Memory};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::scene::{Scene, VENDORS, ask, call, server};

fn tool(name: &str, counted: &Arc<AtomicUsize>) -> LocalTool {
    let counted = counted.clone();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    LocalTool::with_schema(name, "Counts", schema, move |_, _| {
        let count = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move { Ok(format!("called {}", count.min(1))) }
    })
}

/// The texts of all results, in order.
fn results(agent: &Agent) -> Vec<String> {
    let answers = agent.talk().items().filter_map(|item| match item {
        ChatItem::Results(answers) => Some(answers.clone()),
        _ => None,
    });
    answers.flatten().map(|answer| Value::Array(answer.blocks).to_string()).collect()
}

#[tokio::test]
async fn s2_22_every_call_of_a_reply_is_answered_and_failures_are_fed_back() {
    for vendor in VENDORS {
        let server = server();
        let scene = Scene::new(json!([
            {"calls": [
                call("mcp_x_echo", json!({"message": "one"})), call("mcp_x_fail", json!({})), call("no_such_tool", json!({})),
                call("mcp_x_add", json!({"a": "not a number", "b": {}})), call("mcp_x_echo", json!({"message": "five"})),
            ]},
            {"text": ["done"]},
        ]));
        let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
        let mut agent = Agent::autonomous(scene.model(vendor), kit.clone()).instruction("Be quick.");
        let report = ask(&mut agent, "Do it").await;
        let tools: Vec<&str> = report.executions.iter().map(|one| one.tool.as_str()).collect();
        assert_eq!(
            tools,
            ["mcp_x_echo", "mcp_x_fail", "no_such_tool", "mcp_x_add", "mcp_x_echo"],
            "{vendor}"
        );
        assert_eq!(report.tools(), ["mcp_x_echo", "mcp_x_fail", "no_such_tool", "mcp_x_add"]);
        let failed: Vec<bool> = report.executions.iter().map(|one| one.error.is_some()).collect();
        assert_eq!(failed, [false, true, true, true, false], "{vendor}: {report:?}");
        assert_eq!((report.errors().count(), report.ended, report.steps), (3, Ended::Answered, 2));
        let all = results(&agent);
        assert!(all.len() == 5 && all[0].contains("one") && all[4].contains("five"), "{vendor}: {all:?}");
        // S2.9: the instruction, a blank line, the description.
        let system = scene.model.bodies()[0].to_string();
        assert!(system.contains("Be quick.\\n\\n## MCP Tools Available"), "{vendor}: {system}");
        kit.close().await;
    }
}

#[tokio::test]
async fn s2_22_a_call_with_broken_json_is_repaired_by_the_model() {
    for vendor in ["openai", "openai-responses", "anthropic"] {
        let count = Arc::default();
        let scene = Scene::new(json!([
            {"calls": [{"name": "count", "arguments": "{\"n\": 1"}]},
            {"calls": [call("count", json!({"n": 1}))]},
            {"text": ["done"]},
        ]));
        let kit = scene.kit(vec![tool("count", &count)], &[]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let report = ask(&mut agent, "Count").await;
        assert_eq!((report.text.as_str(), count.load(Ordering::SeqCst)), ("done", 1), "{vendor}");
        let failed: Vec<bool> = report.executions.iter().map(|one| one.error.is_some()).collect();
        assert_eq!(failed, [true, false], "{vendor}: {report:?}");
        if vendor == "openai" {
            let sent = &scene.model.bodies()[1]["messages"][2]["tool_calls"][0]["function"]["arguments"];
            let sent: Value = serde_json::from_str(sent.as_str().unwrap()).unwrap();
            assert_eq!(sent, json!({"unreadable": "{\"n\": 1"}), "some hosts refuse it otherwise");
        }
        if vendor == "anthropic" {
            assert!(
                scene.model.bodies()[1]["messages"][1]["content"][0]["input"].is_object(),
                "refused otherwise"
            );
        }
        kit.close().await;
    }
}

#[tokio::test]
async fn s2_22_the_step_limit_ends_a_run() {
    let count = Arc::default();
    let turns: Vec<Value> =
        (0..9).map(|n| json!({"text": ["hm"], "calls": [call("count", json!({"n": n}))]})).collect();
    let scene = Scene::new(turns.into());
    let kit = scene.kit(vec![tool("count", &count)], &[]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone()).max_steps(4);
    let report = ask(&mut agent, "Count").await;
    assert_eq!((report.ended, report.steps, report.executions.len()), (Ended::StepLimit, 4, 4));
    assert_eq!(scene.model.requests().len(), 4);
    kit.close().await;
}

#[tokio::test]
async fn s2_22_a_loop_of_equal_calls_is_told_and_then_ended() {
    let count = Arc::default();
    let scene = Scene::new(json!([{"calls": [call("count", json!({"n": 1}))]}]));
    let kit = scene.kit(vec![tool("count", &count)], &[]).await;
    let mut agent = Agent::chat(scene.model("anthropic"), kit.clone());
    let report = ask(&mut agent, "Count").await;
    assert_eq!((report.ended, report.steps), (Ended::Repeated, 5));
    let told: Vec<bool> = results(&agent).iter().map(|text| text.contains("times in a row")).collect();
    assert_eq!(told, [false, false, true, true, true]);
    kit.close().await;
}

#[tokio::test]
async fn equal_calls_with_other_results_are_no_loop() {
    let count: Arc<AtomicUsize> = Arc::default();
    let counted = count.clone();
    let poll = LocalTool::with_schema("poll", "Looks", json!({"type": "object"}), move |_, _| {
        let count = counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok(format!("{count} %")) }
    });
    let mut turns = vec![json!({"calls": [call("poll", json!({}))]}); 12];
    turns.push(json!({"text": ["ready"]}));
    let scene = Scene::new(turns.into());
    let kit = scene.kit(vec![poll], &[]).await;
    let mut agent = Agent::chat(scene.model("gemini"), kit.clone());
    assert_eq!(ask(&mut agent, "Wait").await.text, "ready");
    assert!(results(&agent).iter().all(|text| !text.contains("in a row")));
    kit.close().await;
}

#[tokio::test]
async fn s4_10_a_server_lost_in_a_conversation_is_an_error_result_and_the_conversation_goes_on() {
    let (mut lost, stays) = (server(), server());
    let scene = Scene::new(json!([
        {"calls": [call("mcp_lost_echo", json!({"message": "a"})), call("mcp_stays_echo", json!({"message": "b"}))]},
        {"text": ["first"]},
        {"calls": [call("mcp_lost_echo", json!({"message": "c"})), call("mcp_stays_echo", json!({"message": "d"}))]},
        {"text": ["second"]},
    ]));
    let kit = scene.kit(Vec::new(), &[("lost", lost.url()), ("stays", stays.url())]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!(ask(&mut agent, "one").await.errors().count(), 0);
    lost.stop();
    let report = ask(&mut agent, "two").await;
    assert_eq!(report.text, "second");
    let failed: Vec<bool> = report.executions.iter().map(|one| one.error.is_some()).collect();
    assert_eq!(failed, [true, false], "{report:?}");
    assert_eq!(agent.state(), AgentState::WithMcp);
    kit.close().await;
}

#[tokio::test]
async fn a_cancelled_run_leaves_a_conversation_that_goes_on() {
    for vendor in VENDORS {
        let begun = Arc::new(Notify::new());
        let tell = begun.clone();
        let slow = LocalTool::with_schema("slow", "Never ends", json!({"type": "object"}), move |_, _| {
            tell.notify_one();
            std::future::pending::<Result<String, String>>()
        });
        let scene = Scene::new(json!([
            {"calls": [call("slow", json!({})), call("count", json!({"n": 1}))]},
            {"text": ["never mind"]},
        ]));
        let kit = scene.kit(vec![slow, tool("count", &Arc::default())], &[]).await;
        let mut agent = Agent::chat(scene.model(vendor), kit.clone());
        let mut run = agent.send("Go");
        loop {
            let event = testkit::in_time(run.next()).await.unwrap().unwrap();
            if matches!(&event, AgentEvent::Result(outcome) if outcome.tool == "count") {
                break;
            }
        }
        testkit::in_time(begun.notified()).await;
        drop(run);
        assert_eq!(ask(&mut agent, "Stop").await.text, "never mind", "{vendor}");
        let all = results(&agent);
        assert!(
            all.len() == 2 && all[0].contains("cancelled") && all[1].contains("called"),
            "{vendor}: {all:?}"
        );
        kit.close().await;
    }
}

#[tokio::test]
async fn s4_15_another_model_goes_on_with_the_same_conversation() {
    let count = Arc::default();
    let mut turns = Vec::new();
    for _ in VENDORS {
        turns.push(json!({"reasoning": ["hm"], "calls": [call("count", json!({"n": 1})), call("count", json!({"n": 2}))]}));
        turns.push(json!({"text": ["done"]}));
    }
    for first in VENDORS {
        let scene = Scene::new(turns.clone().into());
        let kit = scene.kit(vec![tool("count", &count)], &[]).await;
        let mut agent = Agent::chat(scene.model(first), kit.clone());
        for vendor in VENDORS {
            agent.use_model(scene.model(vendor));
            assert_eq!(ask(&mut agent, "Count").await.text, "done", "{first}, then {vendor}");
        }
        assert_eq!(results(&agent).len(), 2 * VENDORS.len());
        // Nobody is given another's signature.
        for (body, own) in [("anthropic", "signed-"), ("openai-responses", "sealed-")] {
            let foreign = scene.model.requests().into_iter().filter(|request| {
                let path = request["path"].as_str().unwrap();
                !path.contains(if body == "anthropic" { "/messages" } else { "/responses" })
            });
            for request in foreign {
                assert!(!request["body"].to_string().contains(own), "{}: {request}", request["path"]);
            }
        }
        kit.close().await;
    }
}

#[tokio::test]
async fn s4_18_the_memory_limit_holds_for_what_is_sent() {
    let scene = Scene::new(json!([{"text": ["yes"]}]));
    let kit = scene.kit(Vec::new(), &[]).await;
    let mut agent = Agent::chat(scene.model("openai"), kit.clone()).memory(Memory::Last(3));
    for number in 0..4 {
        ask(&mut agent, &format!("message {number}")).await;
    }
    let sent: Vec<usize> =
        scene.model.bodies().iter().map(|body| body["messages"].as_array().unwrap().len() - 1).collect();
    assert_eq!(sent, [1, 3, 3, 3]);
    agent.clear().unwrap();
    ask(&mut agent, "anew").await;
    let last = scene.model.bodies().pop().unwrap();
    assert!(
        !last.to_string().contains("message 3") && last["messages"].as_array().unwrap().len() == 2,
        "{last}"
    );
    kit.close().await;
}
