//! The text agent: seed 0's loop, against real servers and over every wire format.

use std::sync::{Arc, Mutex};

use kitbag::{Kitbag, LocalTool};
use kitbag_agent::{
    AgentError, AgentMemory as _, Ended, ModelError, NotedMemory, RetryHeat, Talk, TalkRole, TextAgent,
    TextOutcome,
};
use kitbag_core::present::text::CallsPerReply;
use serde_json::{Value, json};

use crate::scene::{Scene, VENDORS, quick, server};

fn own(name: &str, says: &'static str) -> LocalTool {
    LocalTool::with_schema(
        name,
        "One of its own",
        json!({"type": "object"}),
        move |_, _| async move { Ok(says) },
    )
}

/// One that takes a text and says it back, or fails.
fn repeat() -> LocalTool {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    LocalTool::with_schema("repeat", "Says it back", schema, |arguments, _| async move {
        match arguments["text"].as_str() {
            Some("fail") => Err("it does not like that".to_owned()),
            text => Ok(text.unwrap_or_default().to_owned()),
        }
    })
}

async fn run(agent: &TextAgent, talk: &Talk) -> TextOutcome {
    testkit::in_time(agent.run(talk)).await.unwrap()
}

/// A script in which the model says these texts, one after the other.
fn says(texts: &[&str]) -> Scene {
    Scene::new(texts.iter().map(|text| json!({"text": [text]})).collect())
}

fn texts(talk: &Talk) -> Vec<(&'static str, &str)> {
    talk.messages().iter().map(|message| (message.role.as_str(), message.text.as_str())).collect()
}

/// What the model was told before anything else, in its last request.
fn system(scene: &Scene) -> String {
    scene.model.bodies().pop().unwrap()["messages"][0]["content"].as_str().unwrap().to_owned()
}

async fn without_servers(scene: &Scene) -> Kitbag {
    scene.kit(Vec::new(), &[]).await
}

