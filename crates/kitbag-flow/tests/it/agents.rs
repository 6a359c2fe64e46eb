//! The components of agents: what they leave in the context, and agents that work with a scripted model and a real server.

use std::collections::HashMap;

use kitbag_flow::{
    BoxFuture, Call, CheckOptions, Component, Drawing, DrawingBuilder, Face, Flow, Input, Next, NodeId,
    Palette, Raised, Value,
};
use serde_json::json;
use testkit::{Http, in_time};

use crate::scene::{Printed, Stage, chat, ended_text, example, host, lines};

/// Prints what stands under a key of the context.
struct Peek;

impl Component for Peek {
    fn face(&self) -> &Face {
        const FACE: Face = Face {
            inputs: &[Input::required("name")],
            ..Face::new("Print", "xai_components/xai_utils/utils.py", "A key of the context")
        };
        &FACE
    }

    fn run<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Next, Raised>> {
        Box::pin(async {
            let value = call.context().get(&call.text("name")?);
            call.print(&value.map_or("nothing".to_owned(), |value| value.repr()));
            Ok(Next::Follow)
        })
    }
}

/// What a drawing prints in which Print shows keys of the context. It has no kit: nothing can be opened.
async fn peeked(drawing: DrawingBuilder) -> String {
    let options = CheckOptions { palette: Palette::native().with(Peek), ..CheckOptions::default() };
    let drawing = drawing.finish().unwrap();
    let flow = Flow::new(&drawing, &options).unwrap_or_else(|problems| panic!("{}", lines(&problems)));
    let printed = Printed::default();
    let ended = in_time(flow.run(&host(&printed), HashMap::new())).await;
    printed.text() + &ended_text(ended)
}

fn declare(drawing: &mut DrawingBuilder, server: &str, toolbelt: Option<&str>) -> NodeId {
    let toolbelt = toolbelt.map(|name| ("toolbelt_name", Value::from(name)));
    drawing.then("AgentUseMCPTools", [("server_name", Value::from(server))].into_iter().chain(toolbelt))
}

fn peek(drawing: &mut DrawingBuilder, key: &str) {
    drawing.then("Print", [("name", key.into())]);
}

#[tokio::test]
async fn s0_1_s0_2_s0_3_declaring_a_server_is_a_name_in_a_list_and_opens_nothing() {
    let mut drawing = Drawing::build("x");
    for (server, toolbelt) in [
        ("weather", None),
        ("not configured", None),
        ("weather", None),
        ("other", Some("b")),
        ("weather", Some("b")),
    ] {
        declare(&mut drawing, server, toolbelt);
    }
    peek(&mut drawing, "mcp_servers_default");
    peek(&mut drawing, "mcp_servers_b");
    assert_eq!(peeked(drawing).await, "['weather', 'not configured']\n['other', 'weather']\n");
    let palette = Palette::native();
    let face = palette.all().map(|one| one.face()).find(|face| face.name == "AgentUseMCPTools").unwrap();
    assert!(face.outputs.is_empty() && face.inputs[0].is_required && !face.inputs[1].is_required);
}

#[tokio::test]
async fn s0_4_s0_5_a_toolbelt_has_exactly_its_own_tools_and_servers() {
    let mut drawing = Drawing::build("x");
    drawing.start("AgentDefineTool", [("tool_name", "clock".into()), ("description", "The time".into())]);
    drawing.after_start();
    declare(&mut drawing, "weather", None);
    declare(&mut drawing, "maps", Some("b"));
    for name in [None, Some("b"), Some("nothing")] {
        let name = name.map(|name| ("name", Value::from(name)));
        let belt = drawing.then("AgentMakeToolbelt", name);
        drawing.output((belt, "toolbelt_spec"));
    }
    assert_eq!(
        peeked(drawing).await,
        "output:\n{'mcp_servers': ['weather'], 'standard_tools': {'clock': <Tool>}}\n\
         output_1:\n{'mcp_servers': ['maps'], 'standard_tools': {}}\n\
         output_2:\n{'mcp_servers': [], 'standard_tools': {}}\n"
    );
}

