//! Everything that can be wrong with `MCP_URL`, seen from an agent: it is there within its clock, answers without the tools, and
//! one line of the log says what is wrong and why.

use std::net::TcpListener;
use std::time::Duration;

use kitbag::{DiscoverOptions, Env, Kitbag, OpenOptions, ServerName, Setup};
use kitbag_agent::{Agent, AgentState, ConnectionState};
use serde_json::json;
use testkit::Http;
use tokio::time::Instant;

use crate::scene::{Scene, ask, call, quick};

/// How the server of `MCP_URL` is called.
const NAME: &str = "mcp_server";

/// What an agent says of it once it is there, and the log of its server.
struct Row {
    state: AgentState,
    connection: ConnectionState,
    /// How the line of the log begins, and what it says of the root; none where there is no line.
    line: Option<(&'static str, &'static str)>,
}

fn setup(env: Env) -> Setup {
    Setup::discover(&DiscoverOptions { env, ..DiscoverOptions::default() }).unwrap()
}

fn log(scene: &Scene) -> Vec<String> {
    let text = std::fs::read_to_string(scene.house.path(&format!("kit/state/logs/{NAME}.log")));
    let text = text.unwrap_or_default();
    text.lines().map(|line| line.split_once(' ').map_or(line, |(_, rest)| rest).to_owned()).collect()
}

async fn check(url: Option<&str>, row: Row) {
    let scene = Scene::new(json!([{"text": ["Hi."]}]));
    let env = url.map_or_else(|| scene.env(), |url| scene.env().with("MCP_URL", url));
    let mut limits = quick();
    (limits.wait_agent, limits.wait_http) = (Duration::from_secs(2), Duration::from_millis(1500));
    let options = OpenOptions { limits: Some(limits.clone()), ..OpenOptions::default() };
    // Whatever is wrong, an agent is there long before a person gives up.
    let opened = tokio::time::timeout(limits.wait_agent * 10, Kitbag::open_with(setup(env), options));
    let (kit, _) = opened.await.unwrap().unwrap();
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!((agent.state(), agent.connection()), (row.state, row.connection), "{url:?}");
    assert_eq!(ask(&mut agent, "Hello").await.text, "Hi.", "{url:?}");
    let system = scene.model.bodies()[0]["messages"][0]["content"].to_string();
    assert_eq!(system.contains("MCP"), row.state == AgentState::WithMcp, "{url:?}: {system}");
    kit.close().await;
    let lines = log(&scene);
    match row.line {
        None => assert!(lines.is_empty(), "{url:?}: {lines:?}"),
        Some((begins, root)) => {
            assert!(lines.len() == 1 && lines[0].starts_with(begins), "{url:?}: {lines:?}");
            assert!(lines[0].contains(root), "{url:?}: no {root:?} in {lines:?}");
        }
    }
}

fn failed(begins: &'static str, root: &'static str) -> Row {
    let (state, connection) = (AgentState::McpFailed, ConnectionState::Failed);
    Row { state, connection, line: Some((begins, root)) }
}

#[tokio::test]
async fn s4_1_s4_2_without_an_address_an_agent_is_one_without_mcp() {
    for url in [None, Some(""), Some("  \t")] {
        let row = Row { state: AgentState::NoMcp, connection: ConnectionState::NotConfigured, line: None };
        check(url, row).await;
    }
}

#[tokio::test]
async fn s4_3_s4_6_an_agent_is_there_whatever_its_address_does_and_one_line_says_why() {
    check(Some("http://127.0.0.1:99999/mcp"), failed("ERROR cannot connect: invalid url: ", "port")).await;
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let unreachable = format!("http://{free}/mcp");
    check(Some(&unreachable), failed("ERROR cannot connect: connection: ", "refused")).await;
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}/mcp", hole.local_addr().unwrap());
    check(Some(&silent), failed("ERROR cannot connect: timeout: ", "within")).await;
    let server = Http::start(&["--era", "both"]);
    let missing = server.url().replace("/mcp", "/nothing-here");
    check(Some(&missing), failed("ERROR cannot connect: refused: answered 404", "not found")).await;
    let (state, connection) = (AgentState::McpFailed, ConnectionState::Connected);
    let empty = Http::start(&["--no-tools"]);
    let line = Some(("WARNING it has no tools", ""));
    check(Some(empty.url()), Row { state, connection, line }).await;
    let state = AgentState::WithMcp;
    check(Some(server.url()), Row { state, connection, line: None }).await;
}

#[tokio::test]
async fn s4_6_s4_10_a_server_that_dies_later_is_one_line_and_an_error_result() {
    let mut server = Http::start(&["--era", "both"]);
    let echo = || json!({"calls": [call("echo", json!({"message": "a"}))]});
    let scene = Scene::new(json!([echo(), {"text": ["first"]}, echo(), {"text": ["second"]}]));
    let options = OpenOptions { limits: Some(quick()), ..OpenOptions::default() };
    let setup = setup(scene.env().with("MCP_URL", server.url()));
    let (kit, _) = Kitbag::open_with(setup, options).await.unwrap();
    let mut agent = Agent::chat(scene.model("openai"), kit.clone());
    assert_eq!(ask(&mut agent, "one").await.errors().count(), 0);
    assert_eq!(log(&scene), Vec::<String>::new());
    server.stop();
    let report = ask(&mut agent, "two").await;
    assert_eq!((report.text.as_str(), report.errors().count()), ("second", 1), "{report:?}");
    let name = ServerName::parse(NAME).unwrap();
    let is_away = || !kit.link(&name).unwrap().status().state.is_connected();
    assert!(testkit::until(testkit::PATIENCE, is_away).await);
    kit.close().await;
    let lines: Vec<String> = log(&scene).into_iter().filter(|line| line.contains("ERROR")).collect();
    assert!(lines.len() == 1 && lines[0].contains("refused"), "{lines:?}");
}

/// No more and no less than it may wait.
#[tokio::test(start_paused = true)]
async fn s4_5_an_agent_waits_for_a_silent_address_just_as_long_as_its_clock_says() {
    let hole = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", hole.local_addr().unwrap());
    for (url, waits) in [(url.as_str(), Duration::from_secs(5)), ("", Duration::ZERO)] {
        let scene = Scene::new(json!([]));
        let began = Instant::now();
        let (kit, _) = Kitbag::open(setup(scene.env().with("MCP_URL", url))).await.unwrap();
        let agent = Agent::chat(scene.model("openai"), kit.clone());
        assert_eq!(Instant::now().duration_since(began), waits, "{url}");
        assert_ne!(agent.state(), AgentState::WithMcp);
        kit.close().await;
    }
}