#[tokio::test]
async fn s0_15_s0_17_the_call_stays_in_the_history_and_what_was_invented_after_it_does_not() {
    for vendor in VENDORS {
        let server = server();
        let scene = says(&[
            "Let me see.\nTOOL: add {\"a\": 2, \"b\": 40}\nSYSTEM:\n43\nIt is 43.",
            "The sum is 42.\nUSER:\nThank you!",
        ]);
        let kit = scene.kit(Vec::new(), &[("calc", server.url())]).await;
        let agent = TextAgent::new(scene.model(vendor), kit.clone()).servers(["calc"]);
        let talk = Talk::question("What is 2 + 40?");
        let done = run(&agent, &talk).await;
        assert_eq!(
            texts(&done.conversation),
            [
                ("user", "What is 2 + 40?"),
                ("assistant", "Let me see.\nTOOL: add {\"a\": 2, \"b\": 40}"),
                ("user", "SYSTEM:\n42"),
                ("assistant", "The sum is 42."),
            ],
            "{vendor}"
        );
        assert_eq!((done.last_response.as_str(), done.report.steps), ("The sum is 42.", 2), "{vendor}");
        assert_eq!((done.report.tools(), done.report.ended), (vec!["add"], Ended::Answered), "{vendor}");
        // S0.20: the caller's own is as it was.
        assert_eq!(talk, Talk::question("What is 2 + 40?"));
        // The next request carries the call, its result, and no definition of a tool.
        let bodies = scene.model.bodies();
        let sent = bodies[1].to_string();
        assert!(
            sent.contains("TOOL: add") && sent.contains("SYSTEM:\\n42") && !sent.contains("43"),
            "{vendor}: {sent}"
        );
        assert!(bodies[0].get("tools").is_none(), "{vendor}: {}", bodies[0]);
        assert!(bodies[0].to_string().contains("TOOL: <name>"), "{vendor}: {}", bodies[0]);
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_15_of_two_calls_the_first_is_made_or_both_where_that_is_asked_for() {
    let reply = "TOOL: repeat one\nTOOL: repeat two";
    for (calls, made) in [(CallsPerReply::First, 1), (CallsPerReply::InOrder, 2)] {
        let scene = says(&[reply, "done"]);
        let kit = without_servers(&scene).await;
        let agent =
            TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]).calls_per_reply(calls);
        let done = run(&agent, &Talk::question("go")).await;
        assert_eq!(done.report.executions.len(), made);
        let all = texts(&done.conversation);
        assert!(all[2].1.starts_with("SYSTEM:\none"), "{all:?}");
        if made == 1 {
            assert!(
                all[2].1.contains("NOTE: Only the first call") && all[2].1.contains("Not run: repeat"),
                "{all:?}"
            );
            assert_eq!(all[1].1, "TOOL: repeat one");
        } else {
            assert_eq!((all[1].1, all[3].1), (reply, "SYSTEM:\ntwo"));
            // Turn by turn: the model is not sent two messages of one role in a row.
            assert_eq!(scene.model.bodies()[1]["messages"].as_array().unwrap().len(), 4);
        }
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_9_s0_10_s0_14_its_own_tools_come_first_then_the_declared_servers_in_order_and_what_is_away() {
    let (first, second, mut gone) = (server(), server(), server());
    gone.stop();
    let scene = says(&["TOOL: echo {\"message\": \"hello\"}", "hi"]);
    let kit = scene
        .kit(
            Vec::new(),
            &[("first", first.url()), ("second", second.url()), ("gone", gone.url()), ("other", first.url())],
        )
        .await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone());
    let agent = agent.servers(["second", "nobody", "gone", "first", "second"]).tools([repeat()]);
    let done = run(&agent, &Talk::question("hello")).await;
    assert_eq!(done.last_response, "hi");
    let system = system(&scene);
    let at = |text: &str| system.find(text).unwrap_or_else(|| panic!("no {text} in {system}"));
    assert!(at("\nrepeat: Says it back") < at("(no server is configured under the name nobody)"), "{system}");
    assert!(at("(server gone is not available: ") > at("repeat: "), "{system}");
    assert_eq!(system.matches("(no server").count(), 1, "{system}");
    assert!(!system.contains("other"), "{system}");
    // Each tool of both servers is told of, once, in the declared order.
    let echoes: Vec<usize> = system.match_indices("\necho_").map(|(at, _)| at).collect();
    let [of_second, of_first] = echoes.as_slice() else { panic!("{system}") };
    assert!((of_second..of_first).contains(&&at("(server gone is not")), "{system}");
    // S0.14: of two tools of one name the first declared is meant, and the model is told so.
    let told = &done.conversation.messages()[2].text;
    let note = "NOTE: mcp_second_echo of second was run. Also called echo: mcp_first_echo.";
    assert!(told.starts_with("SYSTEM:\n") && told.contains("hello") && told.contains(note), "{told}");
    kit.close().await;
}

#[tokio::test]
async fn s0_11_s0_13_a_tool_of_its_own_comes_first_and_the_other_is_called_by_its_full_name() {
    let server = server();
    let scene = says(&[
        "TOOL: echo {\"message\": \"a\"}",
        "TOOL: mcp_x_echo {\"message\": \"b\"}",
        "TOOL: nothing",
        "done",
    ]);
    let kit = scene.kit(Vec::new(), &[("x", server.url())]).await;
    let agent =
        TextAgent::new(scene.model("openai"), kit.clone()).servers(["x"]).tools([own("echo", "mine")]);
    let done = run(&agent, &Talk::question("go")).await;
    let all = texts(&done.conversation);
    assert_eq!(all[2].1, "SYSTEM:\nmine");
    assert!(
        all[4].1.starts_with("SYSTEM:\n") && all[4].1.contains('b') && !all[4].1.contains("ERROR"),
        "{all:?}"
    );
    assert!(
        all[6].1.starts_with("SYSTEM:\nERROR: there is no tool nothing") && all[6].1.contains("echo"),
        "{all:?}"
    );
    assert_eq!(
        system(&scene).lines().filter(|line| line.starts_with("echo:")).count(),
        1,
        "{}",
        system(&scene)
    );
    kit.close().await;
}

#[tokio::test]
async fn s0_12_a_tool_of_a_server_that_is_not_declared_is_not_called() {
    let (x, other) = (server(), server());
    for declared in [&["x"][..], &[]] {
        let scene = says(&["TOOL: other/echo {\"message\": \"a\"}", "TOOL: mcp_other_echo {}", "done"]);
        let kit = scene.kit(Vec::new(), &[("x", x.url()), ("other", other.url())]).await;
        let agent = TextAgent::new(scene.model("openai"), kit.clone()).servers(declared.iter().copied());
        let agent = agent.tools([own("clock", "noon")]);
        let done = run(&agent, &Talk::question("go")).await;
        let all = texts(&done.conversation);
        for at in [2, 4] {
            assert!(all[at].1.contains("server other, which is not enabled"), "{declared:?}: {all:?}");
        }
        assert!(kit.recent_calls().is_empty(), "nothing was called");
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_8_s0_18_five_thoughts_are_the_usual_budget_and_the_last_one_calls_nothing() {
    let scene = says(&["I call.\nTOOL: repeat again"]);
    let kit = without_servers(&scene).await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]);
    let done = run(&agent, &Talk::question("go")).await;
    assert_eq!((done.report.steps, done.report.executions.len()), (5, 4), "the fifth call is refused");
    assert_eq!((done.report.ended, done.last_response.as_str()), (Ended::StepLimit, "I call."));
    let all = texts(&done.conversation);
    let notice = all.iter().position(|(_, text)| text.contains("Maximum tool usage reached")).unwrap();
    assert_eq!(notice, all.len() - 3, "{all:?}");
    assert!(all[all.len() - 1].1.starts_with("SYSTEM:\nERROR: the call was not made"), "{all:?}");
    assert!(scene.model.bodies()[4].to_string().contains("Maximum tool usage reached"));
    assert!(!scene.model.bodies()[3].to_string().contains("Maximum tool usage reached"));
    kit.close().await;
}

#[tokio::test]
async fn s0_18_the_last_response_is_the_models_even_where_it_only_calls() {
    for thoughts in [1, 2] {
        let scene = says(&["TOOL: repeat SECRET"]);
        let kit = without_servers(&scene).await;
        let agent =
            TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]).max_thoughts(thoughts);
        let done = run(&agent, &Talk::question("go")).await;
        assert_eq!(done.last_response, "TOOL: repeat SECRET");
        assert_eq!(done.report.executions.len(), thoughts - 1);
        kit.close().await;
    }
    // An answer in the last thought is an answer.
    let scene = says(&["TOOL: repeat x", "It said x."]);
    let kit = without_servers(&scene).await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]).max_thoughts(2);
    let done = run(&agent, &Talk::question("go")).await;
    assert_eq!((done.report.ended, done.last_response.as_str()), (Ended::Answered, "It said x."));
    kit.close().await;
}