fn init(drawing: &mut DrawingBuilder, spec: Option<NodeId>) -> NodeId {
    let given = spec.is_none().then(|| ("toolbelt_spec", Value::dict([])));
    let inputs = [
        ("agent_name", Value::from("bot")),
        ("agent_provider", "openai".into()),
        ("agent_model", "scripted".into()),
        ("system_prompt", "Be {brief}. {metadata} {tools}".into()),
    ];
    let node = drawing.then("AgentInit", inputs.into_iter().chain(given));
    if let Some(spec) = spec {
        drawing.connect((spec, "toolbelt_spec"), (node, "toolbelt_spec"));
    }
    node
}

#[tokio::test]
async fn s0_6_s0_7_s0_8_an_agent_is_a_record_that_later_declarations_do_not_reach() {
    let mut drawing = Drawing::build("x");
    drawing.then(
        "SetVariableComponent",
        [("name", "agent_bot".into()), ("value", Value::dict([("mine", 1_i64.into())]))],
    );
    declare(&mut drawing, "weather", None);
    let belt = drawing.then("AgentMakeToolbelt", []);
    init(&mut drawing, Some(belt));
    declare(&mut drawing, "late", None);
    peek(&mut drawing, "agent_bot");
    let update = [("agent_name", "bot".into()), ("new_agent_model", "other".into())];
    drawing.then("AgentUpdate", update);
    init(&mut drawing, None);
    peek(&mut drawing, "agent_bot");
    let text = peeked(drawing).await;
    let rows: Vec<&str> = text.lines().collect();
    assert_eq!(
        rows[0],
        "{'mine': 1, 'agent_toolbelt': {}, 'enabled_mcp_servers': ['weather'], 'agent_provider': 'openai', \
         'agent_memory': None, 'agent_model': 'scripted', 'agent_system_prompt': 'Be {brief}. {metadata} {tools}', \
         'max_thoughts': 5}"
    );
    // The parts a specification does not have are empty, and all else stays.
    assert!(rows[1].contains("'mine': 1, 'agent_toolbelt': {}, 'enabled_mcp_servers': []"), "{}", rows[1]);
}

#[tokio::test]
async fn s0_8_an_unknown_provider_is_refused_with_its_name_also_while_it_runs() {
    let mut drawing = Drawing::build("x");
    init(&mut drawing, None);
    drawing.then("AgentUpdate", [("agent_name", "bot".into()), ("new_agent_provider", "acme".into())]);
    let text = peeked(drawing).await;
    assert!(text.contains("Agent provider 'acme' is not supported"), "{text}");
}

/// A drawing that asks an agent with these servers, with whatever was put before.
fn asking(drawing: &mut DrawingBuilder, servers: &[&str]) -> NodeId {
    for server in servers {
        declare(drawing, server, None);
    }
    let belt = drawing.then("AgentMakeToolbelt", []);
    init(drawing, Some(belt));
    let run = drawing.then("AgentRun", [("agent_name", "bot".into()), ("conversation", chat("2 + 40?"))]);
    drawing.output((run, "last_response"));
    drawing.output((run, "out_conversation"));
    run
}

#[tokio::test]
async fn s0_9_s0_10_s0_11_s0_17_s0_20_an_agent_uses_declared_servers_and_tells_which_are_away() {
    let (server, mut gone) = (Http::start(&["--era", "both"]), Http::start(&["--era", "both"]));
    gone.stop();
    let stage = Stage::says(&["Let me see.\nTOOL: add {\"a\": 2, \"b\": 40}\nSYSTEM:\n43", "It is 42."]);
    let kit = stage.kit(&[("calc", server.url()), ("gone", gone.url())]).await;
    let mut drawing = Drawing::build("x");
    asking(&mut drawing, &["gone", "calc", "nobody"]);
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    assert_eq!(done.values[0].text(), "It is 42.");
    assert_eq!(
        done.values[1].to_json().unwrap(),
        json!([
            {"role": "user", "content": "2 + 40?"},
            {"role": "assistant", "content": "Let me see.\nTOOL: add {\"a\": 2, \"b\": 40}"},
            {"role": "user", "content": "SYSTEM:\n42"},
            {"role": "assistant", "content": "It is 42."},
        ])
    );
    let system = stage.system();
    assert!(system.starts_with("Be {brief}. "), "S0.19: {system}");
    for word in
        ["\nadd", "(server gone is not available: ", "(no server is configured under the name nobody)"]
    {
        assert!(system.contains(word), "no {word:?} in {system}");
    }
    kit.close().await;
}

