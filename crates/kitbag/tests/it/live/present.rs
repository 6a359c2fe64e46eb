//! Tools as models read them, and what models then want, against servers that run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use kitbag::{
    AgentRules, CallOptions, Intent, IntentOutcome, Kitbag, LinkState, Mode, ModelRequest, OpenOptions,
    PresentOptions, Presentation, Provider, ServerName, View,
};
use kitbag_core::present::gateway::GatewayOutcome;
use kitbag_core::present::native::encode;
use kitbag_core::present::text::CallsPerReply;
use serde_json::{Value, json};

use super::farm::{Opens as _, Use as _};
use super::{Farm, calm, until};

fn openai(mode: Mode) -> PresentOptions {
    PresentOptions::new(Provider::OpenAiChat, mode)
}

/// A reply of OpenAI's API that calls one tool.
fn reply(tool: &str, arguments: &Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_7", "type": "function",
        "function": {"name": tool, "arguments": arguments.to_string()}}]})
}

fn asked(view: &View, shown: &Presentation, tool: &str, arguments: &Value) -> ModelRequest {
    let mut all = shown.decode(view, &reply(tool, arguments));
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// Shows a fresh view, lets a model call, and does what it wants.
async fn turn(kit: &Kitbag, mode: Mode, tool: &str, arguments: Value) -> (ModelRequest, IntentOutcome) {
    let view = kit.own_view();
    let shown = kit.present(&view, &openai(mode));
    let asked = asked(&view, &shown, tool, &arguments);
    let outcome = kit.run(&view, &asked.intent, &CallOptions::default()).await;
    (asked, outcome)
}

/// What the model reads in the end.
async fn told(kit: &Kitbag, mode: Mode, tool: &str, arguments: Value) -> String {
    let (asked, outcome) = turn(kit, mode, tool, arguments).await;
    let answer = outcome.answer(&asked).unwrap();
    let messages = encode(Provider::OpenAiChat, &[answer]);
    assert_eq!(messages[0]["tool_call_id"], "call_7");
    messages[0]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn s1_5_a_conversation_through_a_gateway_opens_one_connection() {
    let farm = Farm::of("my-api", &["--era", "legacy"]);
    let kit = farm.open(calm()).await;
    let listed: Value =
        serde_json::from_str(&told(&kit, Mode::Gateway, "mcp_my_api", json!({})).await).unwrap();
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"add") && names.contains(&"echo"), "{names:?}");
    let add = json!({"action": "execute", "tool_name": "add", "tool_inputs": {"a": 2, "b": 3}});
    assert_eq!(told(&kit, Mode::Gateway, "mcp_my_api", add).await, "5");
    let echo = json!({"action": "execute", "tool_name": "echo", "tool_inputs": {"message": "hi"}});
    assert!(told(&kit, Mode::Gateway, "mcp_my_api", echo).await.contains("hi"));
    let counts = ["start", "initialize", "call add", "call echo"].map(|words| farm.count("my-api", words));
    // The probe costs a legacy server one start.
    assert_eq!(counts[1..], [1, 1, 1], "{counts:?}");
    assert_eq!(farm.count("my-api", "list"), 1, "listed once, for whoever asks");
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_4_s1_16_execute_connects_by_itself_and_says_so_before() {
    let farm = Farm::new();
    farm.add_with("cold", &["--start-delay", "50"], &json!({"lazy": true}));
    farm.settings("[servers.cold]\nlazy = true\n");
    let kit = farm.open(calm()).await;
    assert_eq!(farm.count("cold", "start"), 0, "nothing was needed yet");
    let view = kit.own_view();
    let shown = kit.present(&view, &openai(Mode::Gateway));
    assert_eq!(shown.gateways.len(), 1, "a server nobody has asked yet has its gateway");
    let execute = json!({"action": "execute", "tool_name": "add", "tool_inputs": {"a": 1, "b": 1}});
    let asked = asked(&view, &shown, "mcp_cold", &execute);
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let ear = heard.clone();
    let status: Arc<dyn Fn(_) + Send + Sync> = Arc::new(move |status: kitbag::Activity| {
        ear.lock().unwrap().push(status.to_string());
    });
    let outcome = kit
        .run(&view, &asked.intent, &CallOptions { on_activity: Some(status), ..CallOptions::default() })
        .await;
    assert_eq!(outcome.typed(), GatewayOutcome::Text("2".into()), "{outcome:?}");
    let expected = ["Connecting to MCP server 'cold'…", "Executing 'add' on MCP server 'cold'…"];
    assert_eq!(*heard.lock().unwrap(), expected);
    // What it does not have is told with what it has, also on the first call.
    let (_, none) =
        turn(&kit, Mode::Gateway, "mcp_cold", json!({"action": "execute", "tool_name": "ad"})).await;
    assert!(
        matches!(&none.typed(), GatewayOutcome::Error(text) if text.contains("'ad'") && text.contains("add")),
        "{none:?}"
    );
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_8_what_a_cold_server_does_not_have_is_told_with_what_it_has() {
    let farm = Farm::of("cold", &[]);
    farm.settings("[servers.cold]\nlazy = true\n");
    let kit = farm.open(calm()).await;
    let execute =
        |tool: &str| json!({"action": "execute", "tool_name": tool, "tool_inputs": {"a": 1, "b": 1}});
    let (_, none) = turn(&kit, Mode::Gateway, "mcp_cold", execute("multiply")).await;
    assert!(
        matches!(&none.typed(), GatewayOutcome::Error(text) if text.contains("add") && text.contains("echo")),
        "{none:?}"
    );
    let (_, loosely) = turn(&kit, Mode::Gateway, "mcp_cold", execute("ADD")).await;
    assert_eq!(loosely.typed(), GatewayOutcome::Text("2".into()), "{loosely:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_a_gateway_stays_while_its_server_is_away_and_comes_back() {
    let farm = Farm::of("x", &["--cut", "request:kill"]);
    farm.add("y", &[]);
    let mut slow = calm();
    slow.restart_first = Duration::from_millis(700);
    slow.restart_most = Duration::from_millis(700);
    let kit = farm.open(slow).await;
    let before = kit.present(&kit.own_view(), &openai(Mode::Gateway));
    // Two lives in a row that end at once make it wait before the next.
    let fails = json!({"action": "execute", "tool_name": "add", "tool_inputs": {"a": 1, "b": 1}});
    for _ in 0..3 {
        let failed = told(&kit, Mode::Gateway, "mcp_x", fails.clone()).await;
        assert!(failed.contains("outcome_unknown") || failed.contains("unavailable"), "{failed}");
    }
    let x = ServerName::parse("x").unwrap();
    let gone = until(Duration::from_secs(20), || kit.snapshot().away(&x).is_some()).await;
    assert!(gone, "{:?}", kit.link(&x).unwrap().status());
    let away = kit.present(&kit.own_view(), &openai(Mode::Gateway));
    assert_eq!(away.tools.to_string(), before.tools.to_string(), "a prompt cache survives it");
    let reason = |shown: &Presentation, at: usize| shown.gateways[at].unavailable.clone();
    assert!(reason(&away, 0).is_some_and(|away| away.since.is_some()), "{:?}", away.gateways);
    assert!(reason(&away, 1).is_none());
    let fine = json!({"action": "execute", "tool_name": "add", "tool_inputs": {"a": 2, "b": 2}});
    assert_eq!(told(&kit, Mode::Gateway, "mcp_y", fine).await, "4", "the other one does not care");
    kit.reaches("x", LinkState::Ready).await;
    let back = until(Duration::from_secs(20), || kit.snapshot().away(&x).is_none()).await;
    assert!(back && reason(&kit.present(&kit.own_view(), &openai(Mode::Gateway)), 0).is_none());
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_19_filters_bind_what_a_gateway_lists_and_runs() {
    let farm = Farm::of("x", &[]);
    farm.settings("[servers.x]\nexclude = [\"add\"]\n");
    let kit = farm.open(calm()).await;
    let listed = told(&kit, Mode::Gateway, "mcp_x", json!({"action": "list"})).await;
    assert!(listed.contains("\"echo\"") && !listed.contains("\"add\""), "{listed}");
    for name in ["add", "mcp_x_add", "x/add"] {
        let execute = json!({"action": "execute", "tool_name": name, "tool_inputs": {"a": 1, "b": 1}});
        let (_, outcome) = turn(&kit, Mode::Gateway, "mcp_x", execute).await;
        assert!(outcome.is_error(), "{name}: {outcome:?}");
    }
    assert_eq!(farm.count("x", "call add"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_6_a_gateway_lists_what_there_is_now() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    let kit = farm.open(calm()).await;
    let old = kit.own_view();
    let mut changes = kit.changes();
    kit.call("mcp_x_add_tool", "{}").await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), changes.next()).await.unwrap();
    // The turn began with an older view; the list is of now.
    let list = Intent::ListTools { server: "x".into(), query: Some("added_1".into()), page: 1 };
    let IntentOutcome::Listed(listing) = kit.run(&old, &list, &CallOptions::default()).await else {
        panic!("no list")
    };
    assert_eq!(listing.total, 1);
    let execute = json!({"action": "execute", "tool_name": "added_1", "tool_inputs": {"argument_1": "v"}});
    assert!(told(&kit, Mode::Gateway, "mcp_x", execute).await.contains('v'));
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_15_each_server_and_each_agent_has_its_own_way() {
    let farm = Farm::new();
    for name in ["a", "b", "c"] {
        farm.add(name, &[]);
    }
    farm.settings(
        "[present]\nmode = \"markdown\"\n[servers.b]\nmode = \"gateway\"\n[servers.c]\nmode = \"native\"\n\
         [agents.plain]\n[agents.chat]\nmode = \"text\"\nservers = [\"c\", \"a\", \"nobody\"]\n",
    );
    let kit = farm.open(calm()).await;
    let shown = |agent: &str| {
        let rules = kit.agent(agent).unwrap();
        let view = kit.view(&kitbag::UserId::local(), &rules).unwrap();
        kit.present(&view, &kit.present_options(&rules, Provider::Generic))
    };
    let names = |shown: &Presentation| -> Vec<String> {
        shown.tools.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let plain = shown("plain");
    assert!(plain.prompt.contains("mcp_a_add") && !plain.prompt.contains("mcp_b_add"), "{}", plain.prompt);
    assert!(!plain.prompt.contains("mcp_c_add"), "{}", plain.prompt);
    let native = names(&plain);
    assert!(native.contains(&"mcp_b".to_owned()) && native.contains(&"mcp_c_add".to_owned()), "{native:?}");
    assert!(!native.iter().any(|name| name.starts_with("mcp_a") || name == "mcp_b_add"), "{native:?}");
    // An agent that says how it reads means all of its servers, and lists them in its order.
    let chat = shown("chat");
    assert_eq!(names(&chat), [] as [&str; 0]);
    let place = |text: &str| chat.prompt.find(text).unwrap_or_else(|| panic!("no {text} in {}", chat.prompt));
    assert!(place("mcp_c_add:") < place("mcp_a_add:"));
    assert!(place("mcp_a_add:") < place("(no server is configured under the name nobody)"));
    assert!(!chat.prompt.contains("mcp_b"));
    farm.close(kit).await;
}

#[tokio::test]
async fn s0_11_s0_12_s0_17_a_model_that_only_writes_text_calls_tools() {
    let farm = Farm::of("x", &[]);
    farm.add("other", &[]);
    let kit = farm.open(calm()).await;
    let agent = AgentRules { servers: vec!["x".into()], mode: Some(Mode::Text), ..AgentRules::default() };
    let view = kit.view(&kitbag::UserId::local(), &agent).unwrap();
    let shown = kit.present(&view, &kit.present_options(&agent, Provider::OpenAiChat));
    let say = async |text: &str| {
        let decoded = shown.decode_text(&view, text, CallsPerReply::First);
        let last = decoded.intents.last().unwrap();
        let outcome = kit.run(&view, last, &CallOptions::default()).await;
        outcome.message(&decoded.notes).map(|message| (message.role, message.content))
    };
    let done = say("Let me see.\nTOOL: mcp_x_add {\"a\": 2, \"b\": 3}").await.unwrap();
    assert_eq!(done, ("user", "SYSTEM:\n5".to_owned()));
    let wrong = say("TOOL: mcp_x_add {\"a\": \"two\"}").await.unwrap().1;
    assert!(wrong.contains("invalid_arguments") && wrong.contains("\"b\""), "{wrong}");
    let elsewhere = say("TOOL: mcp_other_add {\"a\": 1, \"b\": 1}").await.unwrap().1;
    assert!(elsewhere.contains("other") && elsewhere.contains("not enabled"), "{elsewhere}");
    assert_eq!(say("All done.").await, None);
    assert_eq!((farm.count("x", "call add"), farm.count("other", "call add")), (1, 0));
    farm.close(kit).await;
}

#[tokio::test]
async fn local_tools_follow_the_mode_as_those_of_servers_do() {
    let farm = Farm::of("x", &[]);
    farm.settings(
        "[present]\nmode = \"markdown\"\n[servers.x]\nmode = \"native\"\n[agents.brief]\nmode = \"signatures\"\n",
    );
    let local = kitbag::cli::demo(&farm.house.path("state"), &farm.house.path("project"));
    let kit = farm.open_with(OpenOptions { local, ..farm.options(calm()) }).await;
    let shown = |rules: &AgentRules| {
        let view = kit.view(&kitbag::UserId::local(), rules).unwrap();
        let shown = kit.present(&view, &kit.present_options(rules, Provider::Generic));
        (view, shown)
    };
    let names = |shown: &Presentation| {
        let tools = shown.tools.as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // For all: markdown; of its server: native; and what reads on in results is always at hand.
    let (_, usual) = shown(&AgentRules::default());
    assert!(usual.prompt.contains("### clock\n") && !usual.prompt.contains("mcp_x_add"), "{}", usual.prompt);
    assert!(names(&usual).contains(&"mcp_x_add".to_owned()), "{:?}", names(&usual));
    assert!(!names(&usual).contains(&"clock".to_owned()), "{:?}", names(&usual));
    assert!(!usual.prompt.contains(kitbag::cli::READ_RESULT), "{}", usual.prompt);
    assert!(names(&usual).contains(&kitbag::cli::READ_RESULT.to_owned()), "{:?}", names(&usual));
    // The agent's own way beats both.
    let (view, brief) = shown(&kit.agent("brief").unwrap());
    assert!(brief.prompt.contains("mcp_x_add(") && brief.prompt.contains("clock("), "{}", brief.prompt);
    assert_eq!(names(&brief), [kitbag::cli::READ_RESULT]);
    // What was told of in a text is called by a line of text.
    let decoded = brief.decode_text(&view, "TOOL: clock {}", CallsPerReply::First);
    let outcome = kit.run(&view, &decoded.intents[0], &CallOptions::default()).await;
    assert!(!outcome.is_error(), "{outcome:?}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_8_an_unchanged_catalog_is_shown_by_the_same_bytes_in_the_same_place() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    let kit = farm.open(calm()).await;
    let shown = || kit.present(&kit.own_view(), &openai(Mode::Native));
    let first = shown();
    assert!(Arc::ptr_eq(&first, &shown()), "made once");
    assert!(!Arc::ptr_eq(&first, &kit.present(&kit.own_view(), &openai(Mode::Markdown))));
    let mut changes = kit.changes();
    kit.call("mcp_x_add_tool", "{}").await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), changes.next()).await.unwrap();
    let later = shown();
    assert!(!Arc::ptr_eq(&first, &later));
    let count = |shown: &Presentation| shown.tools.as_array().unwrap().len();
    assert_eq!(count(&later), count(&first) + 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn s2_11_every_definition_is_called_through_its_provider_and_arrives_as_it_was_meant() {
    let farm = Farm::new();
    let odd = json!([{"name": "o", "description": "Odd", "inputSchema": {"type": "object",
        "properties": {"plain": {"type": "string"}, "odd key!": {"type": "integer"}}, "required": ["plain"]}}]);
    farm.add_echo("s", &odd);
    let kit = farm.open(calm()).await;
    let view = kit.own_view();
    for provider in Provider::ALL {
        let mut audience = kit.present_options(view.agent(), provider);
        audience.native.strict = kitbag_core::present::native::Strict::WithinBudget;
        let shown = kit.present(&view, &audience);
        let text = shown.tools.to_string();
        assert!(text.contains("mcp_s_o"), "{provider}: {text}");
        // The model answers by the schema it was given, whatever the second argument is called there.
        let found = pointer(&shown.tools, &["properties"]).unwrap();
        let second = found.as_object().unwrap().keys().find(|key| *key != "plain").unwrap().clone();
        let arguments = json!({"plain": "x", second: 7});
        let reply = match provider {
            Provider::OpenAiChat => reply("mcp_s_o", &arguments),
            Provider::OpenAiResponses => json!({"output": [{"type": "function_call", "call_id": "c",
                "name": "mcp_s_o", "arguments": arguments.to_string()}]}),
            Provider::Anthropic => {
                json!({"content": [{"type": "tool_use", "id": "c", "name": "mcp_s_o", "input": arguments}]})
            }
            Provider::Gemini | Provider::GeminiOpenApi => json!({"candidates": [{"content": {"parts":
                [{"functionCall": {"name": "mcp_s_o", "args": arguments}}]}}]}),
            Provider::Generic => json!({"tool": "mcp_s_o", "arguments": arguments}),
        };
        let asked = shown.decode(&view, &reply);
        let outcome = kit.run(&view, &asked[0].intent, &CallOptions::default()).await;
        assert!(!outcome.is_error(), "{provider}: {outcome:?}");
        let arrived: Value = serde_json::from_str(farm.arrived("s").last().unwrap()).unwrap();
        assert_eq!(arrived, json!({"plain": "x", "odd key!": 7}), "{provider}");
    }
    farm.close(kit).await;
}

/// The first value under a key, wherever it stands.
fn pointer<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Value> {
    match value {
        Value::Object(fields) => {
            let own =
                keys.iter().find_map(|key| fields.get(*key)).filter(|found| found.get("plain").is_some());
            own.or_else(|| fields.values().find_map(|inner| pointer(inner, keys)))
        }
        Value::Array(items) => items.iter().find_map(|inner| pointer(inner, keys)),
        _ => None,
    }
}

/// Needs the table of tokens, which the binary has: `cargo xtask test` runs it.
#[cfg(feature = "tokens")]
#[tokio::test]
async fn tokens_of_real_tools_stay_within_bounds() {
    let farm = Farm::new();
    let vars = farm.house.vars().into_iter().map(|(name, value)| (name.into(), value.into()));
    let env = kitbag::Env::new(vars, farm.house.path("project"));
    let folder = format!("{}/../../testdata/tools", env!("CARGO_MANIFEST_DIR"));
    let request =
        kitbag::DiscoverOptions { env, catalog: Some(folder.into()), ..kitbag::DiscoverOptions::default() };
    let kit = Kitbag::start(kitbag::Setup::discover(&request).unwrap(), farm.options(calm()));
    let view = kit.own_view();
    let view = Arc::new(view.only(|shown| shown.name.as_str() != kitbag::cli::READ_RESULT));
    assert_eq!(view.tools().len(), 305);
    let count = kitbag::tokens::count;
    let of = |mode: Mode| {
        kit.present(
            &view,
            &PresentOptions { mode, ..kit.present_options(view.agent(), Provider::OpenAiChat) },
        )
    };
    let mut whole = kit.present_options(view.agent(), Provider::OpenAiChat);
    whole.native.slim = kitbag_core::present::native::Slim::Off;
    let whole = count(&kit.present(&view, &whole).tools.to_string());
    let slim = count(&of(Mode::Native).tools.to_string());
    let (gateway, signatures) =
        (count(&of(Mode::Gateway).tools.to_string()), count(&of(Mode::Signatures).prompt));
    assert!(whole <= 79_800 && slim <= 64_700, "{whole} {slim}");
    assert!(signatures <= 13_000 && gateway <= 2_400, "{signatures} {gateway}");
    // The documents say what is so.
    let docs = include_str!("../../../../../docs/present.md");
    for (form, tokens) in [("native:openai", slim), ("gateway", gateway), ("signatures", signatures)] {
        let (thousands, rest) = (tokens / 1000, tokens % 1000);
        assert!(docs.contains(&format!("| {form} | {thousands},{rest:03} |")), "{form}: {tokens}");
    }
    kit.close().await;
}