#[tokio::test]
async fn s0_19_seven_words_are_replaced_and_other_braces_stay() {
    let scene = says(&["hi"]);
    let kit = without_servers(&scene).await;
    let prompt = "{\"json\": {}} {unknown} {{x}} { } {tools}|{tool_instruction}|{memory}|{lookup_memory}|{create_memory}|\
                  {metadata}|{provided_system}|{";
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).system(prompt);
    let agent = agent
        .metadata("{tools} today")
        .memory(Arc::new(NotedMemory::new(1000)))
        .tools([own("clock", "noon")]);
    run(&agent, &Talk::default().with(TalkRole::System, "Be kind. {metadata}").with(TalkRole::User, "hello"))
        .await;
    let sent = system(&scene);
    let begin = "{\"json\": {}} {unknown} {{x}} { } clock: One of its own|To use a tool,";
    assert!(sent.starts_with(begin), "{sent}");
    let lookup = "lookup_memory: Looks up";
    assert_eq!(
        (sent.matches(lookup).count(), sent.matches("create_memory: Remembers").count()),
        (2, 2),
        "{sent}"
    );
    // What was put in is not looked at again.
    assert!(sent.ends_with("|{tools} today|Be kind. {metadata}|{"), "{sent}");
    let messages = scene.model.bodies()[0]["messages"].as_array().unwrap().len();
    assert_eq!(messages, 2, "the system message is in the prompt, not beside it");
    kit.close().await;
}