#[tokio::test]
async fn s0_12_s0_13_s0_14_only_declared_servers_are_called_and_clashes_have_an_order() {
    let (first, second) = (Http::start(&["--era", "both"]), Http::start(&["--era", "both"]));
    let stage = Stage::says(&[
        "TOOL: mcp_other_add {\"a\": 1, \"b\": 2}",
        "TOOL: echo {\"message\": \"hi\"}",
        "Done.",
    ]);
    let kit = stage.kit(&[("first", first.url()), ("second", second.url()), ("other", first.url())]).await;
    let mut drawing = Drawing::build("x");
    asking(&mut drawing, &["second", "first"]);
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    let talk = done.values[1].to_json().unwrap();
    let refused = talk[2]["content"].as_str().unwrap();
    assert!(refused.starts_with("SYSTEM:\nERROR:") && refused.contains("other"), "{refused}");
    let told = talk[4]["content"].as_str().unwrap();
    assert!(told.contains("mcp_second_echo of second was run. Also called echo: mcp_first_echo"), "{told}");
    kit.close().await;
}

/// A tool of nodes that says what it was given, and when.
fn defined(drawing: &mut DrawingBuilder, outputs: &[&'static str]) {
    let tool = drawing
        .start("AgentDefineTool", [("tool_name", "back".into()), ("description", "Says it back".into())]);
    let print = drawing.then("Print", []);
    drawing.connect((tool, "tool_args"), (print, "msg"));
    let output = drawing.then("AgentToolOutput", []);
    for port in outputs {
        drawing.connect((tool, port), (output, "results"));
    }
    drawing.after_start();
}

#[tokio::test]
async fn s0_25_a_tool_made_of_nodes_gets_the_text_and_gives_one_value_or_a_list() {
    for (outputs, expected) in [
        (&["tool_input"][..], ["SYSTEM:\nplain text", "SYSTEM:\n{\"city\":\"Oslo\"}", "SYSTEM:\n"]),
        (
            &["tool_input", "tool_args"],
            [
                "SYSTEM:\n['plain text', None]",
                "SYSTEM:\n['{\"city\":\"Oslo\"}', {'city': 'Oslo'}]",
                "SYSTEM:\n['', None]",
            ],
        ),
    ] {
        let stage =
            Stage::says(&["TOOL: back plain text", "TOOL: back {\"city\": \"Oslo\"}", "TOOL: back", "Done."]);
        let kit = stage.kit(&[]).await;
        let mut drawing = Drawing::build("x");
        defined(&mut drawing, outputs);
        asking(&mut drawing, &[]);
        let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
        let talk = done.values[1].to_json().unwrap();
        for (place, expected) in [2, 4, 6].into_iter().zip(expected) {
            let told = talk[place]["content"].as_str().unwrap();
            assert!(told.starts_with(expected), "{told:?} is not {expected:?}");
        }
        assert_eq!(stage.printed.text(), "None\n{'city': 'Oslo'}\nNone\n");
        assert!(stage.system().contains("back: Says it back"), "{}", stage.system());
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_25_a_tool_that_gives_nothing_does_not_give_what_it_gave_before() {
    let stage = Stage::says(&["TOOL: back secret", "TOOL: silent", "Done."]);
    let kit = stage.kit(&[]).await;
    let mut drawing = Drawing::build("x");
    defined(&mut drawing, &["tool_input"]);
    let silent = [("tool_name", "silent".into()), ("description", "Says nothing".into())];
    drawing.start("AgentDefineTool", silent);
    drawing.after_start();
    asking(&mut drawing, &[]);
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    let talk = done.values[1].to_json().unwrap();
    assert_eq!(talk[2]["content"], "SYSTEM:\nsecret");
    let second = talk[4]["content"].as_str().unwrap();
    assert!(second.starts_with("SYSTEM:\n") && !second.contains("secret"), "{second}");
    kit.close().await;
}

#[tokio::test]
async fn s0_21_on_thought_runs_once_for_each_call_and_sees_its_result() {
    let stage = Stage::says(&["TOOL: back one", "TOOL: back two", "Done."]);
    let kit = stage.kit(&[]).await;
    let mut drawing = Drawing::build("x");
    defined(&mut drawing, &["tool_input"]);
    let run = asking(&mut drawing, &[]);
    let last = drawing.branch(run, "on_thought", "ListGetItem", [("index", (-1_i64).into())]);
    drawing.connect((run, "out_conversation"), (last, "the_list"));
    let print = drawing.then("Print", []);
    drawing.connect((last, "out_item"), (print, "msg"));
    drawing.after(run);
    stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    let seen = "None\n{'role': 'user', 'content': 'SYSTEM:\\none'}\nNone\n{'role': 'user', 'content': 'SYSTEM:\\ntwo'}\n";
    assert_eq!(stage.printed.text(), seen);
    kit.close().await;
}

#[tokio::test]
async fn s0_18_the_last_thought_calls_nothing() {
    let stage = Stage::says(&[
        "TOOL: back 1",
        "TOOL: back 2",
        "TOOL: back 3",
        "TOOL: back 4",
        "I think.\nTOOL: back 5",
    ]);
    let kit = stage.kit(&[]).await;
    let mut drawing = Drawing::build("x");
    defined(&mut drawing, &["tool_input"]);
    asking(&mut drawing, &[]);
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    assert_eq!(done.values[0].text(), "I think.");
    assert_eq!(stage.printed.text(), "None\n".repeat(4));
    let told = stage.messages(4).pop().unwrap().1;
    assert!(told.contains("Maximum tool usage reached"), "{told}");
    kit.close().await;
}

#[tokio::test]
async fn s0_22_s0_23_a_model_that_fails_is_an_error_that_a_drawing_can_catch() {
    let stage = Stage::new(json!([{"status": 400, "error": "no"}]));
    let kit = stage.kit(&[]).await;
    let mut drawing = Drawing::build("x");
    asking(&mut drawing, &[]);
    let error = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap_err().to_string();
    assert!(
        error.contains("node \"AgentRun\"") && error.contains("400") && error.contains("AgentError"),
        "{error}"
    );
    let sent = &stage.model.bodies()[0];
    assert_eq!(sent["temperature"], 0.5, "{sent}");
    kit.close().await;
}

#[tokio::test]
async fn s0_24_one_tool_is_called_without_a_model_by_text_or_json() {
    let server = Http::start(&["--era", "both"]);
    let stage = Stage::says(&[]);
    let kit = stage.kit(&[("calc", server.url())]).await;
    for (tool, arguments, output) in [
        ("add", Some(Value::of_json(&json!({"a": 2, "b": 40}))), "42"),
        ("add", Some("{\"a\": 1, \"b\": 2}".into()), "3"),
        ("back", Some("words".into()), "words"),
        ("nosuch", None, "nosuch"),
    ] {
        let mut drawing = Drawing::build("x");
        defined(&mut drawing, &["tool_input"]);
        declare(&mut drawing, "calc", None);
        let belt = drawing.then("AgentMakeToolbelt", []);
        init(&mut drawing, Some(belt));
        let inputs = [("agent_name", "bot".into()), ("tool_name", tool.into()), ("conversation", chat("go"))];
        let arguments = arguments.map(|arguments| ("tool_args", arguments));
        let run = drawing.then("AgentRunTool", inputs.into_iter().chain(arguments));
        drawing.output((run, "tool_output"));
        drawing.output((run, "updated_conversation"));
        let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
        assert!(done.values[0].text().contains(output), "{tool}: {:?}", done.values);
        let talk = done.values[1].to_json().unwrap();
        assert_eq!(talk.as_array().unwrap().len(), 3, "{talk}");
        assert!(talk[1]["content"].as_str().unwrap().starts_with(&format!("TOOL: {tool}")), "{talk}");
    }
    assert!(stage.model.bodies().is_empty());
    kit.close().await;
}

#[tokio::test]
async fn s0_26_the_example_of_the_seed_runs_with_a_model_and_a_server_that_was_added_to_it() {
    let server = Http::start(&["--era", "both"]);
    let stage =
        Stage::says(&["TOOL: get_current_time", "TOOL: add {\"a\": 2, \"b\": 40}", "It is late, and 42."]);
    let kit = stage.kit(&[("calc", server.url())]).await;
    let text = example("agent_example").text().to_owned();
    let drawing = with_server(&text, "calc");
    let flow = crate::scene::flow(&drawing);
    let values = flow.values([("api_key", "sk-flow-geheim")]).unwrap();
    in_time(flow.run(&stage.host(&kit), values)).await.unwrap();
    assert_eq!(stage.printed.text(), "It is late, and 42.\n");
    let (first, second) = (stage.messages(1), stage.messages(2));
    let time = &first.last().unwrap().1;
    assert!(time.starts_with("SYSTEM:\n20") && time.contains('T'), "{time}");
    assert_eq!(second.last().unwrap().1, "SYSTEM:\n42");
    let system = stage.system();
    assert!(
        system.contains("get_current_time: Returns the current time in ISO format.")
            && system.contains("\nadd"),
        "{system}"
    );
    kit.close().await;
}

/// The drawing with AgentUseMCPTools between Start and what follows it, as someone would put it there.
fn with_server(text: &str, server: &str) -> Drawing {
    let mut json: serde_json::Value = serde_json::from_str(text).unwrap();
    let layers = json["layers"].as_array_mut().unwrap();
    let nodes = layers[1]["models"].as_object_mut().unwrap();
    let start = nodes.values().find(|node| node["name"] == "Start").unwrap().clone();
    let (start, out) =
        (start["id"].as_str().unwrap().to_owned(), start["ports"][0]["id"].as_str().unwrap().to_owned());
    let link_id = nodes[&start]["ports"][0]["links"][0].as_str().unwrap().to_owned();
    let port = |id: &str, name: &str, label: &str, is_in: bool, link: &str| json!({"id": id, "name": name, "label": label, "varName": label, "in": is_in, "dataType": "", "links": [link]});
    nodes.insert("use".into(), json!({
        "id": "use", "name": "AgentUseMCPTools", "x": 0, "y": 0,
        "extras": {"type": "library_component", "path": "xai_components/xai_agent/agent_components.py"},
        "ports": [port("use-in", "in-0", "▶", true, "l1"), port("use-server", "parameter-string-server_name", "★server_name", true, "l2"),
                  port("use-out", "out-0", "▶", false, &link_id)],
    }));
    nodes.insert(
        "lit".into(),
        json!({
            "id": "lit", "name": "Literal String", "x": 0, "y": 0, "extras": {"type": "string"},
            "ports": [port("lit-out", "out-0", server, false, "l2")],
        }),
    );
    nodes[&start]["ports"][0]["links"] = json!(["l1"]);
    let links = layers[0]["models"].as_object_mut().unwrap();
    links[&link_id]["source"] = json!("use");
    links[&link_id]["sourcePort"] = json!("use-out");
    links.insert("l1".into(), json!({"id": "l1", "type": "triangle-link", "source": start, "sourcePort": out, "target": "use", "targetPort": "use-in"}));
    links.insert("l2".into(), json!({"id": "l2", "type": "parameter-link", "source": "lit", "sourcePort": "lit-out", "target": "use", "targetPort": "use-server"}));
    Drawing::read("agent_example.xircuits", json.to_string()).unwrap()
}

#[tokio::test]
async fn s0_28_a_router_takes_the_route_its_model_names_and_nothing_else() {
    for (reply, printed) in [
        ("\"sums\"", "Register sums\n'done'\n"),
        ("letters", "which is no route; the routes are sums, words"),
    ] {
        let stage = Stage::says(&[reply]);
        let kit = stage.kit(&[]).await;
        let mut drawing = Drawing::build("x");
        for name in ["sums", "words"] {
            drawing.start(
                "AgentDefineRoute",
                [("agent_flow_name", name.into()), ("description", "About it".into())],
            );
            drawing.then("Print", [("msg", format!("Register {name}").into())]);
            drawing.then(
                "SetVariableComponent",
                [("name", "agent_flow_result".into()), ("value", "done".into())],
            );
        }
        drawing.after_start();
        init(&mut drawing, None);
        let router =
            drawing.then("AgentRouter", [("agent_name", "bot".into()), ("conversation", chat("1 + 1?"))]);
        drawing.output((router, "result"));
        let ended = stage.run(&drawing.finish().unwrap(), &kit).await;
        let text = stage.printed.text() + &ended_text(ended).replace("output:\n", "");
        assert!(text.contains(printed), "{text}");
        let asked = stage.messages(0).pop().unwrap().1;
        assert!(asked.contains("- sums: About it\n- words: About it") && asked.contains("1 + 1?"), "{asked}");
        kit.close().await;
    }
}

#[tokio::test]
async fn s0_28_memories_system_messages_and_streams() {
    let stage = Stage::says(&[
        "TOOL: create_memory {\"summary\": \"likes tea\"}",
        "Noted.",
        "TOOL: lookup_memory tea",
        "Tea.",
    ]);
    let kit = stage.kit(&[]).await;
    let mut drawing = Drawing::build("x");
    let memory = drawing.then("AgentNumpyMemory", []);
    let agent = init(&mut drawing, None);
    drawing.connect((memory, "memory"), (agent, "agent_memory"));
    drawing.then("AgentLearn", [("agent_name", "bot".into()), ("conversation", chat("I like tea."))]);
    let merged = drawing.then(
        "AgentMergeSystem",
        [("new_system_prompt", "Be kind.".into()), ("conversation", chat("What do I like?"))],
    );
    let run = drawing.then("AgentRun", [("agent_name", "bot".into())]);
    drawing.connect((merged, "out_conversation"), (run, "conversation"));
    let stream = drawing.then("AgentStreamStringResponse", [("input_str", "an extraordinary tea".into())]);
    drawing.output((merged, "out_conversation"));
    drawing.output((run, "out_conversation"));
    drawing.output((stream, "result_stream"));
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    let merged = done.values[0].to_json().unwrap();
    assert_eq!(merged[0], json!({"role": "system", "content": "Be kind."}));
    let found = done.values[1].to_json().unwrap()[3]["content"].as_str().unwrap().to_owned();
    assert!(found.contains("likes tea"), "{found}");
    assert_eq!(done.values[2].repr(), "['an', ' ', 'ex', 'tr', 'ao', 'rd', 'in', 'ar', 'y', ' ', 'tea']");
    kit.close().await;
}

#[tokio::test]
async fn s0_29_a_server_whose_tools_change_needs_no_other_drawing() {
    let mut server = Http::start(&["--era", "both"]);
    let drawing = {
        let mut drawing = Drawing::build("x");
        asking(&mut drawing, &["calc"]);
        drawing.finish().unwrap()
    };
    let mut listed = Vec::new();
    for options in [&["--era", "both"][..], &["--era", "both", "--tools", "3"]] {
        server.stop();
        server.start_again_with(options);
        let stage = Stage::says(&["Hello."]);
        let kit = stage.kit(&[("calc", server.url())]).await;
        stage.run(&drawing, &kit).await.unwrap();
        listed.push(stage.system());
        kit.close().await;
    }
    assert_ne!(listed[0], listed[1]);
    assert!(listed.iter().all(|text| !text.contains("not available")), "{listed:?}");
}

#[tokio::test]
async fn s0_13_a_tool_of_the_drawing_hides_one_of_a_server_which_is_not_listed_twice() {
    let server = Http::start(&["--era", "both"]);
    let stage = Stage::says(&["TOOL: echo words", "TOOL: mcp_calc_echo {\"message\": \"there\"}", "Done."]);
    let kit = stage.kit(&[("calc", server.url())]).await;
    let mut drawing = Drawing::build("x");
    let tool =
        drawing.start("AgentDefineTool", [("tool_name", "echo".into()), ("description", "Of nodes".into())]);
    let output = drawing.then("AgentToolOutput", [("results", "from nodes".into())]);
    drawing.connect((tool, "tool_input"), (output, "results"));
    drawing.after_start();
    asking(&mut drawing, &["calc"]);
    let done = stage.run(&drawing.finish().unwrap(), &kit).await.unwrap();
    let talk = done.values[1].to_json().unwrap();
    assert_eq!(talk[2]["content"], "SYSTEM:\n['from nodes', 'words']");
    assert_eq!(talk[4]["content"], "SYSTEM:\nthere");
    let system = stage.system();
    let listed = system.matches(" echo: ").count() + system.matches("\necho: ").count();
    assert_eq!(listed, 1, "{system}");
    kit.close().await;
}

#[tokio::test]
async fn s0_26_the_flow_begins_at_start_also_where_a_tool_stands_before_it_in_the_file() {
    let mut drawing = Drawing::build("x");
    drawing.start("AgentDefineTool", [("tool_name", "t".into()), ("description", "d".into())]);
    drawing.then("Print", [("msg", "the tool".into())]);
    drawing.after_start();
    drawing.then("Print", [("msg", "the flow".into())]);
    let text = drawing.finish().unwrap().text().to_owned();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let nodes = json["layers"][1]["models"].as_object_mut().unwrap();
    let start = nodes.shift_remove("node-0").unwrap();
    nodes.insert("node-0".to_owned(), start);
    let drawing = Drawing::read("x.xircuits", json.to_string()).unwrap();
    assert_eq!(crate::scene::printed(&drawing, &[]).await, "the flow\n");
}
