//! A call that its server was certainly not given goes to the server that stands in for it; one that may have run does
//! not, and nobody calls by it what they may not call.

use std::sync::Arc;
use std::time::Duration;

use kitbag::store::{AuditQuery, AuditScope, AuditStore as _, MemoryStore};
use kitbag::{
    AgentRules, CallError, CallOptions, CancellationToken, ErrorKind, Kitbag, OpenOptions, Setup, ToolCall,
    View,
};
use serde_json::json;

use super::super::farm::{Opens as _, first};
use super::super::{Farm, calm};
use super::{put_own, server, setup_of, user};

const HI: &str = r#"{"message":"hi"}"#;
const Y: &str = "[servers.x]\nfallback = 'y'\n";

/// Two servers with the same tools, the second of which stands in for the first.
fn pair(settings: &str) -> Farm {
    let farm = Farm::of("x", &[]);
    farm.add("y", &[]);
    farm.settings(settings);
    farm
}

/// The same opened, with the first one stopped.
async fn stopped(settings: &str) -> (Farm, Kitbag) {
    let farm = pair(settings);
    let kit = farm.open(calm()).await;
    kit.stop(&server("x")).await.unwrap();
    (farm, kit)
}

async fn refused(kit: &Kitbag, view: &View) -> CallError {
    kit.call_tool(view, ToolCall::new("x/echo", HI)).await.unwrap_err()
}