#[tokio::test]
async fn s0_19_a_prompt_without_any_of_the_words_is_followed_by_what_the_model_must_know() {
    let scene = says(&["hi"]);
    let kit = without_servers(&scene).await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).system("Answer {in} French.");
    run(&agent, &Talk::question("hello")).await;
    assert_eq!(system(&scene), "Answer {in} French.", "no word of tools where there are none");
    let agent = agent.tools([own("clock", "noon")]);
    run(&agent, &Talk::question("hello")).await;
    let sent = system(&scene);
    assert!(
        sent.starts_with("Answer {in} French.\n\nTo use a tool,")
            && sent.ends_with("\n\nclock: One of its own"),
        "{sent}"
    );
    kit.close().await;
}

#[tokio::test]
async fn s0_20_the_callers_conversation_is_not_changed_and_the_other_goes_on() {
    let scene = says(&["TOOL: repeat x", "one", "two"]);
    let kit = without_servers(&scene).await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]);
    let talk = Talk::default().with(TalkRole::System, "Be kind.").with(TalkRole::User, "go");
    let before = talk.clone();
    let done = run(&agent, &talk).await;
    assert_eq!((talk, done.last_response.as_str()), (before, "one"));
    assert_eq!(texts(&done.conversation)[0], ("system", "Be kind."));
    let next = done.conversation.with(TalkRole::User, "and?");
    let after = run(&agent, &next).await;
    assert_eq!((after.last_response.as_str(), after.conversation.messages().len()), ("two", 7));
    assert_eq!(Talk::from_json(&after.conversation.to_json()).unwrap(), after.conversation);
    assert_eq!(
        Talk::from_json(&json!([{"role": "user", "content": "a"}, {"role": "tool"}])).unwrap_err().number,
        2
    );
    kit.close().await;
}

#[tokio::test]
async fn s0_21_what_is_done_after_each_call_sees_its_result_and_can_end_the_run() {
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let scene = says(&["TOOL: repeat one", "TOOL: repeat fail", "done"]);
    let kit = without_servers(&scene).await;
    let keep = seen.clone();
    let agent =
        TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]).on_thought(move |talk| {
            let keep = keep.clone();
            async move {
                keep.lock().unwrap().push(talk.messages().last().unwrap().text.clone());
                Ok(())
            }
        });
    let done = run(&agent, &Talk::question("go")).await;
    assert_eq!(*seen.lock().unwrap(), ["SYSTEM:\none", "SYSTEM:\nERROR: it does not like that"]);
    assert_eq!(done.last_response, "done");
    let scene = says(&["TOOL: repeat one", "done"]);
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]);
    let agent = agent.on_thought(|_| async { Err("the branch broke".to_owned()) });
    let error = agent.run(&Talk::question("go")).await.unwrap_err();
    assert!(matches!(&error, AgentError::Thought { why } if why == "the branch broke"), "{error}");
    kit.close().await;
}

#[tokio::test]
async fn s0_22_a_model_that_fails_is_an_error_and_never_an_answer() {
    for vendor in VENDORS {
        let scene = Scene::new(json!([
            {"text": ["TOOL: repeat x"]}, {"status": 400, "error": "no such luck"},
            {"text": ["half a"], "stop": "length"}, {"text": [" "]}, {"text": ["a", "b", "c", "d"], "cut": "early"},
        ]));
        let kit = without_servers(&scene).await;
        let agent =
            TextAgent::new(scene.model_within(vendor, &quick()).unwrap(), kit.clone()).tools([repeat()]);
        let talk = Talk::question("go");
        let model = |error: AgentError| match error {
            AgentError::Model(error) => error,
            other => panic!("{vendor}: {other}"),
        };
        let error = model(agent.run(&talk).await.unwrap_err());
        assert!(
            matches!(error, ModelError::Refused { .. }) && error.to_string().contains("no such luck"),
            "{error}"
        );
        let error = model(agent.run(&talk).await.unwrap_err());
        assert!(matches!(error, ModelError::OutOfTokens { .. }), "{vendor}: {error}");
        let error = model(agent.run(&talk).await.unwrap_err());
        assert!(matches!(error, ModelError::Empty { .. }), "{vendor}: {error}");
        let error = model(agent.run(&talk).await.unwrap_err());
        assert!(matches!(error, ModelError::Cut { .. }), "{vendor}: {error}");
        kit.close().await;
    }
}

