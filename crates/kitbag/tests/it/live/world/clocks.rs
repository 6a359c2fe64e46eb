//! f1: what a file or a caller says about time is obeyed, and shown where it binds.

use std::time::Duration;

use kitbag::{
    CallOptions, DiscoverOptions, ErrorKind, FaultKind, Kitbag, LinkState, Setup, Severity, ToolCall,
};
use serde_json::{Value, json};

use super::super::farm::{Opens as _, Use as _, first};
use super::super::{Farm, calm, until};
use super::{LONG, server};

/// Longer than any clock in here, and than anybody waits for a test.
const HOUR: &str = r#"{"ms":3600000}"#;

/// A call that nobody answers ends by this clock, long before any other.
async fn ends_by(kit: &Kitbag, call: ToolCall, clock: &str) {
    let view = kit.own_view();
    let ended = tokio::time::timeout(Duration::from_secs(20), kit.call_tool(&view, call)).await;
    let error = ended.unwrap_or_else(|_| panic!("not ended by {clock}")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
    assert!(error.message.contains(clock), "no {clock:?} in {error}");
}

/// Opens what this request finds and calls its server `x`.
async fn ends_in_time(farm: &Farm, hosts: &[&str], what: &str) {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    let setup =
        Setup::discover(&DiscoverOptions { env: farm.env(), hosts, ..DiscoverOptions::default() }).unwrap();
    let kit = Kitbag::start(setup, farm.options(calm()));
    kit.wait(Duration::from_secs(60)).await;
    assert!(kit.link(&server("x")).is_some(), "{what}: {:?}", kit.faults());
    ends_by(&kit, ToolCall::new("mcp_x_sleep", HOUR), "300ms (timeout)").await;
    assert_eq!(farm.count("x", "call sleep"), 1, "{what}");
    // The server is told, and goes on.
    assert!(until(LONG, || farm.count("x", "cancelled") == 1).await, "{what}");
    kit.lives("x").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn f1_a_timeout_ends_calls_whichever_program_wrote_it() {
    let servers = |key: &str, entry: &Value| json!({key: {"x": entry}}).to_string();
    for (keys, settings) in [
        (json!({"timeout": 0.3}), ""),
        (json!({"timeout": "300ms"}), ""),
        (json!({}), "[servers.x]\ntimeout = '300ms'\n"),
        (json!({"timeout": 3600}), "[servers.x]\ntimeout = '300ms'\n"),
    ] {
        let farm = Farm::new();
        farm.add_with("x", &[], &keys);
        farm.settings(settings);
        ends_in_time(&farm, &[], &format!("{keys} {settings}")).await;
    }
    for (host, file, key, timeout) in [
        ("claude-code", "home/.claude.json", "mcpServers", json!({"timeout": 300})),
        ("gemini", "home/.gemini/settings.json", "mcpServers", json!({"timeout": 300})),
        ("cursor", "home/.cursor/mcp.json", "mcpServers", json!({"timeout": 0.3})),
    ] {
        let farm = Farm::new();
        farm.house.put(file, servers(key, &farm.entry("x", &[], &timeout)));
        ends_in_time(&farm, &[host], host).await;
    }
    let farm = Farm::new();
    let entry = farm.entry("x", &[], &json!({}));
    let env = entry["env"]["LIVE_FARM"].to_string();
    let text = format!(
        "[mcp_servers.x]\ncommand = {}\nargs = {}\nenv = {{ LIVE_FARM = {env} }}\ntool_timeout_sec = 0.3\n",
        entry["command"], entry["args"]
    );
    farm.house.put("home/.codex/config.toml", text);
    ends_in_time(&farm, &["codex"], "codex").await;
}

/// Two handles of one server with different clocks: each goes by its own.
#[tokio::test]
async fn f1_a_timeout_is_part_of_what_is_shared() {
    let farm = Farm::of("x", &[]);
    let patient = farm.open(calm()).await;
    farm.settings("[servers.x]\ntimeout = '300ms'\n");
    let hasty = farm.open(calm()).await;
    let view = patient.own_view();
    let waiting = patient.call_tool(&view, ToolCall::new("mcp_x_sleep", r#"{"ms":1000}"#));
    let ending = ends_by(&hasty, ToolCall::new("mcp_x_sleep", HOUR), "300ms (timeout)");
    let (waited, ()) = tokio::join!(waiting, ending);
    assert_eq!(first(&waited.unwrap()), "slept 1000 ms");
    // And a change of it reaches a handle that is open.
    patient.reload().await.unwrap();
    ends_by(&patient, ToolCall::new("mcp_x_sleep", HOUR), "300ms (timeout)").await;
    hasty.close().await;
    farm.close(patient).await;
}

#[tokio::test]
async fn f1_connect_timeout_binds_on_a_server_that_never_answers() {
    let farm = Farm::new();
    farm.add_with("own", &["--fault", "s05"], &json!({"connect_timeout": 0.3}));
    farm.add("set", &["--fault", "s05"]);
    farm.settings("[servers.set]\nconnect_timeout = '300ms'\n");
    let kit = farm.open(calm()).await;
    for name in ["own", "set"] {
        let status = kit.on(name).status();
        let error = status.error.map(|reason| reason.to_string()).unwrap_or_default();
        assert!(!status.state.is_connected() && status.state != LinkState::Idle, "{:?}", status.state);
        assert!(error.contains("300ms (connect_timeout)"), "{name}: {error}");
    }
    farm.close(kit).await;
}

#[tokio::test]
async fn f1_a_caller_says_how_long_one_call_may_take() {
    let farm = Farm::of("x", &[]);
    farm.add_with("quick", &[], &json!({"timeout": 0.2}));
    let kit = farm.open(calm()).await;
    let within = |tool, arguments, timeout| {
        let options = CallOptions { timeout: Some(timeout), ..CallOptions::default() };
        ToolCall { options, ..ToolCall::new(tool, arguments) }
    };
    let short = Duration::from_millis(300);
    ends_by(&kit, within("mcp_x_sleep", HOUR, short), "300ms (timeout of the call)").await;
    // Progress does not keep it alive: it is the whole call that may take so long.
    let reports = r#"{"n":100000,"ms":20}"#;
    ends_by(&kit, within("mcp_x_progress", reports, short), "300ms (timeout of the call)").await;
    // It may be longer than the server's file says, and never longer than the limits.
    let view = kit.own_view();
    let longer = within("mcp_quick_sleep", r#"{"ms":600}"#, Duration::from_secs(20));
    assert_eq!(first(&kit.call_tool(&view, longer).await.unwrap()), "slept 600 ms");
    ends_by(&kit, ToolCall::new("mcp_quick_sleep", HOUR), "200ms (timeout)").await;
    farm.close(kit).await;
    let mut limits = calm();
    limits.wait_total = short;
    let kit = farm.open(limits).await;
    ends_by(&kit, within("mcp_x_sleep", HOUR, Duration::from_secs(3600)), "300ms (wait_total)").await;
    farm.close(kit).await;
}

#[tokio::test]
async fn f1_a_timeout_above_the_limit_is_told_where_it_stands() {
    let farm = Farm::new();
    farm.add_with("x", &[], &json!({"timeout": 1200, "connect_timeout": 600}));
    farm.settings("[wait]\ntotal = '300ms'\nidle = '300ms'\n");
    let (kit, faults) = Kitbag::open_with(
        farm.setup(),
        kitbag::OpenOptions { limits: None, wait: Some(LONG), ..farm.options(calm()) },
    )
    .await
    .unwrap();
    let about: Vec<_> = faults.iter().filter(|fault| fault.kind == FaultKind::Timeout).collect();
    assert_eq!(about.len(), 2, "{faults:?}");
    for (fault, row) in about.iter().zip(["wait_stdio", "wait_idle"]) {
        assert_eq!(fault.severity, Severity::Warning);
        assert!(fault.message.contains(row), "no {row} in {}", fault.message);
        let place = fault.place.as_ref().unwrap();
        assert!(place.file.ends_with("mcp.json") && 0 < place.line, "{place}");
    }
    let error = kit.call("mcp_x_sleep", HOUR).await.unwrap_err();
    assert!(error.message.contains("300ms (wait_"), "{error}");
    farm.close(kit).await;
}