#[tokio::test]
async fn s1_14_a_server_that_is_not_available_is_stood_in_for() {
    let (farm, kit) = stopped(Y).await;
    for name in ["x/echo", "mcp_x_echo"] {
        let result = kit.call(name, HI).await.unwrap();
        assert_eq!((first(&result), result.info.server.as_str()), ("hi", "y"));
        assert_eq!(result.info.notes, ["y answered in place of x: is stopped"]);
    }
    assert_eq!((farm.count("x", "call"), farm.count("y", "call echo")), (0, 2));
    // It is asked for itself as soon as it is there.
    kit.restart(&server("x")).await.unwrap();
    let result = kit.call("x/echo", HI).await.unwrap();
    assert_eq!((result.info.server.as_str(), result.info.notes.len()), ("x", 0));
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_an_open_breaker_and_a_server_that_cannot_be_started_are_stood_in_for() {
    let farm = pair(&format!("{Y}timeout = '100ms'\n"));
    let mut limits = calm();
    limits.breaker_failures = 1;
    limits.breaker_open = Duration::from_secs(600);
    let kit = farm.open(limits).await;
    let error = kit.call("x/sleep", r#"{"ms":60000}"#).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    assert_eq!((farm.count("x", "call sleep"), farm.count("y", "call")), (1, 0));
    assert_eq!(kit.call("x/echo", HI).await.unwrap().info.server, server("y"));
    farm.close(kit).await;
    // Its tools are remembered; it does not start any more.
    farm.enter("x", json!({"command": "no-such-program", "env": farm.entry("x", &[], &json!({}))["env"]}));
    let kit = farm.open(calm()).await;
    let error = kit.call("x/echo", HI).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "other values, and nothing is remembered of it: {error}");
    farm.close(kit).await;
    let there = farm.house.put("there", "");
    farm.add_while("x", &there);
    farm.close(farm.open(calm()).await).await;
    std::fs::remove_file(&there).unwrap();
    let mut slow = calm();
    (slow.restart_first, slow.restart_most) = (Duration::from_secs(600), Duration::from_secs(600));
    slow.wait_agent = Duration::from_millis(200);
    let kit = farm.open(slow).await;
    assert_eq!(kit.call("x/echo", HI).await.unwrap().info.server, server("y"));
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_what_may_have_run_is_never_made_again_elsewhere() {
    let farm = pair(&format!("{Y}idempotent = ['echo']\n"));
    let kit = farm.open(calm()).await;
    let call = |tool: &str, arguments: &str, options| {
        let (kit, call) = (kit.clone(), ToolCall::new(tool, arguments).with(options));
        async move { kit.call_tool(&kit.own_view(), call).await }
    };
    let brief = CallOptions { timeout: Some(Duration::from_millis(100)), ..CallOptions::default() };
    let error = call("x/sleep", r#"{"ms":60000}"#, brief).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let cancelled = CallOptions { cancel: Some(cancel), ..CallOptions::default() };
    assert_eq!(call("x/echo", HI, cancelled).await.unwrap_err().kind, ErrorKind::Cancelled);
    assert!(call("x/fail", "{}", CallOptions::default()).await.unwrap().is_error);
    let lost = call("x/die", r#"{"how":"kill"}"#, CallOptions::default()).await.unwrap_err();
    assert_eq!(lost.kind, ErrorKind::OutcomeUnknown);
    farm.close(kit).await;
    // One that may be made twice and was received, by a server that then does not come back.
    farm.add("x", &["--cut", "request:kill"]);
    let mut slow = calm();
    (slow.restart_first, slow.restart_most) = (Duration::from_secs(600), Duration::from_secs(600));
    slow.wait_agent = Duration::from_millis(200);
    let kit = farm.open(slow).await;
    let brief = CallOptions { timeout: Some(Duration::from_secs(5)), ..CallOptions::default() };
    let lost = kit.call_tool(&kit.own_view(), ToolCall::new("x/echo", HI).with(brief)).await.unwrap_err();
    assert_eq!(lost.kind, ErrorKind::OutcomeUnknown, "{lost}");
    assert_eq!(farm.count("y", "call"), 0);
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_nobody_calls_by_a_fallback_what_they_may_not_call() {
    let (farm, kit) = stopped(&format!(
        "{Y}[groups.few]\ndeny = ['y/echo']\n[groups.some]\ndeny = ['y/echo message == h*']\n\
         [groups.asked]\napprove = ['y/*']\n[users.ada]\n[users.bob]\ngroups = ['few']\n[users.cat]\n\
         groups = ['some']\n[users.dan]\ngroups = ['asked']\n[agents.a]\nservers = ['x']\n"
    ))
    .await;
    let view = |who: &str| kit.view(&user(who), &AgentRules::default()).unwrap();
    let result = kit.call_tool(&view("ada"), ToolCall::new("x/echo", HI)).await.unwrap();
    assert_eq!(result.info.server, server("y"));
    let narrow = view("ada").only(|shown| shown.tool.server.as_str() == "x");
    let of_agent = kit.view(&user("ada"), &kit.agent("a").unwrap()).unwrap();
    for (who, view) in
        [("bob", &*view("bob")), ("cat", &*view("cat")), ("agent", &*of_agent), ("part", &narrow)]
    {
        let error = refused(&kit, view).await;
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unavailable, "is stopped"), "{who}");
        assert_eq!(error.server, Some(server("x")), "{who}");
    }
    let error = refused(&kit, &view("dan")).await;
    assert_eq!((error.kind, &error.server), (ErrorKind::ApprovalDenied, &Some(server("y"))), "{error}");
    assert_eq!(farm.count("y", "call"), 1);
    farm.close(kit).await;
}

/// What stands in is held for the same reasons as what is called by name.
#[tokio::test]
async fn s1_14_t21_a_definition_that_is_held_stands_in_for_nothing() {
    let farm = Farm::of("x", &["--fault", "c15"]);
    farm.add("y", &["--fault", "c15"]);
    farm.settings(Y);
    let store = Arc::new(MemoryStore::default());
    let kit = farm.open_with(OpenOptions { store: Some(store), ..farm.options(calm()) }).await;
    let asked = r#"{"argument_1":"a"}"#;
    kit.call("y/one", asked).await.unwrap();
    kit.stop(&server("x")).await.unwrap();
    let stood_in = kit.call("x/one", asked).await.unwrap();
    assert_eq!(stood_in.info.server.as_str(), "y", "as long as it is what was used");
    let mut watch = kit.watch();
    watch.mark_unchanged();
    kit.call("y/change_tool", r#"{"name":"one"}"#).await.unwrap();
    watch.changed().await.unwrap();
    let ran = farm.count("y", "exec one");
    let error = kit.call("x/one", asked).await.unwrap_err();
    assert_eq!((error.kind, farm.count("y", "exec one")), (ErrorKind::Unavailable, ran), "{error}");
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_a_fallback_without_the_tool_or_for_other_arguments_is_not_used() {
    let farm = Farm::of("x", &[]);
    let input = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    farm.add_echo("y", &json!([{"name": "echo", "inputSchema": input}]));
    farm.settings(Y);
    let kit = farm.open(calm()).await;
    kit.stop(&server("x")).await.unwrap();
    let error = refused(&kit, &kit.own_view()).await;
    assert!(error.message.starts_with("is stopped; y cannot stand in: the arguments do not fit"), "{error}");
    let error = kit.call("x/add", r#"{"a":1,"b":2}"#).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Unavailable, "is stopped"));
    farm.close(kit).await;
    // What is fixed for the one is not left to the model for the other.
    let (farm, kit) = stopped(&format!("{Y}[servers.x.tools.echo.args.message]\ndefault = 'safe'\n")).await;
    let error = kit.call("x/echo", "{}").await.unwrap_err();
    assert!(error.message.contains("y cannot stand in"), "{error}");
    assert_eq!(kit.call("x/echo", HI).await.unwrap().info.server, server("y"));
    assert_eq!(farm.count("y", "call"), 1);
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_what_stands_in_is_in_the_audit_log_and_may_be_stood_in_for() {
    let farm = pair(&format!("{Y}[servers.y]\nfallback = 'z'\n"));
    farm.add("z", &[]);
    let store = Arc::new(MemoryStore::default());
    let kit = farm.open_with(OpenOptions { store: Some(store.clone()), ..farm.options(calm()) }).await;
    kit.stop(&server("x")).await.unwrap();
    kit.stop(&server("y")).await.unwrap();
    let result = kit.call("x/echo", HI).await.unwrap();
    assert_eq!(result.info.notes, ["z answered in place of x: is stopped; nor is y: is stopped"]);
    kit.stop(&server("z")).await.unwrap();
    let error = kit.call("x/echo", HI).await.unwrap_err();
    assert_eq!(error.message, "is stopped; nor is y: is stopped; nor is z: is stopped");
    farm.close(kit).await;
    let rows = store.page(&AuditQuery::newest(AuditScope::All, 10)).await.unwrap();
    assert_eq!(rows.len(), 2, "one row for each call");
    let row = &rows[1].row;
    let rule = row.rule.clone().unwrap();
    assert_eq!(row.server, Some(server("z")));
    assert!(
        rule.starts_with("in place of y, which is not available (") && rule.contains("kitbag.toml:4:"),
        "{rule}"
    );
}

#[tokio::test]
async fn s1_14_a_fallback_that_leads_nowhere_in_a_circle_or_to_somebody_else_is_a_fault() {
    let told =
        |setup: &Setup| -> Vec<String> { setup.fallbacks().faults.iter().map(ToString::to_string).collect() };
    let farm = Farm::new();
    for name in ["a", "b", "c", "d", "web", "own", "own2"] {
        farm.add(name, &[]);
    }
    farm.settings(
        "[servers.a]\nfallback = 'b'\n[servers.b]\nfallback = 'c'\n[servers.c]\nfallback = 'b'\n[servers.d]\n\
         fallback = 'd'\n[servers.web]\nfallback = 'wep'\n[servers.own]\nper_user = true\nfallback = 'web'\n\
         [servers.own2]\nper_user = true\nfallback = 'own'\n",
    );
    let setup = farm.setup();
    let faults = told(&setup);
    for (line, words) in [
        (4, "leads back to b"),
        (6, "leads back to c"),
        (8, "cannot be its own"),
        (10, "no server is called \"wep\""),
        (13, "shared by all users"),
    ] {
        let place = format!("kitbag.toml:{line}:");
        assert!(
            faults.iter().any(|fault| fault.contains(words) && fault.contains(&place)),
            "{words}: {faults:#?}"
        );
    }
    let hints: Vec<_> = setup.fallbacks().faults.into_iter().filter_map(|fault| fault.hint).collect();
    assert!(hints.contains(&"did you mean \"web\"?".to_owned()), "{hints:?}");
    let used = setup.fallbacks().by_server;
    let used: Vec<_> = used.iter().map(|(from, to)| format!("{from} {to}")).collect();
    assert_eq!((used, faults.len()), (vec!["a b".to_owned(), "own2 own".to_owned()], 5));
    let kit = farm.start(calm());
    assert!(kit.faults().iter().any(|fault| fault.message.contains("leads back to b")));
    farm.close(kit).await;
}

#[tokio::test]
async fn s1_14_a_fallback_never_leads_from_one_user_to_another() {
    let farm = pair(&format!("{Y}[users.ada]\n[users.bob]\n"));
    put_own(&farm, "bob", "y", farm.entry("of-bob", &[], &json!({})));
    // For her it is the shared one; his own would be called with what is everybody's.
    assert_eq!(setup_of(&farm, "ada").fallbacks().by_server.len(), 1);
    let bob = setup_of(&farm, "bob").fallbacks();
    assert!(
        bob.by_server.is_empty() && bob.faults[0].message.contains("each user's own"),
        "{:?}",
        bob.faults
    );
    let open = |who: &str| Kitbag::start(setup_of(&farm, who), farm.options(calm()));
    let (ada, bob) = (open("ada"), open("bob"));
    for (kit, wanted) in [(&ada, Ok(server("y"))), (&bob, Err(ErrorKind::Unavailable))] {
        kit.wait(Duration::from_secs(60)).await;
        kit.stop(&server("x")).await.unwrap();
        let done = kit.call("x/echo", HI).await;
        assert_eq!(done.map(|result| result.info.server).map_err(|error| error.kind), wanted);
    }
    assert_eq!((farm.count("y", "call"), farm.count("of-bob", "call")), (1, 0));
    ada.close().await;
    farm.close(bob).await;
}