fn temperatures(scene: &Scene) -> Vec<Value> {
    scene.model.bodies().iter().map(|body| body.get("temperature").cloned().unwrap_or(Value::Null)).collect()
}

#[tokio::test]
async fn s0_23_each_failed_call_raises_the_temperature_up_to_a_bound() {
    let replies = ["TOOL: repeat fail", "TOOL: repeat fine", "TOOL: nothing", "TOOL: repeat fail", "done"];
    for (heat, expected) in [
        (RetryHeat::default(), json!([0.5, 0.6, 0.6, 0.7, 0.8])),
        (RetryHeat::Temperature { first: 0.0, step: 1.0, most: 1.5 }, json!([0.0, 1.0, 1.0, 1.5, 1.5])),
        (RetryHeat::Off, json!([null, null, null, null, null])),
    ] {
        let scene = says(&replies);
        let kit = without_servers(&scene).await;
        let agent = TextAgent::new(scene.model("openai"), kit.clone()).tools([repeat()]).heat(heat);
        assert_eq!(run(&agent, &Talk::question("go")).await.last_response, "done");
        assert_eq!(Value::from(temperatures(&scene)), expected, "{heat:?}");
        let stop = &scene.model.bodies()[0]["stop"];
        assert_eq!(*stop, json!(["\nSYSTEM:", "\nUSER:"]), "the model does not speak for others");
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_23_a_model_that_thinks_first_is_asked_for_more_effort_instead() {
    let scene = says(&["TOOL: repeat fail", "done"]);
    let kit = without_servers(&scene).await;
    let choice = kitbag_agent::ModelChoice { flag: Some("openai/o3-mini".to_owned()), agent: None };
    let model = kitbag_agent::choose(&choice, &scene.env(), &quick()).unwrap();
    let agent = TextAgent::new(model, kit.clone()).tools([repeat()]);
    run(&agent, &Talk::question("go")).await;
    let efforts: Vec<Value> =
        scene.model.bodies().iter().map(|body| body["reasoning_effort"].clone()).collect();
    assert_eq!(
        (efforts, temperatures(&scene)),
        (vec![Value::Null, json!("high")], vec![Value::Null, Value::Null])
    );
    kit.close().await;
}

#[tokio::test]
async fn a_memory_is_two_tools_and_is_kept_between_conversations() {
    let memory = Arc::new(NotedMemory::new(1000));
    let scene = says(&[
        "TOOL: create_memory {\"summary\": \"invoices\", \"tasks\": [\"send on the first\"]}",
        "TOOL: create_memory the cat is called Mio",
        "noted",
        "TOOL: lookup_memory what about INVOICES",
        "TOOL: lookup_memory zebra",
        "done",
    ]);
    let kit = without_servers(&scene).await;
    let agent = TextAgent::new(scene.model("openai"), kit.clone()).memory(memory.clone());
    run(&agent, &Talk::question("remember")).await;
    assert!(system(&scene).contains("\nlookup_memory: Looks up"), "{}", system(&scene));
    let done = run(&agent, &Talk::question("what?")).await;
    let all = texts(&done.conversation);
    assert_eq!(all[2].1, "SYSTEM:\n[{\"summary\":\"invoices\",\"tasks\":[\"send on the first\"]}]");
    assert_eq!(all[4].1, "SYSTEM:\nNothing is remembered about that.");
    // It is bounded: the oldest go first, and what is too large by itself is refused.
    for number in 0..100 {
        memory.create(json!({"summary": format!("note {number}")})).await.unwrap();
    }
    assert!(memory.lookup("invoices".to_owned(), 3).await.unwrap().is_empty());
    assert_eq!(memory.lookup("note 99".to_owned(), 1).await.unwrap(), [json!({"summary": "note 99"})]);
    assert!(memory.create(json!({"summary": "x".repeat(1000)})).await.is_err());
    kit.close().await;
}
